// The journal's records in words, and the records of one call folded into what became of it.

import { lasted } from "./times.js";
import { table } from "./table.js";

const text = (value) => (typeof value === "string" ? value : value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** A word as a shell would want it written. */
const word = (value) => {
  const raw = text(value);
  return raw !== "" && /^[A-Za-z0-9_@%+=:,./~^-]+$/.test(raw) ? raw : `'${raw.replaceAll("'", "'\\''")}'`;
};

/** What a sanitized request would do, as one text. */
export function whatOf(tool, request, whole) {
  if (typeof whole === "string" && whole) return whole;
  const asked = request && typeof request === "object" ? request : {};
  for (const key of ["command", "cmd"]) if (typeof asked[key] === "string") return asked[key];
  for (const key of ["argv", "command"]) if (Array.isArray(asked[key])) return asked[key].map(word).join(" ");
  if (Array.isArray(asked.file_paths)) return asked.file_paths.map(text).join(" ");
  for (const key of ["path", "query", "url"]) if (typeof asked[key] === "string") return asked[key];
  const rest = Object.keys(asked).length ? JSON.stringify(asked) : "";
  return rest || text(tool);
}

export const principalOf = (record) => {
  const who = record?.principal;
  return typeof who === "string" ? who : text(who?.id);
};

/** `rule (file:line)` in its parts. */
export function placeOf(rule) {
  if (!rule || typeof rule !== "object") return "";
  const file = text(rule.file);
  const line = rule.line === undefined || rule.line === null ? "" : `:${text(rule.line)}`;
  return file ? `${file}${line}` : "";
}

/** Records that belong to a call. */
export const OF_A_CALL = new Set([
  "tool_call_requested", "approval_requested", "approval_decided", "tool_call_started", "tool_call_finished",
]);

/** The journal's own records: of interest to whoever checks it, noise to everybody else. */
export const OWN = new Set(["segment", "checkpoint", "journal_repaired"]);

export function newCall(id) {
  return { id, tool: "", what: "", session: "", principal: "", at: "", seq: 0, decision: "", reason: "", rule: null, risk: "", asked: false, answer: null, started: false, end: null };
}

/** One more record of a call. */
export function fold(call, record) {
  const payload = record.payload ?? {};
  call.seq = Math.max(call.seq, Number(record.seq) || 0);
  call.session ||= text(record.session_id ?? record.run_id);
  call.principal ||= principalOf(record);
  call.at ||= text(record.timestamp);
  call.tool ||= text(payload.tool);
  switch (record.type) {
    case "tool_call_requested":
      call.what = whatOf(payload.tool, payload.request, payload.command);
      call.decision = text(payload.decision);
      call.reason = text(payload.reason);
      call.rule = payload.rule ?? null;
      call.risk = text(payload.risk?.level ?? payload.risk);
      call.at = text(record.timestamp);
      break;
    case "approval_requested":
      call.asked = true;
      break;
    case "approval_decided":
      call.asked = true;
      call.answer = { decision: text(payload.decision), by: text(payload.by), reason: text(payload.reason), note: text(payload.note) };
      break;
    case "tool_call_started":
      call.started = true;
      break;
    case "tool_call_finished":
      call.end = { outcome: text(payload.outcome), code: payload.exit_code, kind: text(payload.error_kind), by: text(payload.by), duration: payload.duration_ms, reason: text(payload.reason) };
      break;
    default:
  }
  return call;
}

/** What became of a call: a tone for its colour and a word. */
export function status(call) {
  if (call.end) {
    const { outcome, code } = call.end;
    if (outcome === "denied") return { tone: "deny", word: call.end.by === "approval" || call.asked ? answered(call.answer) : "denied" };
    if (outcome === "aborted") return { tone: "deny", word: "aborted" };
    if (outcome === "interrupted") return { tone: "ask", word: "interrupted" };
    if (typeof code === "number" && code !== 0) return { tone: "ask", word: `exit ${code}` };
    if (call.end.kind) return { tone: "ask", word: call.end.kind };
    return { tone: "allow", word: "done" };
  }
  if (call.started) return { tone: "run", word: "running" };
  if (call.asked && !call.answer) return { tone: "ask", word: "waiting" };
  if (call.answer) return call.answer.decision.startsWith("approved") ? { tone: "run", word: "approved" } : { tone: "deny", word: answered(call.answer) };
  if (call.decision === "deny") return { tone: "deny", word: "denied" };
  return { tone: call.decision === "ask" ? "ask" : "run", word: call.decision || "requested" };
}

function answered(answer) {
  if (!answer) return "denied";
  if (answer.reason === "timeout") return "timed out";
  if (answer.reason === "no_provider") return "nobody asked";
  return answer.decision === "abort" ? "aborted" : "denied";
}

/** Why there was, or was no question: `policy`, `Ada`, `grant`. */
export function how(call) {
  if (call.answer?.reason === "cached") return "by a grant";
  if (call.answer?.reason === "auto_approve") return "automatically";
  if (call.answer?.by) return `by ${call.answer.by}`;
  if (call.decision === "allow") return "by policy";
  if (call.decision === "deny") return "by policy";
  return "";
}

const DECISIONS = table({
  approved: "approved once",
  approved_for_session: "approved for the session",
  approved_always: "approved always",
  denied: "denied",
  abort: "denied, and the run stopped",
});

export const decisionWords = (decision) => DECISIONS(decision, text(decision));

const TITLES = table({
  tool_call_requested: "Asked for, and judged",
  approval_requested: "A person is asked",
  approval_decided: "Answered",
  tool_call_started: "Started",
  tool_call_finished: "Ended",
  tool_gated: "Gated",
  tool_allowed: "Allowed",
  tool_denied: "Denied",
  grant_added: "A grant was given",
  grant_revoked: "A grant was taken back",
  rule_added: "A rule was saved",
  security_violation: "Reached for Bailiwick’s own places",
  run_started: "A run started",
  run_completed: "A run completed",
  run_failed: "A run failed",
  run_cancelled: "A run was cancelled",
  segment: "A new file of the journal",
  checkpoint: "Sealed with a signature",
  journal_repaired: "The journal was repaired",
});

export const titleOf = (type) => TITLES(type, text(type).replaceAll("_", " "));

/** A record in one sentence. */
export function sentence(record) {
  const payload = record.payload ?? {};
  switch (record.type) {
    case "tool_call_requested": return `${text(payload.decision)}: ${text(payload.reason)}`;
    case "approval_requested": return text(payload.reason);
    case "approval_decided": return [decisionWords(payload.decision), payload.by ? `by ${text(payload.by)}` : "", text(payload.note) || text(payload.reason)].filter(Boolean).join(" · ");
    case "tool_call_started": return payload.fence ? `fence: ${text(payload.fence)}` : "";
    case "tool_call_finished": return [
      text(payload.outcome),
      payload.exit_code === undefined || payload.exit_code === null ? "" : `exit code ${text(payload.exit_code)}`,
      text(payload.error_kind),
      lasted(payload.duration_ms),
      text(payload.reason),
    ].filter(Boolean).join(" · ");
    case "checkpoint": return `${text(payload.records)} records, key ${text(payload.key)}`;
    case "segment": return `file ${text(payload.segment)}`;
    default: return [text(payload.what), text(payload.reason), payload.by ? `by ${text(payload.by)}` : ""].filter(Boolean).join(" · ");
  }
}

const RULINGS = table({ allow: "allow", ask: "ask", deny: "deny" });

/** The colour of a record. */
export function toneOf(record) {
  const payload = record.payload ?? {};
  if (record.type === "security_violation" || record.type === "run_failed") return "deny";
  if (record.type === "tool_call_requested") return RULINGS(payload.decision, "plain");
  if (record.type === "approval_requested") return "ask";
  if (record.type === "approval_decided") return text(payload.decision).startsWith("approved") ? "allow" : "deny";
  if (record.type === "tool_call_finished") return payload.outcome === "finished" ? (payload.exit_code ? "ask" : "allow") : "deny";
  if (record.type === "tool_call_started") return "run";
  return "plain";
}
