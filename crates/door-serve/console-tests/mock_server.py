"""A stand-in for `bailiwick serve`: the same routes and headers, made-up data, and knobs for the tests.

Run by itself it serves the console for a look: python3 mock_server.py [PORT]. Loopback only.
"""

import json
import random
import secrets
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

CONSOLE = Path(__file__).resolve().parent.parent / "console"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


def stamp(moment=None):
    moment = moment or datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Mock:
    """What the server knows. Every method may be called from any thread."""

    def __init__(self):
        self.token = secrets.token_urlsafe(32)
        self.changed = threading.Condition()
        self.records = []
        self.questions = {}
        self.answers = []
        self.inquiries = {}
        self.grants = []
        self.requests = []
        self.streams = 0
        self.stream_starts = []
        self.generation = 0
        self.down = False
        self.stats = None
        self.policy = None
        self.fail_next = None
        self.extra_pages = {}
        self.ended = False

    # What happens

    def record(self, kind, payload, call=None, session="s-main", principal="agent", moment=None):
        with self.changed:
            record = {
                "seq": len(self.records) + 1, "prev": secrets.token_hex(32), "sealed": 0, "kept": 0, "boot": "8ca329ea", "type": kind,
                "timestamp": stamp(moment), "session_id": session, "call_id": call, "principal": {"id": principal}, "payload": payload, "hash": secrets.token_hex(32),
            }
            if call is None:
                record.pop("call_id")
            self.records.append(record)
            self.changed.notify_all()
            return record

    def requested(self, command, decision="allow", reason="everything that it would do is allowed", level="low", rule=None, call=None, effects=None, tool="shell_command", **more):
        call = call or secrets.token_hex(16)
        self.record("tool_call_requested", {
            "tool": tool, "request": {"command": command, "workdir": "/home/ada/shop", "program": "/usr/bin/git"}, "approval_key": secrets.token_hex(32),
            "decision": decision, "reason": reason, "rule": rule or {"id": "safety.effects", "file": "built-in profile dev"},
            "risk": {"level": level, "factors": []}, "effects": effects or ["read(/home/ada/shop)"],
        }, call=call, **more)
        return call

    def finished(self, call, code=0, milliseconds=25, **more):
        self.record("tool_call_started", {"tool": "shell_command", "fence": "auto"}, call=call, **more)
        self.record("tool_call_finished", {"tool": "shell_command", "outcome": "finished", "exit_code": code, "duration_ms": milliseconds, "fence": "namespaces, Landlock 7"}, call=call, **more)

    def denied(self, command, reason, rule, **more):
        call = self.requested(command, "deny", reason, "high", rule, effects=["privilege(sudo)"], **more)
        self.record("tool_call_finished", {"tool": "shell_command", "outcome": "denied", "error_kind": "permission", "by": "policy", "reason": reason, "duration_ms": 0}, call=call, **more)

    def ask(self, command, seconds=60, level="high", typed=False, always=None, choices=None, quiet=False, **more):
        """A question appears; its id."""
        name = secrets.token_hex(16)
        now = datetime.now(timezone.utc)
        reason = more.pop("reason", f"`{command[:80]}` would destroy what cannot be got back: history(overwrites what the remote has)")
        asked = {
            "id": name, "confirmationId": name, "toolName": "shell_command", "args": {"command": command, "workdir": "/home/ada/shop", "env_keys": [], "sandbox": "inherit"},
            "what": command, "approval_key": secrets.token_hex(32), "risk": {"level": level, "factors": ["cannot be undone"]},
            "effects": ["read(/home/ada/shop)", "connect(the repository's remote, sends data)", "history(overwrites what the remote has)"],
            "reason": reason, "rule": {"id": "safety.effects.history", "file": "/home/ada/.config/bailiwick/config.yaml", "line": 12},
            "asked_at": stamp(now), "expires_at": stamp(now + timedelta(seconds=seconds)), "security_warning": {"level": level.upper(), "message": reason},
            "requires_typed_confirmation": "I confirm" if typed else None, "session": "claude-7f21", "principal": "claude-code",
            "choices": choices or ["approved", "approved_for_session", *(["approved_always"] if always else []), "denied", "abort"],
            "always": always, "waits": "here", **more,
        }
        call = secrets.token_hex(16)
        with self.changed:
            self.questions[name] = {"asked": asked, "deadline": time.monotonic() + seconds, "settled": None, "call": call}
        if not quiet:
            self.requested(command, "ask", reason, level, asked["rule"], call=call, effects=asked["effects"], session="claude-7f21", principal="claude-code")
            self.record("approval_requested", {"tool": "shell_command", "approval_key": asked["approval_key"], "confirmation_id": name, "reason": reason, "risk": asked["risk"], "expires_at": asked["expires_at"]}, call=call, session="claude-7f21", principal="claude-code")
        return name

    def inquire(self, *questions, seconds=60, **more):
        """An agent asks a person; the inquiry's id."""
        name = secrets.token_hex(16)
        asked = {
            "id": name, "toolName": "ask_human", "questions": list(questions), "context": {}, "call_id": secrets.token_hex(8), "session": "claude-7f21", "principal": "claude-code",
            "asked_at": stamp(), "expires_at": stamp(), "seconds_left": seconds, **more,
        }
        with self.changed:
            self.inquiries[name] = asked
            self.changed.notify_all()
        return name

    def close_inquiry(self, name):
        with self.changed:
            gone = self.inquiries.pop(name, None)
            self.changed.notify_all()
            return gone

    def settle(self, name, decision, by, note=None, reason="provider", told=True):
        """Settles a question, as somebody else would. Whether it was the first."""
        with self.changed:
            question = self.questions.get(name)
            if question is None or question["settled"]:
                return False
            question["settled"] = {"decision": decision, "by": by}
        if told:
            self.record("approval_decided", {"tool": "shell_command", "confirmation_id": name, "decision": decision, "reason": reason, "by": by, "note": note}, call=question["call"], session="claude-7f21", principal="claude-code")
            if decision.startswith("approved"):
                self.finished(question["call"], session="claude-7f21", principal="claude-code")
            else:
                self.record("tool_call_finished", {"tool": "shell_command", "outcome": "denied", "error_kind": "permission", "by": "approval", "reason": f"denied by {by}", "duration_ms": 900}, call=question["call"], session="claude-7f21", principal="claude-code")
        return True

    def open_questions(self):
        with self.changed:
            now = time.monotonic()
            late = [name for name, question in self.questions.items() if not question["settled"] and question["deadline"] <= now]
        for name in late:
            self.settle(name, "denied", "bailiwick", reason="timeout")
        with self.changed:
            return [
                {**question["asked"], "seconds_left": round(max(0, question["deadline"] - time.monotonic()), 1)}
                for question in self.questions.values() if not question["settled"]
            ]

    def drop_streams(self):
        with self.changed:
            self.generation += 1
            self.changed.notify_all()

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # Serving

    def start(self, port=0):
        mock = self

        class Handler(Routes):
            pass

        Handler.mock = mock
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def stop(self):
        self.ended = True
        self.drop_streams()
        self.server.shutdown()
        self.server.server_close()


