// One question: everything that whoever answers should see, and the ways to answer.

import { h, put, unique, announce, toast } from "./dom.js";
import { icon } from "./icons.js";
import { chip, riskChip, effects, facts, block, code, kbd, copyButton, moment, placeText } from "./pieces.js";
import { brief, plain } from "./visible.js";
import { countdown } from "./times.js";
import { placeOf, decisionWords } from "./records.js";
import { answer, callOf } from "./store.js";
import { alwaysDialog, denyDialog } from "./dialogs.js";
import { whole } from "./guard.js";
import { ring } from "./charts.js";

const YES = new Set(["approved", "approved_for_session", "approved_always"]);

export class Card {
  constructor(question, guard) {
    this.question = question;
    this.guard = guard;
    this.seen = false;
    const { asked } = question;
    const title = unique("question");
    this.level = String(asked.security_warning?.level ?? asked.risk?.level ?? "").toLowerCase();
    this.typed = typeof asked.requires_typed_confirmation === "string" ? asked.requires_typed_confirmation : null;
    this.choices = new Set(Array.isArray(asked.choices) ? asked.choices : ["approved", "denied"]);
    if (!asked.always) this.choices.delete("approved_always");

    this.time = h("span", { class: "left", role: "timer", "aria-live": "off" });
    this.ring = ring();
    this.command = block(asked.what ?? "", "The whole command", "command");
    this.command.addEventListener("scroll", () => this.look(), { passive: true });
    new ResizeObserver(() => this.look()).observe(this.command);
    this.rest = h("button", { class: "rest", type: "button", hidden: true, onclick: () => this.unfold() }, "");
    this.foot = h("div", { class: "card-foot" });
    this.note = h("div", { class: "card-note", role: "status" });

    this.element = h("article", {
      class: `card level-${["low", "medium", "high", "critical"].includes(this.level) ? this.level : "low"}`, tabindex: "0",
      "data-question": question.id, "data-item": true, "aria-labelledby": title,
    },
    h("header", { class: "card-top" },
      h("h2", { id: title }, h("span", { class: "tool" }, brief(asked.toolName ?? "a tool", 80)), h("span", { class: "quiet" }, " asks, ")),
      riskChip(asked.risk?.level ?? this.level),
      asked.waits === "elsewhere" ? chip("plain", "in another process") : null,
      h("span", { class: "who" }, brief(nameOf(asked.principal), 80), asked.session ? h("span", { class: "session" }, brief(asked.session, 48)) : null),
      h("span", { class: "timer", title: `waits until ${plain(String(asked.expires_at ?? ""))}` }, this.ring.element, this.time)),
    h("div", { class: "command-box" }, this.command, copyButton(String(asked.what ?? ""), "Copy the command"), this.rest),
    this.warning(),
    this.details(),
    this.typedField(),
    this.note,
    this.foot);
    this.buttons();
    this.tick();
  }

  get open() { return this.question.state === "open"; }

  warning() {
    const { security_warning: warning, reason } = this.question.asked;
    const critical = this.level === "critical";
    const words = warning?.message && warning.message !== reason ? [h("p", {}, brief(warning.message, 2000)), reason ? h("p", { class: "why" }, brief(reason, 2000)) : null] : [h("p", {}, brief(warning?.message ?? reason ?? "", 2000))];
    if (this.level === "low" || !this.level) return reason ? h("div", { class: "why-line" }, ...words) : null;
    return h("div", { class: `warning ${this.level}`, role: critical ? "alert" : "note" },
      icon("warn"), h("div", {}, h("strong", {}, this.level.toUpperCase()), ...words));
  }

