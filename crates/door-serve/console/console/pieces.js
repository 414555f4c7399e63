// Parts that several views are made of.

import { h, unique, put, quiet, toast } from "./dom.js";
import { fragment, brief, keepWords } from "./visible.js";
import { icon } from "./icons.js";
import { at, exactly } from "./times.js";
import { Failure } from "./api.js";
import { table } from "./table.js";

/** A word in a small frame. */
export const chip = (tone, ...children) => h("span", { class: `chip ${tone}` }, ...children);

/** A coloured dot; the word beside it says the same. */
export const dot = (tone) => h("span", { class: `dot ${tone}`, "aria-hidden": "true" });

export const kbd = (key) => h("kbd", { "aria-hidden": "true" }, key);

export const moment = (text) => h("time", { datetime: String(text ?? ""), title: exactly(text) }, at(text));

/** The title of a view; it takes the focus when the view opens. */
export function heading(title, sub, ...actions) {
  return h("header", { class: "view-head" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), sub ? h("p", { class: "sub" }, sub) : null),
    actions.length ? h("div", { class: "view-actions" }, ...actions) : null);
}

/** Text in a block: line ends stay, everything else that could deceive is spelt out. */
export function block(text, label, kind = "code") {
  const box = h("pre", { class: kind, tabindex: "0", role: "region", "aria-label": label, dir: "ltr", translate: "no" });
  box.append(fragment(String(text), true));
  return keepWords(box);
}

/** A command in a row. */
export const command = (text, most) => keepWords(h("span", { class: "row-command", translate: "no" }, brief(text, most)));

/** One line of code inside a sentence. */
export const code = (text) => h("code", { translate: "no" }, text);

/** A file and a line. It wraps behind a slash rather than inside of a name. */
export const placeText = (place) => h("span", { class: "place" }, brief(place, 400).split(/(?<=\/)/).slice(0, 100).flatMap((part) => [part, document.createElement("wbr")]));

/** A place with nothing in it, and what to do about that. */
export function empty(name, title, ...lines) {
  return h("div", { class: "empty" }, h("div", { class: "empty-mark" }, icon(name)), h("h2", {}, title), ...lines.map((line) => h("p", {}, ...(Array.isArray(line) ? line : [line]))));
}

/** An error: what went wrong, what helps, and a way to try again. */
export function failure(error, again) {
  const known = error instanceof Failure ? error : new Failure(0, null);
  return h("div", { class: "failure", role: "alert" },
    h("div", { class: "failure-line" }, icon("warn"), h("strong", {}, known.message)),
    known.help.length ? h("ul", {}, known.help.map((line) => h("li", {}, brief(line, 600)))) : null,
    again ? h("button", { class: "button small", type: "button", onclick: again }, "Try again") : null);
}

export const loading = () => h("div", { class: "loading", role: "status" }, h("span", { class: "bar" }), h("span", { class: "bar" }), h("span", { class: "bar" }), quiet("Loading"));

/** Facts with their names. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

const GRAVE = new Set(["history", "privilege", "system", "exfiltrate", "credentials"]);
const MIND = new Set(["connect", "delete", "write", "code", "environment", "unknown", "run"]);

/** `history(overwrites what the remote has)` → a verb and what it is done to. */
export function effect(item) {
  const text = typeof item === "string" ? item : String(item?.effect ?? JSON.stringify(item));
  const parts = /^([a-z_]+)\(([\s\S]*)\)$/.exec(text);
  const verb = parts ? parts[1] : "";
  const tone = GRAVE.has(verb) ? "deny" : MIND.has(verb) ? "ask" : "plain";
  return h("li", { class: "effect" }, verb ? h("span", { class: `verb ${tone}` }, verb) : null, h("span", { class: "object" }, brief(parts ? parts[2] : text, 1200)));
}

export const effects = (list) => h("ul", { class: "effects" }, (Array.isArray(list) ? list : []).slice(0, 200).map(effect));

const LEVELS = table({ low: "plain", medium: "ask", high: "high", critical: "critical" });

/** A risk level, or a warning's. */
export function riskChip(level) {
  const word = String(level ?? "").toLowerCase();
  const tone = LEVELS(word, "plain");
  return chip(`risk ${tone}`, `${brief(word, 24) || "unknown"} risk`);
}

/** Something to press that copies a text. */
export function copyButton(text, label) {
  return h("button", {
    class: "icon-button", type: "button", "aria-label": label, title: label,
    onclick: async (event) => {
      event.stopPropagation();
      try {
        await navigator.clipboard.writeText(text);
        toast("Copied");
      } catch {
        toast("The browser did not let this page copy", "bad");
      }
    },
  }, icon("copy"));
}

/** A label and its field. */
export function field(label, input) {
  input.id ||= unique("field");
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input);
}

/** Moves a selection through a list of elements by key. */
export function mover(list) {
  const items = () => [...list.querySelectorAll("[data-item]")];
  return (step) => {
    const all = items();
    if (!all.length) return;
    const now = all.findIndex((item) => item.contains(document.activeElement));
    const next = all[Math.max(0, Math.min(all.length - 1, now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step))];
    (next.matches("a,button,[tabindex]") ? next : next.querySelector("a,button"))?.focus();
    next.scrollIntoView({ block: "nearest" });
  };
}

export { put };
