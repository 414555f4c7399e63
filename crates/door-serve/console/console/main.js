// The page: who may see it, which view is open, and the frame around it.

import { h, put, announce, toast } from "./dom.js";
import { icon, mark } from "./icons.js";
import { kbd } from "./pieces.js";
import { brief, plain } from "./visible.js";
import { takeToken, forgetToken } from "./api.js";
import { start, stop, on, open, inquiries, connection, hurry } from "./store.js";
import { listen, KEYS, singleKeys, setSingleKeys } from "./keys.js";
import { keysDialog } from "./dialogs.js";
import { theme, setTheme, THEMES } from "./theme.js";
import { signIn } from "./signin.js";
import { pendingView } from "./pending.js";
import { timelineView } from "./timeline.js";
import { storyView } from "./story.js";
import { journalView } from "./journal.js";
import { policyView } from "./policy.js";
import { grantsView } from "./grants.js";
import { overviewView } from "./overview.js";

const VIEWS = [
  ["pending", "Pending", "p", pendingView],
  ["timeline", "Timeline", "t", timelineView],
  ["journal", "Journal", "j", journalView],
  ["overview", "Overview", "o", overviewView],
  ["policy", "Policy", "r", policyView],
  ["grants", "Grants", "g", grantsView],
];

const frame = document.getElementById("frame");
const side = document.getElementById("side");
const main = document.getElementById("main");
const gatehouse = document.getElementById("gatehouse");
const notice = document.getElementById("notice");
const favicon = document.getElementById("favicon");

let view = null;
let inside = false;
let links = new Map();
let badge = null;
let heard = null;

document.documentElement.dataset.theme = theme();

/** `#/journal?q=x` → its name and parameters. */
function place() {
  const [path, words] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const parameters = Object.fromEntries(new URLSearchParams(words ?? ""));
  if (name === "call" && rest.length) {
    try { return { name: "call", parameters: { id: decodeURIComponent(rest.join("/")) } }; } catch { return { name: "pending", parameters: {} }; }
  }
  return { name: VIEWS.some(([known]) => known === name) ? name : "pending", parameters };
}

function route() {
  if (!inside) return;
  const { name, parameters } = place();
  view?.destroy();
  const make = name === "call" ? storyView : VIEWS.find(([known]) => known === name)[3];
  main.dataset.view = name;
  view = make(main, parameters);
  scrollTo(0, 0);
  for (const [known, link] of links) {
    if (known === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!view.keepsFocus) main.querySelector("h1")?.focus({ preventScroll: true });
  count();
}

/** The number of open questions: in the title, on the icon, in the menu. */
function count() {
  const waiting = open().length + inquiries.size;
  document.title = `${waiting ? `(${waiting}) ` : ""}${view?.title ?? "Bailiwick"} · Bailiwick`;
  const wanted = waiting ? "/icon-alert.svg" : "/icon.svg";
  if (favicon.getAttribute("href") !== wanted) favicon.setAttribute("href", wanted);
  try { if (waiting) navigator.setAppBadge?.(waiting)?.catch?.(() => {}); else navigator.clearAppBadge?.()?.catch?.(() => {}); } catch { /* not everywhere */ }
  if (!badge) return;
  badge.hidden = waiting === 0;
  put(badge, String(waiting), h("span", { class: "quiet" }, " waiting"));
}

function build() {
  links = new Map();
  badge = h("span", { class: "badge", hidden: true });
  const items = VIEWS.map(([name, words, key]) => {
    const link = h("a", { class: "nav-link", href: `#/${name}`, "aria-keyshortcuts": `g ${key}` }, icon(name), h("span", { class: "nav-word" }, words), name === "pending" ? badge : null, h("span", { class: "nav-key" }, kbd("g"), kbd(key)));
    links.set(name, link);
    return h("li", {}, link);
  });
  heard = h("button", { class: "heard", type: "button", onclick: () => { hurry(); toast(connection.state === "live" ? "Connected" : "Trying now"); } });
  const themeButton = h("button", { class: "icon-button", type: "button" });
  const showTheme = () => {
    const now = theme();
    const label = `Colours: ${now === "auto" ? "as the system has them" : now}. Change`;
    themeButton.setAttribute("aria-label", label);
    themeButton.title = label;
    put(themeButton, icon(now === "auto" ? "auto" : now === "dark" ? "moon" : "sun"));
  };
  themeButton.addEventListener("click", () => { setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]); showTheme(); });
  showTheme();
  put(side,
    h("div", { class: "brand" }, mark(), h("span", {}, "Bailiwick")),
    h("nav", { class: "nav", "aria-label": "Views" }, h("ul", {}, items)),
    h("div", { class: "side-foot" }, heard,
      h("div", { class: "side-buttons" },
        themeButton,
        h("button", { class: "icon-button", type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: help }, icon("keys")),
        h("button", { class: "icon-button", type: "button", "aria-label": "Forget the token and leave", title: "Forget the token and leave", onclick: () => leave(false) }, icon("leave")))));
}

