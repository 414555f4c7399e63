// The journal: search with filters, page by page.

import { h, put } from "./dom.js";
import { heading, failure, loading, empty, field, dot, moment, mover, code, command } from "./pieces.js";
import { brief } from "./visible.js";
import { icon } from "./icons.js";
import { get, query } from "./api.js";
import { titleOf, sentence, toneOf, whatOf, principalOf } from "./records.js";

const PAGE = 100;
const MOST = 2000;

export function journalView(root, parameters) {
  const search = h("input", { type: "search", name: "q", value: parameters.q ?? "", placeholder: "a word of a command, a path, a reason …", autocomplete: "off", spellcheck: "false", enterkeyhint: "search" });
  const tool = h("input", { type: "text", name: "tool", value: parameters.tool ?? "", autocomplete: "off", spellcheck: "false", placeholder: "any" });
  const session = h("input", { type: "text", name: "session", value: parameters.session ?? "", autocomplete: "off", spellcheck: "false", placeholder: "any" });
  const choose = (name, chosen, options) => h("select", { name }, options.map(([value, words]) => h("option", { value, selected: value === (chosen ?? "") }, words)));
  const decision = choose("decision", parameters.decision, [["", "any"], ["allow", "allowed"], ["ask", "asked"], ["deny", "denied"]]);
  const since = choose("since", parameters.since, [["", "ever"], ["1h", "the last hour"], ["24h", "the last day"], ["7d", "the last week"], ["30d", "the last month"]]);
  const form = h("form", { class: "filters", role: "search", "aria-label": "Search the journal", onsubmit: (event) => { event.preventDefault(); go(); } },
    h("div", { class: "search-box" }, icon("search"), field("Search", search)),
    field("Decision", decision), field("Since", since), field("Tool", tool), field("Session", session),
    h("button", { class: "button primary", type: "submit" }, "Search"));
  decision.addEventListener("change", () => go());
  since.addEventListener("change", () => go());
  const list = h("ol", { class: "rows journal-rows" });
  const end = h("div", { class: "list-end" });
  const said = h("p", { class: "sub", role: "status" });
  put(root, heading("Journal", "What happened, signed and chained. Nothing here can be edited unnoticed."), form, said, list, end);

  let gone = false;
  let shown = 0;
  let turn = 0;

  const wanted = () => ({ q: search.value.trim(), tool: tool.value.trim(), session: session.value.trim(), decision: decision.value, since: since.value, call: parameters.call });

  function go() {
    const { call, ...rest } = wanted();
    history.replaceState(null, "", query("#/journal", rest));
    parameters.call = undefined;
    list.replaceChildren();
    shown = 0;
    load(null);
  }

  async function load(before) {
    turn += 1;
    const mine = turn;
    put(end, loading());
    try {
      const page = await get(query("/v1/journal", { ...wanted(), limit: PAGE, before }));
      if (gone || mine !== turn) return;
      const records = Array.isArray(page.records) ? page.records : [];
      shown += records.length;
      for (const record of records) list.append(row(record));
      const filtered = Object.values(wanted()).some(Boolean);
      put(said, shown ? `${shown.toLocaleString("en")} record${shown === 1 ? "" : "s"}, the latest first` : "");
      if (!shown) put(end, filtered ? empty("search", "Nothing matches", "Take a filter away, or search for a shorter word.") : empty("journal", "The journal is empty", ["Every call that is run or refused is written here before anything starts. To see one: ", code("bailiwick exec -- ls")]));
      else if (page.next_before !== null && page.next_before !== undefined && shown < MOST) put(end, h("button", { class: "button", type: "button", onclick: () => load(page.next_before) }, "Older records", icon("down")));
      else put(end, h("p", { class: "hint" }, shown >= MOST ? "These are many. Narrow the search to see older ones." : "That is all."));
    } catch (error) {
      if (!gone && mine === turn) put(end, failure(error, () => load(before)));
    }
  }

  load(null);
  const step = mover(list);
  return {
    title: "Journal",
    search: () => { search.focus(); search.select(); },
    keys: { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1) },
    destroy() { gone = true; },
  };
}

function row(record) {
  const payload = record.payload ?? {};
  const what = payload.request ? whatOf(payload.tool, payload.request, payload.command) : "";
  const inside = [
    dot(toneOf(record)),
    h("span", { class: "row-number" }, brief(record.seq, 12)),
    h("span", { class: "row-what" }, h("span", { class: "row-title" }, titleOf(record.type)), h("span", { class: "row-text" }, what ? command(what, 200) : null, h("span", { class: "row-note" }, brief(sentence(record), 260)))),
    h("span", { class: "row-who" }, brief(principalOf(record), 32)),
    h("span", { class: "row-at" }, moment(record.timestamp)),
  ];
  return h("li", { class: "row", "data-item": true }, record.call_id
    ? h("a", { class: "row-link", href: `#/call/${encodeURIComponent(record.call_id)}` }, inside)
    : h("div", { class: "row-link", tabindex: "0" }, inside));
}
