// Building the page, element by element. Nothing here, and nothing that uses it, turns a text into markup: children are text
// nodes or elements, attributes come from a short list, and links lead only into this page.

import { fragment } from "./visible.js";

const SVG = "http://www.w3.org/2000/svg";

const ATTRIBUTES = new Set([
  "id", "class", "type", "name", "value", "placeholder", "for", "role", "tabindex", "title", "href", "hidden", "disabled", "open",
  "autocomplete", "autocapitalize", "spellcheck", "maxlength", "rows", "scope", "colspan", "dir", "lang", "datetime", "inputmode",
  "enterkeyhint", "autofocus", "checked", "selected", "min", "max", "list", "translate",
  "viewBox", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "d", "fill", "stroke", "stroke-width",
  "stroke-linecap", "stroke-linejoin", "text-anchor", "preserveAspectRatio", "focusable", "stroke-dasharray", "stroke-dashoffset",
]);

/** An element: `h("p", { class: "x", onclick: f }, "text", child)`. Strings are shown as text with what could deceive spelt out. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Puts other children into an element. */
export function put(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (name === "href") {
      if (!String(value).startsWith("#")) throw new Error("a link leads out of the page");
      element.setAttribute(name, value);
    } else if (ATTRIBUTES.has(name) || /^(aria|data)-[a-z-]+$/.test(name)) {
      element.setAttribute(name, value === true ? "" : String(value));
    } else {
      throw new Error(`attribute ${name} is not used here`);
    }
  }
  append(element, children);
  return element;
}

function append(parent, children) {
  for (const child of children.flat(4)) {
    if (child === undefined || child === null || child === false) continue;
    parent.append(child instanceof Node ? child : fragment(String(child)));
  }
}

let counter = 0;

/** A name for `aria-labelledby` and its like that nothing else has. */
export function unique(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** A text for screen readers only. */
export function quiet(...children) {
  return h("span", { class: "quiet" }, ...children);
}

/** Says something to a screen reader. */
export function announce(text, now = false) {
  const place = document.getElementById(now ? "announce-now" : "announce-polite");
  place.replaceChildren();
  // A live region speaks when its content changes; an equal text twice needs the moment in between.
  setTimeout(() => put(place, text), 60);
}

/** Says something at the edge of the page for a few seconds. */
export function toast(text, tone = "plain") {
  const place = document.getElementById("toasts");
  const note = h("div", { class: `toast ${tone}` }, text);
  place.append(note);
  while (place.childElementCount > 3) place.firstElementChild.remove();
  setTimeout(() => note.remove(), tone === "bad" ? 9000 : 4500);
}
