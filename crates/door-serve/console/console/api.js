// Talking to the server: the token, and errors that say what to do.

const KEPT = "bailiwick.token";

let token = null;

/** Takes the token out of the address (`#token=…`, which no server ever sees) or from what this tab kept. */
export function takeToken() {
  const found = /^#token=([A-Za-z0-9_-]{16,256}={0,2})$/.exec(location.hash);
  if (found) {
    token = found[1];
    history.replaceState(null, "", location.pathname);
    try { sessionStorage.setItem(KEPT, token); } catch { /* this tab keeps nothing: it asks again after a reload */ }
  } else {
    try { token = sessionStorage.getItem(KEPT); } catch { token = null; }
  }
  return token !== null;
}

export function setToken(text) {
  token = text;
  try { sessionStorage.setItem(KEPT, text); } catch { /* as above */ }
}

export function forgetToken() {
  token = null;
  try { sessionStorage.removeItem(KEPT); } catch { /* as above */ }
}

export const hasToken = () => token !== null;

/** What went wrong, in words for whoever reads the page. */
export class Failure extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(typeof error.message === "string" && error.message ? error.message : fallback(status));
    this.status = status;
    this.kind = typeof error.kind === "string" ? error.kind : "unknown";
    this.help = Array.isArray(error.help) ? error.help.filter((line) => typeof line === "string") : [];
    this.settled = body?.settled ?? null;
  }
}

function fallback(status) {
  if (status === 0) return "The server cannot be reached. Is `bailiwick serve` still running?";
  if (status === 401 || status === 403) return "The token is not accepted.";
  if (status === 404) return "There is no such thing (any more).";
  if (status >= 500) return `The server failed (${status}). Its own log says more.`;
  return `The server refused (${status}).`;
}

let refused = () => {};

/** Who is told when the token is no longer accepted. */
export function onRefused(listener) {
  refused = listener;
}

export function headers(more = {}) {
  return { Authorization: `Bearer ${token ?? ""}`, ...more };
}

/** One request; the answer's JSON, or a `Failure`. */
export async function request(method, path, body, signal) {
  const asked = token;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(body === undefined ? { Accept: "application/json" } : { Accept: "application/json", "Content-Type": "application/json" }),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: signal ?? AbortSignal.timeout(20000),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, null);
  }
  let answer = null;
  try { answer = await response.json(); } catch { answer = null; }
  if (response.status === 401) {
    if (asked === token) refused();
    throw new Failure(401, answer);
  }
  if (!response.ok) throw new Failure(response.status, answer);
  return answer ?? {};
}

export const get = (path, signal) => request("GET", path, undefined, signal);

/** `/v1/journal` and its like with their parameters; empty ones are left out. */
export function query(path, parameters) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") words.set(name, String(value));
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}
