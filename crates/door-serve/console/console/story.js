// One call's whole story: its records in order, who, when, why.

import { h, put } from "./dom.js";
import { heading, failure, loading, empty, facts, code, block, effects, riskChip, chip, moment, copyButton, placeText } from "./pieces.js";
import { brief } from "./visible.js";
import { icon } from "./icons.js";
import { get } from "./api.js";
import { date, lasted } from "./times.js";
import { fold, newCall, status, sentence, titleOf, toneOf, placeOf } from "./records.js";
import { on } from "./store.js";
import { pretty } from "./card.js";

export function storyView(root, { id }) {
  const body = h("div", {}, loading());
  const back = h("button", { class: "button small", type: "button", onclick: () => history.back() }, icon("back"), "Back");
  put(root, heading("One call", null, back), body);
  let records = [];
  let gone = false;

  async function load() {
    try {
      const answer = await get(`/v1/journal/calls/${encodeURIComponent(id)}`);
      if (gone) return;
      records = Array.isArray(answer.records) ? answer.records : [];
      show();
    } catch (error) {
      if (!gone) put(body, error.status === 404 ? empty("journal", "There is no such call", "The journal has no record of it. It may have been of another machine, or the name was cut.") : failure(error, load));
    }
  }

  function show() {
    const opened = new Set([...body.querySelectorAll("details[open]")].map((item) => item.dataset.seq));
    if (!records.length) {
      put(body, empty("journal", "There is no such call", "The journal has no record of it."));
      return;
    }
    const call = records.reduce(fold, newCall(id));
    const asked = records.find((record) => record.type === "tool_call_requested")?.payload ?? {};
    const { tone, word } = status(call);
    const place = placeOf(call.rule);
    const request = asked.request && typeof asked.request === "object" ? asked.request : {};
    const first = date(records[0].timestamp);
    put(body,
      h("section", { class: "story-head", "aria-label": "Summary" },
        h("div", { class: "story-state" }, chip(tone, word), call.risk ? riskChip(call.risk) : null, h("span", { class: "dim" }, call.end ? `took ${lasted(call.end.duration) || "no time"}` : "")),
        h("div", { class: "command-box" }, block(call.what || call.tool, "What was called", "command unfolded"), copyButton(call.what, "Copy the command")),
        call.reason ? h("p", { class: "story-why" }, brief(call.reason, 2000)) : null,
        h("div", { class: "story-facts" },
          facts([
            ["Tool", code(brief(call.tool, 100))],
            ["Who", brief(call.principal, 200)],
            ["Session", h("a", { class: "mono", href: `#/journal?session=${encodeURIComponent(call.session)}` }, brief(call.session, 200))],
            ["When", moment(call.at)],
            ["Rule", call.rule ? h("span", {}, code(brief(call.rule.id, 300)), place ? placeText(place) : null) : null],
            ["Directory", typeof (request.cwd ?? request.workdir) === "string" ? code(brief(request.cwd ?? request.workdir, 300)) : null],
            ["Program", typeof request.program === "string" ? code(brief(request.program, 300)) : null],
            ["Approval key", asked.approval_key ? code(brief(asked.approval_key, 100)) : null],
            ["Call", code(brief(id, 100))],
          ]),
          Array.isArray(asked.effects) && asked.effects.length ? h("section", { class: "does" }, h("h2", {}, "It would"), effects(asked.effects)) : null),
        Array.isArray(asked.trace) && asked.trace.length ? h("section", {}, h("h2", {}, "How the policy came to it"), h("ol", { class: "lines" }, asked.trace.slice(0, 100).map((line) => h("li", {}, brief(line, 500))))) : null),
      h("h2", { class: "story-title" }, "What happened, in order"),
      h("ol", { class: "story" }, records.map((record) => {
        const now = date(record.timestamp);
        return h("li", { class: `step ${toneOf(record)}`, "data-item": true },
          h("div", { class: "step-head" }, h("h3", {}, titleOf(record.type)),
            h("span", { class: "step-at" }, moment(record.timestamp), now && first ? h("span", { class: "dim" }, ` +${lasted(now - first) || "0 ms"}`) : null)),
          sentence(record) ? h("p", {}, brief(sentence(record), 1500)) : null,
          h("details", { class: "raw", "data-seq": String(record.seq), open: opened.has(String(record.seq)) },
            h("summary", {}, `Record ${brief(record.seq, 20)}`), block(brief(pretty(record), 40000), `Record ${brief(record.seq, 20)} as it is written`, "code small")));
      })),
      call.end ? null : h("p", { class: "hint" }, "It has not ended yet. This page goes on by itself."));
  }

  const off = on("records", (record) => {
    if (record?.call_id !== id || records.some((known) => known.seq === record.seq)) return;
    records.push(record);
    show();
  });
  load();
  return {
    title: `Call ${String(id).slice(0, 8)}`,
    keys: { j: () => scrollBy({ top: 80 }), k: () => scrollBy({ top: -80 }), Backspace: () => history.back(), Escape: () => history.back() },
    destroy() { gone = true; off(); },
  };
}

