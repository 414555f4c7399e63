// Charts, drawn by hand. Each has its figures as a table beside it.

import { h, svg, put } from "./dom.js";
import { brief } from "./visible.js";

const ROUND = 2 * Math.PI * 6;

/** A ring that empties: `set(0 … 1)`. */
export function ring() {
  const arc = svg("circle", { class: "ring-arc", cx: "8", cy: "8", r: "6", fill: "none", "stroke-width": "2.2", "stroke-linecap": "round", "stroke-dasharray": ROUND.toFixed(2) });
  const element = svg("svg", { class: "ring", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    svg("circle", { class: "ring-ground", cx: "8", cy: "8", r: "6", fill: "none", "stroke-width": "2.2" }), arc);
  return { element, set: (share) => arc.setAttribute("stroke-dashoffset", (ROUND * (1 - share)).toFixed(2)) };
}

export const LAYERS = [["allow", "allowed"], ["ask", "asked"], ["deny", "denied"]];

const count = (value) => (Number.isFinite(Number(value)) ? Math.max(0, Number(value)) : 0);

/** Columns of allow, ask and deny over time. */
export function columns(series, label) {
  const width = 960;
  const height = 220;
  const left = 36;
  const bottom = 22;
  const buckets = series.slice(-96);
  const totals = buckets.map((bucket) => LAYERS.reduce((sum, [key]) => sum + count(bucket[key]), 0));
  const top = nice(Math.max(4, ...totals));
  const step = (width - left) / Math.max(1, buckets.length);
  const y = (value) => 8 + (height - bottom - 8) * (1 - value / top);
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const sum = (key) => buckets.reduce((all, bucket) => all + count(bucket[key]), 0);
  const standard = () => put(readout, LAYERS.map(([key, word]) => h("span", { class: `legend ${key}` }, h("b", {}, sum(key).toLocaleString("en")), ` ${word}`)));
  standard();

  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  const grid = [0, top / 2, top];
  for (const value of grid) {
    drawing.append(svg("line", { class: "grid", x1: left, x2: width, y1: y(value), y2: y(value) }));
  }
  buckets.forEach((bucket, index) => {
    const x = left + index * step + Math.min(2, step * 0.15);
    const wide = Math.max(1, step - Math.min(4, step * 0.3));
    const group = svg("g", { class: "column" });
    group.append(svg("rect", { class: "target", x: left + index * step, y: 0, width: step, height: height - bottom }));
    let base = 0;
    for (const [key] of LAYERS) {
      const value = count(bucket[key]);
      if (!value) continue;
      const high = Math.max(1.2, y(base) - y(base + value) - 1);
      group.append(svg("rect", { class: key, x, y: y(base) - high, width: wide, height: high, rx: Math.min(2, wide / 3) }));
      base += value;
    }
    group.addEventListener("pointerenter", () => put(readout, h("span", { class: "when" }, when(bucket.from, buckets)), LAYERS.map(([key, word]) => h("span", { class: `legend ${key}` }, h("b", {}, count(bucket[key]).toLocaleString("en")), ` ${word}`))));
    drawing.append(group);
  });
  drawing.addEventListener("pointerleave", standard);

  const scale = h("div", { class: "scale", "aria-hidden": "true" }, [...grid].reverse().map((value) => h("span", {}, String(value))));
  const marks = buckets.length ? [0, Math.floor(buckets.length / 3), Math.floor((2 * buckets.length) / 3), buckets.length - 1] : [];
  const axis = h("div", { class: "axis", "aria-hidden": "true" }, [...new Set(marks)].map((index) => h("span", {}, when(buckets[index].from, buckets))));
  return h("figure", { class: "figure" }, readout, h("div", { class: "plot" }, scale, drawing), axis, figures(
    ["From", "Allowed", "Asked", "Denied"],
    buckets.filter((_, index) => totals[index] > 0).map((bucket) => [when(bucket.from, buckets), ...LAYERS.map(([key]) => String(count(bucket[key])))]),
  ));
}

function when(text, buckets) {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return "";
  const first = new Date(buckets[0]?.from);
  const long = moment.getTime() - first.getTime() > 0 && new Date(buckets.at(-1)?.from) - first > 36 * 3600 * 1000;
  return new Intl.DateTimeFormat(undefined, long ? { day: "numeric", month: "short", hour: "2-digit", hour12: false } : { hour: "2-digit", minute: "2-digit", hour12: false }).format(moment);
}

function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}

/** Bars with their names, the longest first. */
export function bars(pairs, tone, mono) {
  const most = Math.max(1, ...pairs.map(([, value]) => count(value)));
  return h("ol", { class: "bars" }, pairs.map(([name, value]) => {
    const drawing = svg("svg", { class: "track", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
      svg("rect", { class: "ground", x: 0, y: 0, width: 100, height: 4 }), svg("rect", { class: tone, x: 0, y: 0, width: Math.max(0.8, (100 * count(value)) / most).toFixed(2), height: 4 }));
    return h("li", {}, h("span", { class: mono ? "name mono" : "name" }, brief(name, 220)), h("span", { class: "value" }, count(value).toLocaleString("en")), drawing);
  }));
}

/** The same figures as a table. */
export function figures(head, body) {
  return h("details", { class: "figures" }, h("summary", {}, "As a table"), h("div", { class: "table-box" },
    h("table", { class: "table" }, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, body.length ? body.map((row) => h("tr", {}, row.map((cell, index) => h(index ? "td" : "th", index ? {} : { scope: "row" }, cell)))) : h("tr", {}, h("td", { colspan: head.length }, "No decisions in this time."))))));
}