const help = () => keysDialog(KEYS, singleKeys(), setSingleKeys);

function showConnection() {
  if (!heard) return;
  const words = { live: "Live", connecting: "Connecting", offline: "Offline" }[connection.state];
  put(heard, h("span", { class: `dot ${{ live: "allow", connecting: "ask", offline: "deny" }[connection.state]}`, "aria-hidden": "true" }), h("span", {}, words), h("span", { class: "quiet" }, ". Try the connection now"));
  frame.dataset.connection = connection.state;
}

let wasLive = false;
let lostAt = 0;

/** A strip that says when nothing is heard: what is on the screen may be old then. */
function showNotice() {
  if (connection.state === "live") {
    if (wasLive && lostAt) announce("Connected again");
    wasLive = true;
    lostAt = 0;
    notice.hidden = true;
    return;
  }
  lostAt ||= performance.now();
  if (performance.now() - lostAt < 1200) return;
  const left = Math.max(0, Math.ceil((connection.until - performance.now()) / 1000));
  const text = `The server is not heard. What you see may be old; answers do not get through.${connection.state === "offline" && left ? ` Next try in ${left} s.` : " Trying …"}`;
  if (notice.hidden) announce("The connection to the server is lost", true);
  notice.hidden = false;
  put(notice, h("span", {}, text), h("button", { class: "button small", type: "button", onclick: hurry }, "Try now"));
}

function enter() {
  inside = true;
  gatehouse.hidden = true;
  gatehouse.replaceChildren();
  frame.hidden = false;
  build();
  showConnection();
  start(() => leave(true));
  route();
}

function leave(refused) {
  if (inside) {
    view?.destroy();
    view = null;
  }
  inside = false;
  stop();
  forgetToken();
  frame.hidden = true;
  put(main);
  gatehouse.hidden = false;
  document.title = "Bailiwick";
  signIn(gatehouse, refused, enter);
}

on("approvals", ({ added }) => {
  count();
  if (!added.length) return;
  const [first] = added;
  const level = String(first.asked.security_warning?.level ?? "").toLowerCase();
  announce(added.length === 1
    ? `New question, ${level || "unknown"} risk: ${plain(brief(first.asked.toolName, 40))}, ${plain(brief(first.asked.what, 120))}`
    : `${added.length} new questions`, level === "critical");
});
on("inquiries", ({ added }) => {
  count();
  if (added.length) announce(`An agent asks: ${plain(brief(added[0].asked.questions?.[0]?.question ?? "", 160))}`);
});
on("settled", count);
on("connection", () => { showConnection(); showNotice(); });
setInterval(() => { if (inside) showNotice(); }, 1000);

addEventListener("hashchange", () => {
  if (/^#token=/.test(location.hash)) {
    takeToken();
    enter();
  } else {
    route();
  }
});
// A tab that was asleep asks at once what it missed.
document.addEventListener("visibilitychange", () => { if (inside && document.visibilityState === "visible") hurry(); });
addEventListener("online", () => { if (inside) hurry(); });

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  (inside ? main : gatehouse).focus();
});

listen({
  places: Object.fromEntries(VIEWS.map(([name, , key]) => [key, `/${name}`])),
  go: (path, search) => {
    if (location.hash === `#${path}`) main.querySelector("h1")?.focus();
    else location.hash = path;
    if (search) setTimeout(() => view?.search?.(), 60);
  },
  view: () => (inside ? view : null),
  help: () => { if (inside) help(); },
});

if (takeToken()) enter();
else leave(false);
