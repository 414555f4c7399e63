//! OpenCode runs no commands as hooks, but plugins: this file is one, and all of it is ours.

use serde_json::Value;

use super::{Undone, Unreadable};

/// The first line, by which the file is known as ours.
const MARK: &str =
    "// Bailiwick: every tool call of OpenCode goes through its gate. Made by `bailiwick init`.";

/// The rest. `BINARY` is a JSON text, which is a JavaScript text as well.
const BODY: &str = r#"
// Whatever goes wrong in here throws, and an exception keeps the tool from running.
import { spawn } from "node:child_process";

const PROGRAM = BINARY;
const PATIENCE = 60000;

function ask(question) {
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "pipe"] });
    const late = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("bailiwick: no answer in time, so the call is blocked"));
    }, PATIENCE);
    let out = "";
    let err = "";
    child.stdout.on("data", (piece) => (out += piece));
    child.stderr.on("data", (piece) => (err += piece));
    child.stdin.on("error", () => {});
    child.on("error", (error) => {
      clearTimeout(late);
      reject(new Error("bailiwick: the hook does not start, so the call is blocked: " + error.message));
    });
    child.on("close", (code) => {
      clearTimeout(late);
      if (code !== 0) {
        reject(new Error(err.trim() || "bailiwick: the hook failed, so the call is blocked"));
        return;
      }
      try {
        resolve(JSON.parse(out));
      } catch {
        reject(new Error("bailiwick: the answer cannot be read, so the call is blocked"));
      }
    });
    child.stdin.end(JSON.stringify(question));
  });
}

export const Bailiwick = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      hook: "tool.execute.before",
      tool: input.tool,
      sessionID: input.sessionID,
      callID: input.callID,
      directory,
      args: output.args ?? {},
    });
    if (answer.decision !== "allow") {
      throw new Error(answer.reason || "bailiwick: the call is not allowed");
    }
    if (answer.args) {
      for (const [key, value] of Object.entries(answer.args)) output.args[key] = value;
    }
  },
  "tool.execute.after": async (input) => {
    const told = { hook: "tool.execute.after", tool: input.tool, sessionID: input.sessionID, callID: input.callID };
    await ask({ ...told, directory, args: input.args ?? {} }).catch(() => {});
  },
});
"#;

pub(super) fn add(text: Option<&str>, binary: &str) -> Result<String, Unreadable> {
    if let Some(text) = text
        && !text.trim().is_empty()
        && !text.starts_with(MARK)
    {
        return Err(Unreadable::new("there is a plugin of this name that is not ours"));
    }
    Ok(format!("{MARK}{}", BODY.replace("BINARY", &Value::from(binary).to_string())))
}

pub(super) fn undo(text: &str) -> Result<Undone, Unreadable> {
    Ok(if text.starts_with(MARK) { Undone::Gone } else { Undone::Nothing })
}
