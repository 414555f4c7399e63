// The way in: a token that only this machine's user can read.

import { h, put, unique } from "./dom.js";
import { code } from "./pieces.js";
import { mark } from "./icons.js";
import { get, setToken, forgetToken, Failure } from "./api.js";

/** Asks for the token. `entered()` is called once the server accepts it. */
export function signIn(root, refused, entered) {
  const field = h("input", { id: unique("token"), type: "password", name: "token", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "400", placeholder: "paste the token" });
  const note = h("p", { class: "note bad", role: "alert", hidden: true });
  const say = (text) => { note.hidden = !text; put(note, text ?? ""); };
  const button = h("button", { class: "button primary wide", type: "submit" }, "Open the console");
  const form = h("form", {
    class: "sign-in", "aria-label": "Sign in",
    onsubmit: async (event) => {
      event.preventDefault();
      // A pasted address is as good as the token in it.
      const found = /(?:#token=)?([A-Za-z0-9_-]{16,256}={0,2})\s*$/.exec(field.value.trim());
      if (!found) {
        say("That is no token: 43 letters, digits, - and _.");
        field.focus();
        return;
      }
      button.disabled = true;
      setToken(found[1]);
      try {
        await get("/v1/approvals");
        field.value = "";
        entered();
      } catch (error) {
        const known = error instanceof Failure ? error : new Failure(0, null);
        if (known.status === 401 || known.status === 403) forgetToken();
        say(known.status === 401 ? "The server does not accept this token. It may be of an earlier start: read the file again." : known.message);
        field.focus();
      }
      button.disabled = false;
    },
  },
  h("label", { for: field.id }, "Token"), field, note, button);
  put(root,
    h("div", { class: "gate-card" },
      h("div", { class: "gate-brand" }, mark(), h("span", {}, "Bailiwick")),
      h("h1", { tabindex: "-1" }, refused ? "The token is no longer accepted" : "Who is there?"),
      h("p", {}, "This page approves what agents do on this machine. It opens with the token of the server that serves it."),
      form,
      h("div", { class: "gate-help" },
        h("p", {}, h("strong", {}, "Where it is. "), code("bailiwick serve"), " prints the whole address when it is started at a terminal. The token alone is in ", code("~/.local/share/bailiwick/keys/token"), ", which only you can read (", code("$XDG_DATA_HOME"), " moves it)."),
        h("p", {}, "It stays in this tab until the tab is closed, and is sent to this server only."))));
  field.focus();
}
