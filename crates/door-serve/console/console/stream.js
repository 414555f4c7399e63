// The live stream: server-sent events read by `fetch`, since the token goes into a header.
//
// After a break it goes on where it was (`Last-Event-ID`), so that nothing is missed; what comes twice is dropped by its number.

import { Failure, headers } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const SILENCE = 40000; // The server beats every 15 s: after more than two beats the connection is dead.

/**
 * Reads until `stop()`. `on`: begin() gives the number of the last record that is known, record(record), inquiry(type, data),
 * state("live" | "connecting" | "offline", milliseconds until the next try), refused().
 */
export function openStream(on) {
  let last = null;
  let wait = FIRST_WAIT;
  let stopped = false;
  let abort = null;
  let sleeping = null;

  const sleep = (milliseconds) => new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    sleeping = () => { clearTimeout(timer); resolve(); };
  });

  async function once() {
    abort = new AbortController();
    const ours = abort;
    let timer = setTimeout(() => ours.abort(), SILENCE);
    let steady = null;
    const heard = () => { clearTimeout(timer); timer = setTimeout(() => ours.abort(), SILENCE); };
    try {
      last ??= await on.begin(ours.signal);
      const more = { Accept: "text/event-stream", "Last-Event-ID": String(last) };
      const response = await fetch("/v1/events?approver=1", {
        headers: headers(more), cache: "no-store", credentials: "omit", redirect: "error", signal: ours.signal,
      });
      if (response.status === 401) throw new Failure(401, null);
      if (!response.ok || !response.body) throw new Failure(response.status, null);
      on.state("live", 0);
      steady = setTimeout(() => { wait = FIRST_WAIT; }, 5000);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parse = parser((event) => {
        if (event.type === "inquiry_opened" || event.type === "inquiry_closed") {
          // No record: it has no number, and is not told again.
          let asked = null;
          try { asked = JSON.parse(event.data); } catch { asked = null; }
          on.inquiry(event.type, asked);
          return;
        }
        const number = Number(event.id);
        if (event.id === "" || !Number.isSafeInteger(number)) return;
        if (number <= last) return;
        last = number;
        wait = FIRST_WAIT;
        let record = null;
        try { record = JSON.parse(event.data); } catch { record = null; }
        if (record && typeof record === "object") on.record({ type: event.type, seq: number, ...record });
      });
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        parse(value);
      }
    } finally {
      clearTimeout(timer);
      clearTimeout(steady);
      ours.abort();
    }
  }

  (async () => {
    while (!stopped) {
      on.state("connecting", 0);
      try {
        await once();
      } catch (error) {
        if (stopped) return;
        if (error instanceof Failure && error.status === 401) {
          on.refused();
          return;
        }
      }
      if (stopped) return;
      const pause = Math.round(wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT);
      on.state("offline", pause);
      await sleep(pause);
    }
  })();

  return {
    stop() { stopped = true; abort?.abort(); sleeping?.(); },
    /** Tries now instead of later. */
    hurry() { wait = FIRST_WAIT; sleeping?.(); },
    last: () => last,
  };
}

/** Lines of an event stream → events. Bounded: an event of more than 4 MiB is given up. */
export function parser(emit) {
  let rest = "";
  let id = "";
  let type = "";
  let data = [];
  let size = 0;
  return (chunk) => {
    rest += chunk;
    let start = 0;
    for (;;) {
      let end = rest.indexOf("\n", start);
      if (end < 0) break;
      const line = rest.slice(start, end > start && rest[end - 1] === "\r" ? end - 1 : end);
      start = end + 1;
      if (line === "") {
        if (data.length) emit({ id, type: type || "message", data: data.join("\n") });
        type = "";
        data = [];
        size = 0;
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
      if (field === "id") id = value;
      else if (field === "event") type = value;
      else if (field === "data") {
        size += value.length;
        if (size <= 4194304) data.push(value);
        else data = [];
      }
    }
    rest = rest.slice(start);
    if (rest.length > 8388608) rest = "";
  };
}
