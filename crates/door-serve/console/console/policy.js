// The policy that holds, and where each line of it came from.

import { h, put } from "./dom.js";
import { heading, failure, loading, empty, chip, code, field, placeText } from "./pieces.js";
import { brief } from "./visible.js";
import { icon } from "./icons.js";
import { get } from "./api.js";
import { placeOf } from "./records.js";
import { table } from "./table.js";

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export function policyView(root) {
  const search = h("input", { type: "search", placeholder: "a key, a rule, a file …", autocomplete: "off", spellcheck: "false", oninput: () => show() });
  const body = h("div", {}, loading());
  put(root, heading("Policy", "What holds on this machine, and the file and line that says so."), h("div", { class: "filters" }, h("div", { class: "search-box" }, icon("search"), field("Filter", search))), body);
  let policy = null;
  let gone = false;

  async function load() {
    try {
      policy = await get("/v1/policy");
      if (!gone) show();
    } catch (error) {
      if (!gone) put(body, failure(error, load));
    }
  }

  function show() {
    if (!policy) return;
    const word = search.value.trim().toLowerCase();
    const has = (item) => !word || JSON.stringify(item).toLowerCase().includes(word);
    const layers = Array.isArray(policy.layers) ? policy.layers : [];
    const rules = (Array.isArray(policy.rules) ? policy.rules : []).filter(has);
    const settings = (Array.isArray(policy.settings) ? policy.settings : []).filter(has);
    const groups = new Map();
    for (const setting of settings) {
      const parts = String(setting.key ?? "").split(".");
      const group = parts.length > 2 ? parts.slice(0, 2).join(".") : parts.length > 1 ? parts[0] : "general";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(setting);
    }
    put(body,
      h("section", { class: "panel" }, h("h2", {}, "Layers, the weakest first"),
        h("ol", { class: "layers" }, layers.map((layer) => h("li", {}, h("span", { class: "layer" }, h("b", {}, brief(layer.name, 80)), layer.file ? placeText(layer.file) : null)))),
        h("p", { class: "hint" }, "Profile ", code(brief(policy.profile, 60)), ". A file in the workspace may only tighten: the agent can write there. ", layers.some((layer) => layer.file) ? "To change something, edit one of these files; nothing is changed from here." : ["There is no file of your own yet: ", code("~/.config/bailiwick/config.yaml"), " would be one."])),
      h("section", { class: "panel" }, h("h2", {}, "Rules, in order", h("span", { class: "count" }, String(rules.length))),
        rules.length ? h("div", { class: "table-box" }, h("table", { class: "table rules" },
          h("thead", {}, h("tr", {}, ["Action", "Rule", "What it covers", "From"].map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, rules.slice(0, 1000).map((rule) => h("tr", {},
            h("td", {}, chip(tone(rule.action), brief(rule.action, 40))),
            h("th", { scope: "row" }, code(brief(rule.id, 200))),
            h("td", {}, h("span", { class: "mono" }, brief(text(rule.what ?? ""), 500)), rule.reason ? h("p", { class: "hint" }, brief(rule.reason, 400)) : null),
            h("td", {}, from(rule.from)))))))
          : h("p", { class: "hint" }, word ? "None matches the filter." : ["No rules of your own: the profile’s effects decide. “Always” on a question saves the first one, or write one into ", code("config.yaml"), "; ", code("bailiwick policy test"), " tries it."])),
      ...[...groups].map(([group, list]) => h("section", { class: "panel" }, h("h2", {}, h("span", { class: "mono" }, group)),
        h("dl", { class: "settings" }, list.slice(0, 500).map((setting) => h("div", {},
          h("dt", {}, String(setting.key ?? "").startsWith(`${group}.`) ? brief(String(setting.key).slice(group.length + 1), 120) : brief(setting.key, 120)),
          h("dd", {}, value(setting.value)),
          h("dd", { class: "origin" }, from(setting.from))))))),
      settings.length || rules.length ? null : empty("search", "Nothing matches", "Try a shorter word."));
  }

  load();
  return { title: "Policy", search: () => search.focus(), keys: {}, destroy() { gone = true; } };
}

const TONES = table({ allow: "allow", ask: "ask", require_approval: "ask", fenced: "run", deny: "deny" });
const tone = (action) => TONES(action, "plain");

function value(raw) {
  const shown = text(raw ?? "");
  return ["allow", "ask", "deny", "fenced"].includes(shown) ? chip(tone(shown), shown) : code(brief(shown, 400));
}

function from(origin) {
  if (!origin || typeof origin !== "object") return placeText(origin ?? "");
  const place = placeOf(origin);
  return placeText(place || origin.layer || "");
}
