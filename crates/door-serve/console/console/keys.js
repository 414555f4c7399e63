// Keys: single letters do things, `g` and a letter go somewhere. Never while somebody types, and never twice for one press.

import { dialogOpen } from "./dialogs.js";

const KEPT = "bailiwick.single-keys";

export function singleKeys() {
  try { return localStorage.getItem(KEPT) !== "off"; } catch { return true; }
}

export function setSingleKeys(enabled) {
  try { localStorage.setItem(KEPT, enabled ? "on" : "off"); } catch { /* it holds until the page is closed */ }
}

const typing = (element) => element instanceof HTMLElement && (element.isContentEditable || ["TEXTAREA", "SELECT"].includes(element.tagName) || (element.tagName === "INPUT" && !["checkbox", "radio", "button"].includes(element.type)));

const MOVES = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

/** `places`: letter after `g` → where. `view()`: the view that is open. */
export function listen({ places, go, view, help }) {
  let leader = -Infinity;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialogOpen()) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!singleKeys() && event.key.length === 1) return;
    const now = performance.now();
    if (now - leader < 1200 && places[event.key]) {
      leader = -Infinity;
      event.preventDefault();
      go(places[event.key]);
      return;
    }
    leader = -Infinity;
    if (event.key === "g" && !event.repeat) {
      leader = now;
      return;
    }
    if (event.key === "?") {
      event.preventDefault();
      help();
      return;
    }
    const open = view();
    if (event.key === "/") {
      event.preventDefault();
      if (open?.search) open.search();
      else go("/journal", true);
      return;
    }
    const action = open?.keys?.[event.key];
    if (!action || (event.repeat && !MOVES.has(event.key))) return;
    // On a control, Enter and the arrows are the control's own.
    if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a,button,summary")) return;
    if (event.key.startsWith("Arrow") && event.target instanceof Element && event.target.closest("pre")) return;
    if (action(event) !== false) event.preventDefault();
  });
}

export const KEYS = [
  ["Answer", [["a", "approve once"], ["s", "approve for the session"], ["w", "always: see the rule first"], ["d", "deny, with a reason"], ["x", "deny and stop the run"], ["e", "show the whole command"], ["Enter", "everything that was asked"]]],
  ["Move", [["j k", "next, previous (arrows too)"], ["Enter", "open"], ["/", "search"], ["Esc", "leave a field, go back"], ["?", "these keys"]]],
  ["Go to", [["g p", "pending"], ["g t", "timeline"], ["g j", "journal"], ["g o", "overview"], ["g r", "policy and rules"], ["g g", "grants"]]],
];
