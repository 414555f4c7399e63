// Moments and durations in words.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hour12: false });

export function date(text) {
  const moment = new Date(typeof text === "string" ? text : NaN);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** `14:03:22`, with the day where it is not today. */
export function at(text) {
  const moment = date(text);
  if (!moment) return "–";
  const today = new Date().toDateString() === moment.toDateString();
  return today ? clock.format(moment) : `${day.format(moment)} ${clock.format(moment)}`;
}

/** The whole moment, for a title. */
export function exactly(text) {
  const moment = date(text);
  return moment ? `${whole.format(moment)} (${moment.toISOString()})` : "";
}

/** `now`, `3 min ago`. */
export function ago(text) {
  const moment = date(text);
  if (!moment) return "";
  const seconds = Math.round((Date.now() - moment.getTime()) / 1000);
  return seconds < 5 ? "now" : `${span(seconds)} ago`;
}

/** `42 s`, `3 min`, `5 h`, `2 d`. */
export function span(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** `0:42`, `12:05`, `1:02:10`: what is left of a countdown. */
export function countdown(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `9 ms`, `1.4 s`, `3 min`. */
export function lasted(milliseconds) {
  if (typeof milliseconds !== "number" || !Number.isFinite(milliseconds)) return "";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return span(milliseconds / 1000);
}
