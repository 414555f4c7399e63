// What the page knows: the open questions, the latest calls, whether it hears the server. Views read it and are told of changes.

import { get, request, query, Failure, onRefused } from "./api.js";
import { openStream } from "./stream.js";
import { fold, newCall, OF_A_CALL } from "./records.js";

const MOST_ROWS = 300;
const MOST_SETTLED = 20;
const AGAIN = 10000;

const told = new EventTarget();

/** Calls `listener` at every change of `topic`: approvals, inquiries, settled, records, connection. Returns how to stop. */
export function on(topic, listener) {
  const wrapped = (event) => listener(event.detail);
  told.addEventListener(topic, wrapped);
  return () => told.removeEventListener(topic, wrapped);
}

const tell = (topic, detail) => told.dispatchEvent(new CustomEvent(topic, { detail }));

/** Questions in the order in which they were first seen: a new one is put at the end, so that none moves. */
export const questions = new Map();
/** What agents ask a person, in the order in which it came. */
export const inquiries = new Map();
/** Questions that were settled while this tab was open, the latest first. */
export const settled = [];
/** Rows of the timeline, the latest first: `{ call }` or `{ record }`. */
export const rows = [];
export const calls = new Map();
/** Which call a question belongs to. */
const callOfQuestion = new Map();
/** How a question ended, as the journal has it. */
const ends = new Map();

export const connection = { state: "connecting", until: 0, since: performance.now(), listLoaded: false, failure: null };

let stream = null;
/** Two alarms: one for news, one for the next look without any. */
let timer = null;
let again = null;
let running = false;

/** Starts to listen. Ends with `stop()`. */
export function start(refused) {
  stop();
  running = true;
  onRefused(refused);
  stream = openStream({
    // The number that the stream goes on from is read first: what happens meanwhile is then in the stream.
    begin: async (signal) => {
      const page = await get(query("/v1/journal", { limit: 200 }), signal);
      const records = Array.isArray(page.records) ? [...page.records].reverse() : [];
      for (const record of records) take(record);
      tell("records", null);
      return records.reduce((most, record) => Math.max(most, Number(record.seq) || 0), 0);
    },
    record: (record) => {
      take(record);
      tell("records", record);
      if (record.type === "approval_requested" || record.type === "approval_decided") soon();
    },
    inquiry: (type, asked) => {
      if (typeof asked?.id !== "string") return;
      if (type === "inquiry_closed") close(asked.id);
      else hear(asked);
    },
    state: (state, pause) => {
      const before = connection.state;
      // A stream that begins tells anew of all that waits.
      if (state !== "live" && inquiries.size) {
        inquiries.clear();
        tell("inquiries", { added: [] });
      }
      connection.state = state;
      connection.until = performance.now() + pause;
      if (state === "live" && before !== "live") refresh();
      tell("connection", null);
    },
    refused,
  });
  refresh();
}

export function stop() {
  running = false;
  stream?.stop();
  stream = null;
  clearTimeout(timer);
  clearTimeout(again);
  questions.clear();
  inquiries.clear();
  settled.length = 0;
  rows.length = 0;
  calls.clear();
  connection.listLoaded = false;
}

export const hurry = () => stream?.hurry();

/** Which call a question belongs to, where it is known. */
export const callOf = (question) => question.call_id ?? callOfQuestion.get(question.id) ?? null;

function take(record) {
  if (!record || typeof record !== "object") return;
  const id = record.payload?.confirmation_id;
  if (id && record.call_id) bounded(callOfQuestion, id, record.call_id);
  if (record.type === "approval_decided" && id) {
    const payload = record.payload;
    bounded(ends, id, { decision: payload.decision, by: payload.by, reason: payload.reason, note: payload.note });
    const question = questions.get(id);
    if (question?.state === "open") settle(question, { ...ends.get(id), mine: false });
  }
  if (record.call_id && OF_A_CALL.has(record.type)) {
    let call = calls.get(record.call_id);
    if (!call) {
      call = newCall(record.call_id);
      calls.set(call.id, call);
      rows.unshift({ call });
    }
    fold(call, record);
  } else {
    rows.unshift({ record });
  }
  while (rows.length > MOST_ROWS) {
    const gone = rows.pop();
    if (gone.call) calls.delete(gone.call.id);
  }
}

function bounded(map, key, value) {
  map.set(key, value);
  if (map.size > 2000) map.delete(map.keys().next().value);
}

/** The list is read again, a moment later: several events give one request. */
function soon(wait = 40) {
  clearTimeout(timer);
  timer = setTimeout(refresh, wait);
}

let reading = false;
let wanted = false;

