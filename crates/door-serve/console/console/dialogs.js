// Dialogs: the browser's own, which keep the focus inside and give it back.

import { h, unique } from "./dom.js";
import { icon } from "./icons.js";
import { block, code, kbd } from "./pieces.js";
import { brief, plain } from "./visible.js";

/** Opens a dialog; `close()` closes it. */
export function dialog(title, kind, build) {
  const id = unique("dialog");
  const before = document.activeElement;
  const box = h("dialog", { class: `dialog ${kind}`, "aria-labelledby": id });
  const close = () => { if (box.open) box.close(); };
  box.append(
    h("header", {}, h("h2", { id }, title), h("button", { class: "icon-button", type: "button", "aria-label": "Close", onclick: close }, icon("cross"))),
    ...build(close).filter(Boolean));
  box.addEventListener("close", () => {
    box.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  // A press outside of it closes it; one that began inside does not.
  box.addEventListener("pointerdown", (event) => { if (event.target === box) close(); });
  document.body.append(box);
  box.showModal();
  return close;
}

export const dialogOpen = () => document.querySelector("dialog[open]") !== null;

/** No, with a reason. `send(decision, reason)`. */
export function denyDialog(question, send, aborts = false) {
  const may = (choice) => !Array.isArray(question.asked.choices) || question.asked.choices.includes(choice);
  dialog(aborts ? "Deny, and stop the run" : "Deny", "deny", (close) => {
    const reason = h("input", {
      id: unique("reason"), type: "text", maxlength: "500", autocomplete: "off", enterkeyhint: "send", autofocus: true,
      placeholder: "e.g. push to a branch instead, without --force",
    });
    const answer = (decision) => { close(); send(decision, reason.value.trim()); };
    reason.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      answer(aborts ? "abort" : "denied");
    });
    return [
      block(brief(question.asked.what, 600), "What would run", "code small"),
      h("div", { class: "field" }, h("label", { for: reason.id }, "Reason, for the agent (not needed)"), reason),
      h("p", { class: "hint" }, "The agent is told the reason and can try something else. It should hold no secret: it is written to the journal."),
      h("footer", {},
        may("abort") ? h("button", { class: `button ${aborts ? "danger" : "ghost-danger"}`, type: "button", onclick: () => answer("abort") }, icon("stop"), "Deny and stop the run") : null,
        h("span", { class: "grow" }),
        h("button", { class: "button", type: "button", onclick: close }, "Cancel"),
        may("denied") ? h("button", { class: `button ${aborts ? "" : "danger"}`, type: "button", onclick: () => answer("denied") }, "Deny", aborts ? null : kbd("↵")) : null),
    ];
  });
}

/** Yes, always: what the rule is and what else it would allow is seen before it is saved. */
export function alwaysDialog(question, send) {
  const { rule, also_allows: also, from_history: past, file } = question.asked.always;
  const opened = performance.now();
  dialog("Always allow", "always", (close) => {
    const list = (title, items, none) => h("section", {},
      h("h3", {}, title),
      Array.isArray(items) && items.length
        ? h("ul", { class: "lines" }, items.slice(0, 100).map((item) => h("li", {}, code(typeof item === "string" ? brief(item, 800) : brief(item, 400)))),
          items.length > 100 ? h("li", { class: "more" }, `and ${items.length - 100} more`) : null)
        : h("p", { class: "hint" }, none));
    const text = block(rule ?? "", "The rule", "code rule");
    text.setAttribute("autofocus", "");
    const confirm = h("button", {
      class: "button primary", type: "button", "aria-disabled": "true",
      onclick: () => {
        if (confirm.getAttribute("aria-disabled") === "true" || performance.now() - opened < 400) return;
        close();
        send();
      },
    }, "Save the rule and approve");
    setTimeout(() => confirm.removeAttribute("aria-disabled"), 400);
    return [
      h("div", { class: "scroll" },
        h("p", {}, "This writes a rule. From then on nobody is asked about what it covers, in any session."),
        h("section", {}, h("h3", {}, "The rule"), text, file ? h("p", { class: "hint" }, "saved to ", code(plain(String(file)))) : null),
        list("What else it would allow", also, "None of the variants that were tried: only what has the same shape as this call."),
        list("Past questions that it would have answered", past, "None that the journal remembers."),
      ),
      h("footer", {}, h("p", { class: "hint grow" }, "Take it back by deleting the rule from that file."), h("button", { class: "button", type: "button", onclick: close }, "Cancel"), confirm),
    ];
  });
}

/** The keys. */
export function keysDialog(groups, singleKeys, setSingleKeys) {
  if (dialogOpen()) return;
  dialog("Keys", "keys", () => {
    const box = h("input", { type: "checkbox", id: unique("single"), checked: singleKeys, onchange: () => setSingleKeys(box.checked) });
    return [
      h("div", { class: "scroll key-groups" }, groups.map(([title, rows]) => h("section", {},
        h("h3", {}, title),
        h("dl", {}, rows.map(([keys, what]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, what))))))),
      h("footer", {}, h("label", { class: "switch", for: box.id }, box, "Single keys do things (switch off if your screen reader or dictation uses them)")),
    ];
  });
}