  details() {
    const { asked } = this.question;
    const rule = asked.rule;
    const place = placeOf(rule);
    const factors = Array.isArray(asked.risk?.factors) ? asked.risk.factors : [];
    const args = asked.args && typeof asked.args === "object" ? asked.args : {};
    const where = args.cwd ?? args.workdir;
    const id = callOf(this.question);
    this.more = h("details", { class: "more" },
      h("summary", {}, "Everything that was asked"),
      facts([
        ["Asked", asked.asked_at ? moment(asked.asked_at) : null],
        ["Approval key", code(brief(asked.approval_key, 200))],
        ["Question", code(brief(asked.id, 200))],
        ["Session", code(brief(asked.session, 200))],
      ]),
      block(brief(pretty(asked.args), 20000), "The sanitized arguments", "code small"),
      id ? h("a", { class: "link", href: `#/call/${encodeURIComponent(id)}` }, "The call’s story", icon("chevron")) : null);
    return h("div", { class: "card-body" },
      Array.isArray(asked.effects) && asked.effects.length ? h("section", { class: "does" }, h("h3", {}, "It would"), effects(asked.effects)) : null,
      h("section", { class: "because" }, facts([
        ["Rule", rule ? h("span", {}, code(brief(rule.id, 300)), place ? placeText(place) : null) : h("span", { class: "dim" }, "no rule: what is not known is asked about")],
        ["Risk", factors.length ? factors.map((factor) => brief(factor, 300)).join(", ") : null],
        ["Directory", typeof where === "string" ? code(brief(where, 400)) : null],
        ["Waits", asked.waits === "elsewhere" ? "in another process of yours: a yes lets it go on, or counts for its next try" : null],
      ])),
      this.more);
  }

