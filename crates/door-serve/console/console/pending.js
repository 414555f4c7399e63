// The questions that wait for an answer.

import { h, put, announce, unique } from "./dom.js";
import { heading, empty, failure, loading, code } from "./pieces.js";
import { brief, plain } from "./visible.js";
import { Card, outcomeLine } from "./card.js";
import { InquiryCard } from "./inquiry.js";
import { Guard } from "./guard.js";
import { questions, inquiries, settled, rows, connection, on, dismiss, refresh, callOf, open } from "./store.js";
import { callRow } from "./timeline.js";

const MOST_CARDS = 60;
const LINGER = 5000;

export function pendingView(root) {
  const list = h("div", { class: "cards", role: "list" });
  const hint = h("div", {});
  const asked = h("div", { class: "cards inquiries", role: "list", hidden: true });
  const done = h("section", { class: "done", hidden: true });
  const rail = h("aside", { class: "rail", "aria-label": "Happening now" });
  put(root, heading("Pending", "Calls that wait for your word. Silence is a no."), h("div", { class: "pending" }, h("div", { class: "pending-main" }, hint, asked, list, done), rail));

  const agents = new Map();

  function showInquiries() {
    for (const [id, card] of agents) {
      if (inquiries.has(id)) continue;
      const focused = card.element.contains(document.activeElement);
      card.holder.remove();
      agents.delete(id);
      if (focused) root.querySelector("h1")?.focus();
    }
    for (const inquiry of inquiries.values()) {
      if (agents.has(inquiry.id) || agents.size >= MOST_CARDS) continue;
      const card = new InquiryCard(inquiry);
      card.holder = h("div", { role: "listitem" }, card.element);
      agents.set(inquiry.id, card);
      asked.append(card.holder);
    }
    asked.hidden = agents.size === 0;
    show();
  }

  const guard = new Guard(list);
  const cards = new Map();
  let hovering = false;
  list.addEventListener("pointerenter", () => { hovering = true; });
  list.addEventListener("pointerleave", () => { hovering = false; });

  function show() {
    for (const [id, card] of cards) {
      if (questions.has(id)) continue;
      card.holder.remove();
      cards.delete(id);
    }
    let shown = cards.size;
    for (const question of questions.values()) {
      const known = cards.get(question.id);
      if (known) {
        known.update();
      } else if (shown < MOST_CARDS) {
        shown += 1;
        const card = new Card(question, guard);
        card.holder = h("div", { role: "listitem" }, card.element);
        cards.set(question.id, card);
        list.append(card.holder);
        card.update();
        requestAnimationFrame(() => card.look());
      }
    }
    const waiting = open().length;
    if (connection.failure && !waiting) put(hint, failure(connection.failure, refresh));
    else if (!connection.listLoaded) put(hint, loading());
    else if (!questions.size && !inquiries.size) put(hint, nothing());
    else if (questions.size > cards.size) put(hint, h("p", { class: "sub" }, `${questions.size - cards.size} more wait below these. They come up as these are answered.`));
    else put(hint);
    guard.look();
  }

  function showDone() {
    done.hidden = settled.length === 0;
    if (!settled.length) return;
    const title = unique("done");
    put(done, h("h2", { id: title }, "Settled while this page was open"), h("ul", { class: "done-list", "aria-labelledby": title }, settled.map((question) => {
      const call = callOf(question);
      const what = h("span", { class: "what" }, brief(question.asked.what, 140));
      return h("li", {}, outcomeLine(question.outcome), call ? h("a", { class: "mono", href: `#/call/${encodeURIComponent(call)}` }, what) : what);
    })));
  }

  function showRail() {
    const latest = rows.filter((row) => row.call).slice(0, 14);
    put(rail, h("h2", {}, "Just now"), latest.length
      ? h("ul", { class: "mini" }, latest.map(({ call }) => callRow(call, true)))
      : h("p", { class: "hint" }, "Calls appear here as they are judged."));
  }

  const current = () => {
    const focused = document.activeElement?.closest?.("[data-question]");
    if (focused) return cards.get(focused.dataset.question);
    const waiting = [...cards.values()].filter((card) => card.question.state !== "settled");
    return waiting.length === 1 ? waiting[0] : null;
  };

  /** The card after this one gets the focus, and has to stand still before a yes counts. */
  function advance(from) {
    const all = [...cards.values()];
    const place = all.indexOf(from);
    const next = [...all.slice(place + 1), ...all.slice(0, Math.max(0, place))].find((card) => card.question.state === "open");
    if (!next) {
      root.querySelector("h1")?.focus();
      return;
    }
    guard.rearm(next.question.id);
    next.element.focus({ preventScroll: true });
    next.element.scrollIntoView({ block: "nearest" });
  }

  const act = (what) => () => {
    const card = current();
    if (!card) {
      move(1);
      return;
    }
    what(card);
  };

  function move(step) {
    const all = [...cards.values()].filter((card) => card.question.state !== "settled");
    if (!all.length) return;
    const now = all.findIndex((card) => card.element.contains(document.activeElement));
    const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, now + step))];
    next.element.focus({ preventScroll: true });
    next.element.scrollIntoView({ block: "nearest" });
  }

  const ticking = setInterval(() => {
    for (const card of cards.values()) card.tick();
    for (const card of agents.values()) card.tick();
    if (hovering && matchMedia("(hover: hover)").matches) return;
    const now = performance.now();
    let gone = false;
    for (const { question, element } of [...cards.values()]) {
      if (question.state !== "settled" || now - question.settledAt < LINGER || element.contains(document.activeElement)) continue;
      dismiss(question);
      gone = true;
    }
    if (gone) show();
  }, 250);

  const resized = () => { for (const card of cards.values()) card.look(); };
  addEventListener("resize", resized);

  const off = [
    on("approvals", ({ added }) => {
      show();
      if (added.length && document.activeElement === root.querySelector("h1") && cards.size === added.length) {
        // Nobody was busy with anything: the first question gets the focus.
        cards.get(added[0].id)?.element.focus({ preventScroll: true });
      }
    }),
    on("inquiries", showInquiries),
    on("settled", (question) => {
      const card = cards.get(question.id);
      card?.update();
      showDone();
      const { outcome } = question;
      if (outcome.mine) {
        if (card && (card.element.contains(document.activeElement) || document.activeElement === document.body)) advance(card);
      }
      announce(`${plain(brief(question.asked.what, 80))}: ${card?.foot.textContent ?? ""}`);
    }),
    on("records", showRail),
    on("connection", show),
  ];
  show();
  showInquiries();
  showDone();
  showRail();
  if (cards.size) queueMicrotask(() => [...cards.values()][0].element.focus({ preventScroll: true }));

  return {
    title: "Pending",
    keepsFocus: cards.size > 0,
    keys: {
      j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
      a: act((card) => card.approve("approved")),
      s: act((card) => card.approve("approved_for_session")),
      w: act((card) => card.approve("approved_always")),
      d: act((card) => card.deny()),
      x: act((card) => card.deny(true)),
      e: act((card) => card.unfold()),
      Enter: () => {
        const card = current();
        if (!card || document.activeElement !== card.element) return false;
        card.more.open = !card.more.open;
        return true;
      },
    },
    destroy() {
      clearInterval(ticking);
      removeEventListener("resize", resized);
      guard.stop();
      for (const stop of off) stop();
      for (const question of settled) dismiss(question);
    },
  };
}

function nothing() {
  const live = connection.state === "live";
  return empty("pending", live ? "Nothing waits for you" : "Nothing waits, as far as is known",
    live ? "When an agent wants something that the policy asks about, it appears here, and the agent waits." : "The server is not heard at the moment. This page tries again by itself.",
    ["Keep this page open: while it is, questions come here instead of being denied at once. To see one, run ", code("bailiwick call shell_command '{\"command\":\"git push --force\"}'"), " through this server, or let an agent work."]);
}

