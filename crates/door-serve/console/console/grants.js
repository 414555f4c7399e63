// What was approved for now, and taking it back.

import { h, put, toast } from "./dom.js";
import { heading, failure, loading, empty, chip, mover } from "./pieces.js";
import { brief, plain } from "./visible.js";
import { get, request } from "./api.js";
import { ago, exactly, span } from "./times.js";
import { on } from "./store.js";
import { table } from "./table.js";

const KINDS = table({
  session: ["allow", "for the session"],
  once: ["run", "once"],
  typing: ["run", "typing"],
  auto: ["ask", "automatic"],
  waiting: ["plain", "waits"],
});

export function grantsView(root) {
  const body = h("div", {}, loading());
  put(root, heading("Grants", "What may pass without another question. Taking one back counts from the next call on."), body);
  let gone = false;

  async function load() {
    try {
      const { grants } = await get("/v1/grants");
      if (gone) return;
      show(Array.isArray(grants) ? grants : []);
    } catch (error) {
      if (!gone) put(body, failure(error, load));
    }
  }

  function show(grants) {
    if (!grants.length) {
      put(body, empty("grants", "No grants hold", "Approve a call “for the session” and the same call passes without asking until it is taken back, its time is over, or the machine restarts."));
      return;
    }
    put(body, h("ul", { class: "grant-list" }, grants.slice(0, 500).map((grant) => {
      const [tone, word] = KINDS(grant.kind, ["plain", brief(grant.kind, 30)]);
      const button = h("button", { class: "button small ghost-danger", type: "button", "aria-label": plain(`Take back: ${brief(grant.what, 80)}`), onclick: () => revoke(grant, button) }, "Take back");
      return h("li", { class: "grant", "data-item": true, tabindex: "0", "data-grant": String(grant.id ?? "") },
        chip(tone, word),
        h("div", { class: "grant-what" }, h("span", { class: "mono" }, brief(grant.what ?? grant.tool, 400)),
          h("span", { class: "grant-line" },
            [grant.tool ? brief(grant.tool, 60) : "", grant.session ? `session ${brief(grant.session, 60)}` : "", grant.by ? `by ${brief(grant.by, 60)}` : ""].filter(Boolean).join(" · "),
            grant.since ? h("time", { datetime: String(grant.since), title: exactly(grant.since) }, ` · ${ago(grant.since)}`) : null)),
        h("span", { class: "grant-left" }, typeof grant.seconds_left === "number" ? `${span(grant.seconds_left)} left` : "until revoked"),
        button);
    })));
  }

  async function revoke(grant, button) {
    button.disabled = true;
    try {
      const { revoked } = await request("DELETE", `/v1/grants/${encodeURIComponent(grant.id)}`);
      toast(revoked ? "Taken back" : "It was gone already");
    } catch (error) {
      toast(error.message, "bad");
    }
    if (!gone) await load();
    root.querySelector("[data-item]")?.focus();
  }

  const off = on("records", (record) => { if (record?.type?.startsWith("grant_") || record?.type === "approval_decided") load(); });
  const timer = setInterval(load, 15000);
  load();
  const step = mover(body);
  return {
    title: "Grants",
    keys: { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), x: () => document.activeElement?.closest?.("[data-grant]")?.querySelector("button")?.click() },
    destroy() { gone = true; off(); clearInterval(timer); },
  };
}