class Routes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mock = None

    def log_message(self, *_):
        pass

    def send(self, code, body, kind="application/json", csp=CSP):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in [
            ("Content-Type", kind), ("Content-Length", str(len(data))), ("Content-Security-Policy", csp), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ]:
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def fail(self, code, kind, message, help_=(), **more):
        self.send(code, {"error": {"kind": kind, "message": message, "help": list(help_)}, **more})

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, BrokenPipeError):
            self.close_connection = True

    def do_GET(self):
        self.route("GET")

    def do_POST(self):
        self.route("POST")

    def do_DELETE(self):
        self.route("DELETE")

    def route(self, method):
        mock = self.mock
        address = urlsplit(self.path)
        path = unquote(address.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        mock.requests.append((method, self.path))
        if path in mock.extra_pages:
            text, csp = mock.extra_pages[path]
            return self.send(200, text.encode(), "text/html; charset=utf-8", csp=csp)
        if method == "GET" and not path.startswith("/v1/"):
            return self.static(path)
        if mock.down:
            self.close_connection = True
            self.connection.close()
            return None
        if self.headers.get("Authorization") != f"Bearer {mock.token}":
            return self.fail(401, "permission", "the token is missing or wrong")
        if mock.fail_next:
            code, message = mock.fail_next
            mock.fail_next = None
            return self.fail(code, "unknown", message, ["look at the server's log"])
        parts = path.strip("/").split("/")
        if parts[1] == "approvals":
            return self.approvals(method, parts, body)
        if parts[1] == "inquiries" and method == "POST":
            answer = json.loads(body)
            mock.answers.append((parts[2], answer))
            if mock.close_inquiry(parts[2]) is None:
                return self.fail(409, "human_required", "it was answered before, by somebody", settled={"by": "somebody"})
            return self.send(200, {"id": parts[2], "by": "console", "declined": answer.get("declined", False)})
        if path == "/v1/events":
            return self.events()
        if path == "/v1/journal":
            return self.journal(asked)
        if parts[1:3] == ["journal", "calls"]:
            with mock.changed:
                return self.send(200, {"records": [record for record in mock.records if record.get("call_id") == parts[3]]})
        if path == "/v1/stats":
            return self.send(200, mock.stats or statistics(asked.get("since", "24h")))
        if path == "/v1/policy":
            return self.send(200, mock.policy or policy())
        if path == "/v1/grants":
            return self.send(200, {"grants": mock.grants})
        if parts[1] == "grants" and method == "DELETE":
            before = len(mock.grants)
            mock.grants = [grant for grant in mock.grants if grant["id"] != parts[2]]
            return self.send(200, {"revoked": before - len(mock.grants)})
        return self.fail(404, "not_found", "there is no such route")

    def static(self, path):
        name = {"/": "index.html"}.get(path, path.lstrip("/"))
        if path == "/healthz":
            return self.send(200, {"status": "ok"})
        if ".." in name or not (CONSOLE / name).is_file():
            return self.fail(404, "not_found", "there is no such page")
        return self.send(200, (CONSOLE / name).read_bytes(), KINDS[Path(name).suffix])

    def approvals(self, method, parts, body):
        mock = self.mock
        if method == "GET":
            waiting = mock.open_questions()
            if len(parts) == 2:
                return self.send(200, {"approvals": waiting})
            found = [asked for asked in waiting if asked["id"] == parts[2]]
            return self.send(200, found[0]) if found else self.fail(404, "not_found", "no such question")
        answer = json.loads(body)
        mock.answers.append((parts[2], answer))
        question = mock.questions.get(parts[2])
        if question is None:
            return self.fail(404, "not_found", "no such question")
        if question["settled"]:
            return self.fail(409, "validation", "somebody was faster", settled=question["settled"])
        typed = question["asked"]["requires_typed_confirmation"]
        if typed and answer["decision"].startswith("approved") and answer.get("confirmation") != typed:
            return self.fail(422, "validation", f"type `{typed}` to approve a call of critical risk", ["the question stays open"])
        mock.settle(parts[2], answer["decision"], "console", answer.get("reason"))
        return self.send(200, {"id": parts[2], "decision": answer["decision"], "by": "console"})

    def events(self):
        mock = self.mock
        last = self.headers.get("Last-Event-ID")
        with mock.changed:
            after = int(last) if last else len(mock.records)
            mock.stream_starts.append(last)
            generation = mock.generation
            mock.streams += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(b": hello\n\n")
            self.wfile.flush()
            told = set()
            while True:
                with mock.changed:
                    if not mock.records[after:] and told == set(mock.inquiries):
                        mock.changed.wait(1)
                    fresh = mock.records[after:]
                    opened = [asked for name, asked in mock.inquiries.items() if name not in told]
                    closed = told - set(mock.inquiries)
                    told = set(mock.inquiries)
                    over = mock.generation != generation or mock.ended
                if over:
                    return
                if not fresh:
                    self.wfile.write(b": beat\n\n")
                for asked in opened:
                    self.wfile.write(f"event: inquiry_opened\ndata: {json.dumps(asked)}\n\n".encode())
                for name in closed:
                    self.wfile.write(f"event: inquiry_closed\ndata: {json.dumps({'id': name})}\n\n".encode())
                for record in fresh:
                    after = record["seq"]
                    self.wfile.write(f"id: {record['seq']}\nevent: {record['type']}\ndata: {json.dumps(record)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            with mock.changed:
                mock.streams -= 1

    def journal(self, asked):
        mock = self.mock
        with mock.changed:
            records = list(reversed(mock.records))
        before = int(asked["before"]) if asked.get("before") else None
        limit = min(int(asked.get("limit", 100)), 1000)
        found = []
        for record in records:
            payload = record["payload"]
            if before is not None and record["seq"] >= before:
                continue
            if asked.get("session") and record.get("session_id") != asked["session"]:
                continue
            if asked.get("call") and record.get("call_id") != asked["call"]:
                continue
            if asked.get("tool") and payload.get("tool") != asked["tool"]:
                continue
            if asked.get("decision") and payload.get("decision") != asked["decision"]:
                continue
            if asked.get("q") and asked["q"].lower() not in json.dumps(record).lower():
                continue
            found.append(record)
            if len(found) > limit:
                break
        more = len(found) > limit
        found = found[:limit]
        self.send(200, {"records": found, "next_before": found[-1]["seq"] if more else None})


def statistics(since):
    spread = random.Random(since)
    count, step = {"24h": (96, 15), "7d": (84, 120), "30d": (90, 480)}.get(since, (96, 15))
    now = datetime.now(timezone.utc).replace(second=0, microsecond=0)
    series = []
    for index in range(count):
        moment = now - timedelta(minutes=step * (count - index))
        busy = max(0.05, 1 - abs((moment.hour + moment.minute / 60) - 14) / 7)
        series.append({"from": stamp(moment), "allow": int(spread.uniform(4, 34) * busy), "ask": int(spread.uniform(0, 4) * busy), "deny": int(spread.uniform(0, 2.4) * busy)})
    asks = sum(bucket["ask"] for bucket in series)
    return {
        "records": 5120, "days": {"2026-11-15": {"allow": 800, "ask": asks // 2, "deny": 9, "prompts": asks // 2, "approved": asks // 3}, "2026-11-16": {"allow": 420, "ask": asks - asks // 2, "deny": 7, "prompts": asks - asks // 2, "approved": asks // 4}},
        "reasons": {
            "`git push --force origin main` would destroy what cannot be got back: history(overwrites what the remote has)": 14,
            "`npm publish` would connect to a host that is not allowed: connect(the npm registry, sends data)": 9,
            "`sudo systemctl restart nginx` would gain rights: privilege(sudo)": 7,
            "`cat ~/.aws/credentials` would read credentials: read(/home/ada/.aws/credentials)": 5,
            "`rm -rf src` would delete recursively: delete(/home/ada/shop/src)": 3,
        },
        "rules": {"safety.effects": 1022, "safety.effects.history": 14, "safety.effects.connect": 11, "team.no-publish": 9, "safety.effects.privilege": 7},
        "outcomes": {"finished": 1180, "denied": 41, "interrupted": 2},
        "savings": {"git push": 12, "docker compose up": 6, "make deploy": 3},
        "series": series, "prompts_saved": 683,
    }


def policy():
    builtin = {"layer": "built-in profile dev", "file": "built-in profile dev", "line": None}
    user = "/home/ada/.config/bailiwick/config.yaml"
    settings = [("profile", "dev", builtin), ("safety.mode", "ask", builtin), ("safety.read_only", "false", builtin), ("safety.complex_shell", "by_part", builtin), ("safety.approval_timeout_ms", "60000", {"layer": "user", "file": user, "line": 4})]
    for name, value in [("read_workspace", "allow"), ("read_outside", "ask"), ("credentials", "deny"), ("write_workspace", "allow"), ("write_protected", "ask"), ("delete_recursive", "ask"), ("connect", "ask"), ("exfiltrate", "deny"), ("run", "fenced"), ("code_network", "deny"), ("privilege", "deny"), ("history", "ask")]:
        settings.append((f"safety.effects.{name}", value, builtin if name != "history" else {"layer": "user", "file": user, "line": 12}))
    settings += [("sandbox.default_policy", "restricted", builtin), ("sandbox.network.mode", "off", builtin), ("sandbox.limits.memory_mb", "4096", {"layer": "workspace", "file": "/home/ada/shop/.bailiwick.yaml", "line": 3})]
    return {
        "profile": "dev",
        "layers": [{"name": "built-in profile dev"}, {"name": "managed", "file": "/etc/bailiwick/config.yaml"}, {"name": "user", "file": user}, {"name": "workspace", "file": "/home/ada/shop/.bailiwick.yaml"}],
        "settings": [{"key": key, "value": value, "from": origin} for key, value, origin in settings],
        "rules": [
            {"id": "team.no-publish", "action": "deny", "what": "npm publish, cargo publish", "reason": "releases are made by the pipeline", "from": {"layer": "managed", "file": "/etc/bailiwick/team.yaml", "line": 8}},
            {"id": "always.git-push", "action": "allow", "what": "git push origin (inside the workspace)", "from": {"layer": "user", "file": user, "line": 31}},
            {"id": "ask.migrations", "action": "ask", "what": "write: migrations/**", "reason": "a person looks at every migration", "from": {"layer": "workspace", "file": "/home/ada/shop/.bailiwick.yaml", "line": 11}},
        ],
    }


ALWAYS = {
    "rule": "- name: always.cargo-publish-dry-run\n  action: allow\n  tools: [shell_command]\n  program: cargo\n  subcommand: publish\n  options: [--dry-run]\n  effects: [read_workspace, write_generated, run]\n  inside: workspace\n",
    "also_allows": ["cargo publish --dry-run", "cargo publish --dry-run -p shop-api", "cd api && cargo publish --dry-run"],
    "from_history": ["cargo publish --dry-run -p shop-core  (2 times, last on 14 Nov)"],
    "file": "/home/ada/.config/bailiwick/config.yaml",
}


def everyday(mock):
    """A day's work, so that there is something to see."""
    spread = random.Random(7)
    now = datetime.now(timezone.utc)
    commands = ["cargo test -p shop-api", "rg --files-with-matches 'TODO' src", "git status --short", "git diff HEAD~1 -- src/cart.rs", "npm run lint", "cat src/cart/total.rs", "python3 -m pytest tests/test_cart.py -q", "git commit -m 'Totals are rounded once'", "sed -n '1,80p' src/main.rs", "ls -la target/debug"]
    mock.record("segment", {"format": 1, "segment": 1})
    for index in range(46):
        moment = now - timedelta(seconds=(46 - index) * 41)
        who = spread.choice(["claude-code", "claude-code", "codex", "agent"])
        session = {"claude-code": "claude-7f21", "codex": "codex-02", "agent": "terminal-19690"}[who]
        command = spread.choice(commands)
        call = mock.requested(command, moment=moment, session=session, principal=who)
        mock.finished(call, code=spread.choice([0, 0, 0, 0, 0, 1]), milliseconds=spread.choice([9, 25, 140, 1830, 6200]), moment=moment + timedelta(milliseconds=30), session=session, principal=who)
        if index % 9 == 4:
            mock.denied("sudo systemctl restart nginx", "`systemctl restart nginx` would gain rights: privilege(sudo)", {"id": "safety.effects.privilege", "file": "built-in profile dev"}, moment=moment, session=session, principal=who)
        if index % 14 == 6:
            mock.record("checkpoint", {"records": index * 4, "key": "5f79c8782475a757"}, moment=moment)
    mock.record("grant_added", {"what": "cargo publish --dry-run, for the session", "by": "ada"}, session="claude-7f21")
    mock.record("security_violation", {"reason": "`cat ~/.local/share/bailiwick/keys/token` reached for Bailiwick's own places", "risk": "critical"}, session="codex-02", principal="codex")
    mock.grants = [
        {"id": "g1", "kind": "session", "tool": "shell_command", "what": "cargo publish --dry-run", "session": "claude-7f21", "by": "ada", "since": stamp(now - timedelta(minutes=12)), "seconds_left": 2840},
        {"id": "g2", "kind": "auto", "tool": "file_write", "what": "everything that file_write asks", "session": "codex-02", "by": "ada", "since": stamp(now - timedelta(minutes=3)), "seconds_left": 720},
        {"id": "g3", "kind": "once", "tool": "shell_exec", "what": "git push origin main", "session": "terminal-19690", "by": "ada", "since": stamp(now - timedelta(minutes=1)), "seconds_left": 3540},
    ]


def questions(mock):
    mock.ask("git push --force-with-lease origin main", seconds=58)
    mock.ask("cargo publish --dry-run -p shop-api", seconds=49, level="medium", always=ALWAYS, reason="`cargo publish --dry-run -p shop-api` would reach a host that is not allowed: connect(crates registry)")
    mock.ask("terraform destroy -auto-approve -target=module.database && rm -rf ./state \u202egnp.exe\u202c # harmless\u200b", seconds=118, level="critical", typed=True, choices=["approved", "denied", "abort"], reason="`terraform destroy -auto-approve` would destroy what cannot be got back: history(deletes what terraform manages)")


if __name__ == "__main__":
    server = Mock().start(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    everyday(server)
    questions(server)
    print(f"{server.url()}/#token={server.token}", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        server.stop()