/** Reads the open questions. */
export async function refresh() {
  if (!running) return;
  if (reading) {
    wanted = true;
    return;
  }
  reading = true;
  clearTimeout(again);
  try {
    const answer = await get("/v1/approvals");
    connection.listLoaded = true;
    connection.failure = null;
    merge(Array.isArray(answer.approvals) ? answer.approvals : []);
  } catch (error) {
    connection.failure = error instanceof Failure ? error : null;
    tell("approvals", { added: [] });
  }
  reading = false;
  if (!running) return;
  if (wanted) {
    wanted = false;
    soon();
  }
  // When the next question's time is over, and after a while in any case.
  const now = performance.now();
  const next = Math.min(...open().map((question) => question.deadline - now + 400).filter((left) => left > 0), AGAIN);
  again = setTimeout(refresh, next);
}

function merge(list) {
  const now = performance.now();
  const there = new Set();
  const added = [];
  for (const asked of list) {
    if (!asked || typeof asked.id !== "string") continue;
    there.add(asked.id);
    const deadline = now + Math.max(0, Number(asked.seconds_left) || 0) * 1000;
    const known = questions.get(asked.id);
    if (!known) {
      const question = { id: asked.id, asked, state: "open", since: now, deadline, span: Math.max(1000, deadline - now), outcome: null, problem: null };
      questions.set(asked.id, question);
      added.push(question);
    } else {
      // The server's own clock counts. Less than the rounding of its figure is no news, and would make the display tremble.
      if (Math.abs(known.deadline - deadline) > 1500) known.deadline = deadline;
    }
  }
  for (const question of questions.values()) {
    if (question.state !== "open" || there.has(question.id)) continue;
    const end = ends.get(question.id);
    if (end) settle(question, { ...end, mine: false });
    else if (question.missing) settle(question, question.deadline <= now + 1000 ? { decision: "denied", by: "the time limit", reason: "timeout", mine: false } : { decision: "", by: "", reason: "gone", mine: false });
    else {
      // Its end may still be under way in the stream.
      question.missing = true;
      setTimeout(refresh, 900);
    }
  }
  tell("approvals", { added });
}

function settle(question, outcome) {
  question.state = "settled";
  question.outcome = outcome;
  question.settledAt = performance.now();
  settled.unshift(question);
  settled.length = Math.min(settled.length, MOST_SETTLED);
  tell("settled", question);
}

/** Takes a settled question off the list. */
export function dismiss(question) {
  if (question.state === "settled") questions.delete(question.id);
}

/** Answers a question. Whatever comes of it is written into the question. */
export async function answer(question, decision, more = {}) {
  if (question.state !== "open") return;
  question.state = "sending";
  question.problem = null;
  tell("approvals", { added: [] });
  try {
    const result = await request("POST", `/v1/approvals/${encodeURIComponent(question.id)}`, { decision, ...more });
    settle(question, { decision: result.decision ?? decision, by: result.by ?? "", note: result.note ?? "", reason: "provider", mine: true });
  } catch (error) {
    question.state = "open";
    if (error instanceof Failure && error.status === 409) {
      const winner = error.settled ?? ends.get(question.id) ?? {};
      settle(question, { decision: winner.decision ?? "", by: winner.by ?? "", reason: winner.reason ?? "", note: "", mine: false, late: true });
    } else if (error instanceof Failure && error.status === 404) {
      const end = ends.get(question.id);
      settle(question, end ? { ...end, mine: false, late: true } : { decision: "", by: "", reason: "gone", mine: false, late: true });
    } else {
      question.problem = error instanceof Failure ? error : new Failure(0, null);
      if (ends.has(question.id)) settle(question, { ...ends.get(question.id), mine: false });
    }
  }
  tell("approvals", { added: [] });
}

function hear(asked) {
  if (inquiries.has(asked.id)) return;
  const inquiry = { id: asked.id, asked, deadline: performance.now() + Math.max(0, Number(asked.seconds_left) || 0) * 1000 };
  inquiries.set(asked.id, inquiry);
  tell("inquiries", { added: [inquiry] });
}

function close(id) {
  if (inquiries.delete(id)) tell("inquiries", { added: [] });
}

/** Answers an agent. Fails where the answer does not count. */
export async function reply(inquiry, words) {
  try {
    await request("POST", `/v1/inquiries/${encodeURIComponent(inquiry.id)}`, words);
    close(inquiry.id);
  } catch (error) {
    if (error instanceof Failure && (error.status === 404 || error.status === 409)) close(inquiry.id);
    throw error;
  }
}

export const open = () => [...questions.values()].filter((question) => question.state !== "settled");
