// Figures: decisions over time, prompts saved, the commonest reasons.

import { h, put } from "./dom.js";
import { heading, failure, loading, empty, code } from "./pieces.js";
import { get, query } from "./api.js";
import { columns, bars, figures } from "./charts.js";
import { brief } from "./visible.js";

const RANGES = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]];

const number = (value) => (Number.isFinite(Number(value)) ? Number(value) : 0);
const top = (map, most = 8) => Object.entries(map && typeof map === "object" ? map : {}).filter(([, value]) => Number.isFinite(Number(value))).sort((a, b) => b[1] - a[1]).slice(0, most);

export function overviewView(root, parameters) {
  let range = RANGES.some(([key]) => key === parameters.since) ? parameters.since : "24h";
  const body = h("div", {}, loading());
  const buttons = RANGES.map(([key, words]) => h("button", { class: "segment", type: "button", "aria-pressed": String(key === range), onclick: () => choose(key) }, words));
  put(root, heading("Overview", "How much passes without you, and what does not.", h("div", { class: "segments", role: "group", "aria-label": "Time" }, buttons)), body);
  let gone = false;
  let turn = 0;

  function choose(key) {
    range = key;
    RANGES.forEach(([other], index) => buttons[index].setAttribute("aria-pressed", String(other === key)));
    history.replaceState(null, "", query("#/overview", { since: key }));
    load();
  }

  async function load() {
    turn += 1;
    const mine = turn;
    try {
      const stats = await get(query("/v1/stats", { since: range }));
      if (!gone && mine === turn) show(stats);
    } catch (error) {
      if (!gone && mine === turn) put(body, failure(error, load));
    }
  }

  function show(stats) {
    const series = Array.isArray(stats.series) ? stats.series : [];
    const sum = (key) => series.reduce((all, bucket) => all + number(bucket[key]), 0);
    const [allow, ask, deny] = [sum("allow"), sum("ask"), sum("deny")];
    const all = allow + ask + deny;
    const days = Object.values(stats.days && typeof stats.days === "object" ? stats.days : {});
    const approved = days.reduce((total, one) => total + number(one?.approved), 0);
    const prompts = days.reduce((total, one) => total + number(one?.prompts), 0);
    if (!all) {
      put(body, empty("overview", "No decisions in this time", ["Choose a longer time, or let an agent work: ", code("bailiwick init"), " puts the gate around the ones on this machine."]));
      return;
    }
    const share = (part) => (all ? `${Math.round((100 * part) / all)} %` : "–");
    const saved = number(stats.prompts_saved);
    const words = RANGES.find(([key]) => key === range)[1];
    put(body,
      h("dl", { class: "tiles" },
        tile("Calls", all, `in ${words}`),
        tile("Passed without a question", share(allow), `${allow.toLocaleString("en")} calls`, "allow"),
        tile("Prompts saved", saved, "calls that needed nobody", "run"),
        tile("Questions", prompts || ask, `${approved.toLocaleString("en")} approved`, "ask"),
        tile("Denied", deny, share(deny), "deny")),
      h("section", { class: "panel" }, h("h2", {}, "Decisions over time"), columns(series, `Decisions in the last ${words}: ${allow} allowed, ${ask} asked, ${deny} denied. The table below has the figures.`)),
      h("div", { class: "halves" },
        ranking("Commonest reasons to ask or deny", top(stats.reasons), "ask", false, "Nothing was asked or denied."),
        ranking("Rules that decided", top(stats.rules), "run", true, "No rule decided anything."),
        ranking("What an allow rule would have saved", top(stats.savings), "allow", true, "No question was answered with yes more than once."),
        ranking("How calls ended", top(stats.outcomes), "plain", false, "No call has ended.")));
  }

  load();
  const timer = setInterval(load, 30000);
  return { title: "Overview", keys: {}, destroy() { gone = true; clearInterval(timer); } };
}

const tile = (name, value, note, tone = "plain") => h("div", { class: `tile ${tone}` }, h("dt", {}, name), h("dd", {}, h("span", { class: "big" }, typeof value === "number" ? value.toLocaleString("en") : value), h("span", { class: "hint" }, note)));

const ranking = (title, pairs, tone, mono, none) => h("section", { class: "panel" }, h("h2", {}, title), pairs.length ? [bars(pairs, tone, mono), figures(["What", "How often"], pairs.map(([name, value]) => [brief(name, 300), String(value)]))] : h("p", { class: "hint" }, none));