  typedField() {
    if (!this.typed) return null;
    this.input = h("input", {
      id: unique("typed"), class: "typed", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "60", placeholder: this.typed,
      oninput: () => this.buttons(),
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        this.approve("approved");
      },
    });
    this.typedBox = h("div", { class: "typed-box" }, h("label", { for: this.input.id }, "This cannot be undone. Type ", h("strong", {}, this.typed), " to be able to approve"), this.input);
    return this.typedBox;
  }

  /** Why a yes would not count now, if it would not. */
  obstacle() {
    if (!this.guard.ready(this.question.id)) return "The card has just moved: look again, then press.";
    if (!this.seen) return "The command goes on: read it to its end first (e).";
    if (this.typed && this.input.value !== this.typed) return `Type “${this.typed}” first.`;
    return null;
  }

  /** A yes, if it is one. */
  approve(decision) {
    if (!this.open) return;
    if (!this.choices.has(decision)) {
      toast(decision === "approved_always" ? "“Always” is not offered for a call like this" : "That answer is not offered for this call");
      return;
    }
    const why = this.obstacle();
    if (why) {
      if (this.typed && this.input.value !== this.typed) this.input.focus();
      else if (!this.seen) this.command.focus();
      this.say(why, "mild");
      return;
    }
    const more = this.typed ? { confirmation: this.input.value } : {};
    if (decision === "approved_always") alwaysDialog(this.question, () => answer(this.question, decision, more));
    else answer(this.question, decision, more);
  }

  deny(aborts = false) {
    if (!this.open) return;
    denyDialog(this.question, (decision, reason) => answer(this.question, decision, reason ? { reason } : {}), aborts);
  }

  say(text, tone) {
    put(this.note, h("p", { class: `note ${tone}` }, icon(tone === "bad" ? "warn" : "clock"), text));
  }

  unfold() {
    this.unfolded = !whole(this.command) || this.command.scrollTop > 0;
    this.command.classList.add("unfolded");
    this.look();
  }

  /** Whether the command has been there to its end. */
  look() {
    if (!this.element.isConnected || this.command.clientHeight === 0) return;
    const all = whole(this.command);
    if (all) this.seen = true;
    this.rest.hidden = all && this.command.scrollTop === 0 && !this.unfolded;
    const size = String(this.question.asked.what ?? "").length.toLocaleString("en");
    put(this.rest, all ? `The end. ${size} characters` : `It goes on: ${size} characters. Show all of it`, all ? null : icon("down"));
    this.rest.classList.toggle("end", all);
    this.buttons();
  }

  /** What is shown follows the question's state. */
  update() {
    const { state, outcome, problem } = this.question;
    this.element.classList.toggle("sending", state === "sending");
    this.element.classList.toggle("settled", state === "settled");
    if (problem) {
      put(this.note, h("div", { class: "note bad" }, icon("warn"), h("div", {},
        h("strong", {}, problem.status === 422 ? "This answer does not count; the question is still open." : "The answer did not get through; the question is still open."),
        h("p", {}, brief(problem.message, 600)), problem.help.map((line) => h("p", {}, brief(line, 400))))));
    }
    if (state === "settled") {
      put(this.note);
      if (this.typedBox) this.typedBox.hidden = true;
      put(this.foot, outcomeLine(outcome));
      this.element.setAttribute("aria-disabled", "true");
      return;
    }
    this.buttons();
  }

  buttons() {
    if (this.question.state === "settled") return;
    const ready = this.seen && (!this.typed || this.input?.value === this.typed);
    if (!this.controls) {
      const make = (decision, kind, key, words, act) => {
        const yes = YES.has(decision);
        const button = h("button", { class: `button ${kind}`, type: "button", "data-decision": decision, "aria-keyshortcuts": key, onclick: (event) => { event.stopPropagation(); act(); } }, words, kbd(key));
        return { button, yes };
      };
      this.controls = [
        this.choices.has("approved") ? make("approved", this.level === "critical" ? "danger" : "primary", "a", "Approve once", () => this.approve("approved")) : null,
        this.choices.has("approved_for_session") ? make("approved_for_session", "", "s", "For the session", () => this.approve("approved_for_session")) : null,
        this.choices.has("approved_always") ? make("approved_always", "", "w", "Always…", () => this.approve("approved_always")) : null,
      ].filter(Boolean);
      const no = [
        this.choices.has("abort") ? make("abort", "quiet-danger", "x", "Stop the run…", () => this.deny(true)) : null,
        this.choices.has("denied") ? make("denied", "ghost-danger", "d", "Deny…", () => this.deny()) : null,
      ].filter(Boolean);
      put(this.foot, ...this.controls.map(({ button }) => button), h("span", { class: "grow" }), ...no.map(({ button }) => button));
      this.controls.push(...no);
    }
    for (const { button, yes } of this.controls) {
      if (this.question.state === "sending" || (yes && !ready)) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }

  /** The countdown: from a clock that only goes forward, whatever the date does. */
  tick() {
    if (this.question.state === "settled") return;
    const left = this.question.deadline - performance.now();
    const text = left > 0 ? countdown(left) : "time is up";
    if (this.time.textContent !== text) put(this.time, text);
    this.ring.set(Math.max(0, Math.min(1, left / this.question.span)));
    this.element.classList.toggle("urgent", left < 15000);
    if (left < 15000 && left > 0 && !this.warned && this.open) {
      this.warned = true;
      announce(`15 seconds left to answer ${plain(brief(this.question.asked.what, 80))}`);
    }
  }
}

/** What came of a question, in words. */
export function outcomeLine(outcome) {
  const yes = String(outcome.decision).startsWith("approved");
  const tone = yes ? "allow" : outcome.decision ? "deny" : "plain";
  let words;
  if (outcome.reason === "timeout") words = "Nobody answered in time: denied";
  else if (outcome.reason === "gone" || !outcome.decision) words = "No longer waiting: whoever asked has gone";
  else if (outcome.mine) words = `You: ${decisionWords(outcome.decision)}`;
  else words = `${outcome.late ? "Settled before your answer" : "Settled elsewhere"}: ${decisionWords(outcome.decision)}${outcome.by ? ` by ${brief(outcome.by, 80)}` : ""}`;
  return h("div", { class: `outcome ${tone}`, "data-outcome": outcome.mine ? "won" : "elsewhere" }, icon(yes ? "check" : "cross"), h("span", {}, words), outcome.note ? h("span", { class: "dim" }, brief(outcome.note, 300)) : null);
}

export const nameOf = (principal) => (typeof principal === "string" ? principal : principal?.id ?? "somebody");

export function pretty(value) {
  try { return JSON.stringify(value ?? {}, null, 2); } catch { return "{}"; }
}
