// What an agent asks a person: the questions, what to choose from or where to write, and how long there is. The answer goes to
// the agent and is kept nowhere, here neither.

import { h, put, unique, announce, toast } from "./dom.js";
import { chip, facts, block } from "./pieces.js";
import { brief, plain } from "./visible.js";
import { countdown } from "./times.js";
import { Failure } from "./api.js";
import { reply } from "./store.js";

export class InquiryCard {
  constructor(inquiry) {
    this.inquiry = inquiry;
    this.sending = false;
    const { asked } = inquiry;
    const title = unique("inquiry");
    this.time = h("span", { class: "left", role: "timer", "aria-live": "off" });
    this.note = h("div", { class: "card-note", role: "status" });
    this.fields = (Array.isArray(asked.questions) ? asked.questions : []).map((item) => new Field(item, () => this.look(), () => this.send()));
    this.yes = h("button", { class: "button primary", type: "button", "data-inquiry-action": "answer", onclick: () => this.send() }, "Answer");
    this.no = h("button", { class: "button ghost-danger", type: "button", "data-inquiry-action": "decline", onclick: () => this.decline() }, "No answer");
    const context = asked.context && typeof asked.context === "object" ? Object.entries(asked.context).slice(0, 50) : [];
    this.element = h("article", { class: "card inquiry", tabindex: "0", "data-inquiry": inquiry.id, "aria-labelledby": title },
      h("header", { class: "card-top" },
        h("h2", { id: title }, h("span", { class: "tool" }, "An agent asks")),
        chip("plain", brief(asked.toolName ?? "", 60)),
        h("span", { class: "who" }, brief(asked.principal ?? "", 80), asked.session ? h("span", { class: "session" }, brief(asked.session, 48)) : null),
        h("span", { class: "timer", title: `waits until ${plain(String(asked.expires_at ?? ""))}` }, this.time)),
      this.fields.map((field) => field.element),
      context.length ? facts(context.map(([name, value]) => [brief(name, 80), block(brief(value, 4000), `Context: ${plain(brief(name, 80))}`, "code small")])) : null,
      h("p", { class: "hint" }, "The agent reads what you answer. Give it no secrets."),
      this.note,
      h("div", { class: "card-foot" }, this.yes, h("span", { class: "grow" }), this.no));
    this.look();
    this.tick();
  }

  look() {
    const ready = !this.sending && this.fields.every((field) => field.value() !== null);
    if (ready) this.yes.removeAttribute("aria-disabled");
    else this.yes.setAttribute("aria-disabled", "true");
  }

  tick() {
    const left = this.inquiry.deadline - performance.now();
    const text = left > 0 ? countdown(left) : "time is up";
    if (this.time.textContent !== text) put(this.time, text);
    this.element.classList.toggle("urgent", left < 15000);
  }

  async send() {
    if (this.yes.getAttribute("aria-disabled")) return;
    await this.say({ answers: Object.fromEntries(this.fields.map((field) => [field.id, field.value()])) }, "Answered");
  }

  decline() {
    return this.say({ declined: true }, "The agent is told that there is no answer");
  }

  async say(words, done) {
    if (this.sending) return;
    this.sending = true;
    this.look();
    put(this.note);
    try {
      await reply(this.inquiry, words);
      toast(done);
    } catch (error) {
      const known = error instanceof Failure ? error : new Failure(0, null);
      put(this.note, h("div", { class: "warning medium", role: "alert" }, h("div", {}, h("strong", {}, "The answer did not count."), h("p", {}, brief(known.message, 600)))));
      announce(`The answer did not count: ${plain(brief(known.message, 200))}`, true);
    }
    this.sending = false;
    this.look();
  }
}

/** One question of an inquiry. */
class Field {
  constructor(item, changed, send) {
    this.id = String(item?.id ?? "");
    const options = Array.isArray(item?.options) ? item.options.slice(0, 100) : [];
    const group = unique("choice");
    this.radios = options.map((_, at) => h("input", { type: "radio", name: group, id: unique("option"), value: String(at + 1), onchange: changed }));
    const words = options.length === 0 || item?.takes_words === true;
    this.input = words ? h("input", {
      id: unique("words"), class: "words", type: "text", autocomplete: "off", spellcheck: "true", maxlength: "60000",
      oninput: () => { if (this.input.value !== "") for (const radio of this.radios) radio.checked = false; changed(); },
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        send();
      },
    }) : null;
    this.element = h("fieldset", { class: "asked" },
      h("legend", {}, item?.header ? h("span", { class: "dim" }, `${brief(item.header, 120)}: `) : null, brief(item?.question ?? "", 8000)),
      options.map((option, at) => h("div", { class: "option" }, this.radios[at],
        h("label", { for: this.radios[at].id }, brief(option?.label ?? "", 2000), option?.description ? h("span", { class: "dim" }, ` ${brief(option.description, 2000)}`) : null))),
      this.input ? h("div", { class: "field" }, h("label", { for: this.input.id }, options.length ? "Or in your own words" : "Your answer"), this.input) : null);
  }

  /** The number of what was chosen, or what was written; null where there is no answer yet. */
  value() {
    const written = this.input?.value.trim() ?? "";
    if (written !== "") return written;
    const chosen = this.radios.find((radio) => radio.checked);
    return chosen ? Number(chosen.value) : null;
  }
}
