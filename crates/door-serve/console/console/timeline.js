// What happens now: one row a call, which changes as the call goes on.

import { h, put } from "./dom.js";
import { heading, empty, dot, moment, mover, code, command } from "./pieces.js";
import { brief } from "./visible.js";
import { icon } from "./icons.js";
import { lasted } from "./times.js";
import { status, how, OWN, sentence, titleOf, toneOf } from "./records.js";
import { rows, on, connection } from "./store.js";

/** A call as a row. */
export function callRow(call, small = false) {
  const { tone, word } = status(call);
  return h("li", { class: `row ${small ? "small" : ""}`, "data-item": true, "data-call": call.id },
    h("a", { class: "row-link", href: `#/call/${encodeURIComponent(call.id)}` },
      dot(tone),
      h("span", { class: "row-what" }, small ? null : h("span", { class: "row-tool" }, brief(call.tool, 40)), command(call.what || call.tool || "a call", small ? 90 : 220)),
      h("span", { class: `row-state ${tone}` }, word),
      small ? null : h("span", { class: "row-how" }, brief(how(call), 40)),
      small ? null : h("span", { class: "row-who" }, brief(call.principal, 32)),
      small ? null : h("span", { class: "row-time" }, lasted(call.end?.duration)),
      h("span", { class: "row-at" }, moment(call.at))));
}

/** A record that belongs to no call. */
export function recordRow(record) {
  const tone = toneOf(record);
  return h("li", { class: "row aside", "data-item": true },
    h("div", { class: "row-link", tabindex: "0" },
      dot(tone),
      h("span", { class: "row-what" }, h("span", { class: "row-title" }, titleOf(record.type)), h("span", { class: "row-note" }, brief(sentence(record), 200))),
      h("span", { class: "row-at" }, moment(record.timestamp))));
}

export function timelineView(root) {
  let own = false;
  let held = null;
  let began = false;
  const list = h("ol", { class: "rows" });
  const note = h("div", {});
  const fresh = h("button", { class: "fresh", type: "button", hidden: true, onclick: () => { held = null; scrollTo({ top: 0 }); show(); } });
  const box = h("input", { type: "checkbox", id: "own-records", onchange: () => { own = box.checked; show(); } });
  put(root, heading("Timeline", "Every call as it is judged, answered, run and ended.", h("label", { class: "switch", for: "own-records" }, box, "the journal’s own records")),
    fresh, h("div", { class: "row-head", "aria-hidden": "true" }, h("span", {}, "Call"), h("span", {}, "State"), h("span", {}, "How"), h("span", {}, "Who"), h("span", {}, "Took"), h("span", {}, "At")), note, list);

  const elements = new Map();
  const keyOf = (row) => row.call ?? row.record;

  function show() {
    const away = scrollY > 120;
    const wanted = rows.filter((row) => own || !row.record || !OWN.has(row.record.type));
    // Whoever reads further down is not pushed about: new rows wait until they come back up.
    if (away && held === null && elements.size) held = new Set(elements.keys());
    if (!away) held = null;
    const visible = held ? wanted.filter((row) => held.has(keyOf(row))) : wanted;
    const waiting = wanted.length - visible.length;
    fresh.hidden = waiting === 0;
    if (waiting) put(fresh, icon("up"), `${waiting} new`);

    const focused = document.activeElement?.closest?.("[data-item]");
    const keep = new Set(visible.map(keyOf));
    for (const [key, entry] of elements) {
      if (keep.has(key)) continue;
      entry.element.remove();
      elements.delete(key);
    }
    let before = list.firstChild;
    for (const row of visible) {
      const key = keyOf(row);
      const stamp = row.call ? row.call.seq : 0;
      let entry = elements.get(key);
      if (!entry || entry.stamp !== stamp) {
        const element = row.call ? callRow(row.call) : recordRow(row.record);
        if (entry) {
          const had = entry.element === focused;
          if (before === entry.element) before = element;
          entry.element.replaceWith(element);
          if (had) element.firstChild.focus({ preventScroll: true });
        } else {
          if (began) element.classList.add("new");
        }
        entry = { element, stamp };
        elements.set(key, entry);
      }
      if (entry.element === before) before = before.nextSibling;
      else list.insertBefore(entry.element, before);
    }
    began = true;
    put(note, wanted.length ? null : empty("timeline", connection.state === "live" ? "Nothing has happened yet" : "Nothing is known yet",
      ["As soon as an agent calls a tool, its call is here. To try it: ", code("bailiwick exec -- ls")]));
  }

  const step = mover(list);
  const back = () => { if (held && scrollY <= 120) show(); };
  addEventListener("scroll", back, { passive: true });
  let due = null;
  const off = [on("records", () => { due ??= requestAnimationFrame(() => { due = null; show(); }); }), on("connection", show)];
  show();
  return {
    title: "Timeline",
    keys: { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1) },
    destroy() { removeEventListener("scroll", back); if (due) cancelAnimationFrame(due); for (const stop of off) stop(); },
  };
}
