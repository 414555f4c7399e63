// Small drawings, 16 × 16, in the colour of the text. They say nothing that words beside them do not say.

import { svg } from "./dom.js";

const SHAPES = {
  pending: "M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5l1.8-5.6h7.4l1.8 5.6v3.4h-11z",
  timeline: "M4 2.5v11M4 4.5h8.5M4 8h6M4 11.5h7.5",
  journal: "M4 2.5h7.5a1 1 0 0 1 1 1v10H5a1.5 1.5 0 0 1-1.5-1.5V3A.5.5 0 0 1 4 2.5zM6 5.5h4M6 8h4",
  overview: "M3 13V8.5M6.4 13V4M9.7 13V6.5M13 13V2.8",
  policy: "M8 2l5 1.8v3.7c0 3-2 5.3-5 6.5-3-1.2-5-3.5-5-6.5V3.8z",
  grants: "M9.6 6.4a2.9 2.9 0 1 0-2.4 2.9L8 10h1.4v1.4h1.4v1.5H13v-2.3L9.5 7.2M6 6h.01",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.8v1.3M8 12.9v1.3M1.8 8h1.3M12.9 8h1.3M3.6 3.6l.9.9M11.5 11.5l.9.9M12.4 3.6l-.9.9M4.5 11.5l-.9.9",
  moon: "M13 9.4A5.4 5.4 0 0 1 6.6 3a5.3 5.3 0 1 0 6.4 6.4z",
  auto: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  keys: "M2 4.5h12v7H2zM4.3 7h.01M6.8 7h.01M9.2 7h.01M11.7 7h.01M5 9.3h6",
  leave: "M6.5 3H3.5v10h3M7 8h6.5M11 5.5 13.5 8 11 10.5",
  check: "M3.5 8.5 6.5 11.5 12.5 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  stop: "M5.4 2.5h5.2l2.9 2.9v5.2l-2.9 2.9H5.4l-2.9-2.9V5.4z",
  warn: "M8 2.6 14 13H2zM8 6.6v3M8 11.3h.01",
  search: "M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 10l3.2 3.2",
  chevron: "M6 4l4 4-4 4",
  down: "M4 6l4 4 4-4",
  up: "M8 12.5v-9M4.5 7 8 3.5 11.5 7",
  back: "M10 4 6 8l4 4",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  clock: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2 1.3",
};

export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: SHAPES[name] ?? SHAPES.chevron, fill: "none", stroke: "currentColor", "stroke-width": "1.4", "stroke-linecap": "round", "stroke-linejoin": "round" }));
}

/** The mark: a gate with its portcullis. */
export function mark() {
  return svg("svg", { class: "mark", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: "M6 27V14a10 10 0 0 1 20 0v13", fill: "none", stroke: "currentColor", "stroke-width": "2.6", "stroke-linecap": "round" }),
    svg("path", { class: "bars", d: "M12 8V25M20 8V25M7.6 15h16.8M7.6 21h16.8", fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round" }));
}
