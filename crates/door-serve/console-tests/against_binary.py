"""The real `bailiwick serve`: a call waits, somebody presses the button in the browser, the call runs."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request


class Served:
    """A server with homes of its own, which end with it."""

    def __init__(self, binary):
        self.home = tempfile.mkdtemp(prefix="console-served-")
        self.work = os.path.join(self.home, "work")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.home, "XDG_CONFIG_HOME": f"{self.home}/config", "XDG_STATE_HOME": f"{self.home}/state", "XDG_DATA_HOME": f"{self.home}/data",
            "XDG_CACHE_HOME": f"{self.home}/cache", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com", "LANG": "C.UTF-8",
        }
        os.makedirs(self.work)
        self.git("init", "-q", "-b", "main", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        os.makedirs(f"{self.home}/config/bailiwick")
        with open(f"{self.home}/config/bailiwick/config.yaml", "w", encoding="utf-8") as file:
            file.write("profile: dev\nrun: {human_timeout_ms: 30000}\n")
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0"], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.said = []
        self.url = None
        found = threading.Event()

        def listen():
            for line in self.process.stderr:
                self.said.append(line)
                place = re.search(r"http://[0-9.:]+", line)
                if place and not self.url:
                    self.url = place.group(0)
                    found.set()
            found.set()

        threading.Thread(target=listen, daemon=True).start()
        if not found.wait(20) or not self.url:
            self.end()
            raise AssertionError(f"the server did not start: {self.said}")
        with open(f"{self.home}/data/bailiwick/keys/token", encoding="ascii") as file:
            self.token = file.read().strip()

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.work, env=self.environment, check=True, capture_output=True, text=True, timeout=20).stdout

    def ask(self, method, path, body=None, timeout=60):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def call(self, command):
        """A call in the background; what comes of it is in the list."""
        return self.background({"tool": "shell_command", "args": {"command": command}, "session": "e2e", "cwd": self.work})

    def background(self, body):
        result = []
        thread = threading.Thread(target=lambda: result.append(self.ask("POST", "/v1/calls", body)), daemon=True)
        thread.start()
        return thread, result

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        shutil.rmtree(self.home, ignore_errors=True)


@contextlib.contextmanager
def _watched(bench):
    """A real server, and a page that is connected to it."""
    # The page outlives its server by a moment.
    bench.may_say("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
    server = Served(bench.binary)
    try:
        page = bench.page()
        page.open(f"{server.url}/#token={server.token}")
        page.until("document.querySelector('#frame:not([hidden])')?.dataset.connection === 'live'")
        yield server, page
    finally:
        server.end()


def an_approval_in_the_browser_lets_the_waiting_call_run(bench):
    with _watched(bench) as (server, page):
        # What asks under the built-in profile, and leaves a trace that can be seen from outside.
        doomed = os.path.join(server.work, "drafts", "old")
        os.makedirs(doomed)

        waiting, result = server.call("rm -rf drafts")
        page.until("document.querySelector('.card:not(.settling) .command')?.textContent.includes('rm -rf drafts')", what=f"the question of the real server: {result}")
        assert not result and os.path.isdir(doomed), "nothing runs before the answer"
        bench.still(page)
        page.click('.card [data-decision="approved"]')
        page.until("document.querySelector('.card [data-outcome=won]')", what="the answer won")
        waiting.join(30)
        assert result, "the call is still waiting"
        code, answer = result[0]
        assert code == 200 and answer["ok"] is True and answer["exit_code"] == 0, (code, answer)
        assert not os.path.exists(os.path.dirname(doomed)), "it ran"
        os.makedirs(doomed)

        # A no: the call comes back refused, with the reason, and nothing has run.
        waiting, result = server.call("rm -r -f drafts/old")
        page.until("[...document.querySelectorAll('.card:not(.settled) .command')].some((box) => box.textContent.includes('drafts/old'))", what=f"the second question: {result}")
        bench.still(page)
        page.js("document.querySelector('.card:not(.settled)').focus()")
        page.key("d")
        page.until("document.activeElement?.matches('dialog input')")
        page.type("not in my repository")
        page.key("Enter")
        waiting.join(30)
        code, answer = result[0]
        assert answer.get("ok") is not True and "not in my repository" in json.dumps(answer), (code, answer)
        assert os.path.isdir(doomed), "it did not run"

        # Every view reads the real server's answers.
        for view, ready in [
            ("timeline", "document.querySelectorAll('.rows [data-call]').length >= 2 && document.querySelector('.rows').textContent.includes('done')"),
            ("journal", "document.querySelectorAll('.journal-rows > li').length > 5"),
            ("policy", "document.querySelectorAll('.settings > div').length > 10"),
            ("overview", "document.querySelector('.chart rect.ask')"),
            ("grants", "!document.querySelector('main .loading') && document.querySelector('main').dataset.view === 'grants'"),
        ]:
            bench.go(page, view)
            page.until(ready, what=f"{view} of the real server")
            assert not page.js("document.querySelector('.failure')?.textContent"), f"{view}: {page.js('document.querySelector(`.failure`)?.textContent')}"
        bench.go(page, "timeline")
        page.js("document.querySelector('.rows [data-call]:last-child a').click()")
        titles = page.until("(() => { const all = [...document.querySelectorAll('.story h3')].map((title) => title.textContent); return all.length === 5 && all; })()", what="the whole story")
        assert titles == ["Asked for, and judged", "A person is asked", "Answered", "Started", "Ended"], titles
        headers = urllib.request.urlopen(server.url + "/", timeout=5).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'"), headers["Content-Security-Policy"]


def a_session_grant_given_in_the_browser_covers_the_next_call_until_it_is_taken_back(bench):
    with _watched(bench) as (server, page):
        command = "rm -rf drafts"
        waiting, result = server.call(command)
        page.until("document.querySelector('.card [data-decision=approved_for_session]')", what=f"the question: {result}")
        bench.still(page)
        page.key("s")
        waiting.join(30)
        assert result and result[0][1]["ok"] is True, result
        waiting, result = server.call(command)
        waiting.join(30)
        assert result and result[0][1]["ok"] is True, f"covered by the grant: {result}"
        bench.go(page, "grants")
        page.until("document.querySelector('.grant')")
        page.click(".grant button")
        page.until("document.querySelector('.empty')", what="the grant is gone")
        bench.go(page, "pending")
        waiting, result = server.call(command)
        page.until("document.querySelector('.card:not(.settled)')", what="asked again")
        assert not result
        bench.still(page)
        page.key("d")
        page.until("document.activeElement?.matches('dialog input')")
        page.key("Enter")
        waiting.join(30)
        assert result and result[0][1].get("ok") is not True, result


def what_an_agent_asks_is_answered_in_the_browser(bench):
    with _watched(bench) as (server, page):
        waiting, result = server.background({"tool": "ask_human", "args": {"question": "Which colour?", "choices": ["red", "green"]}})
        page.until("document.querySelector('[data-inquiry]')?.textContent.includes('Which colour?')", what=f"the agent's question: {result}")
        assert not result
        page.click("[data-inquiry] input[value='2']")
        page.click('[data-inquiry-action="answer"]')
        waiting.join(20)
        assert result and result[0][0] == 200 and result[0][1]["data"]["answers"]["answer"] == {"answer": "green", "choice": 2}, result
        page.until("!document.querySelector('[data-inquiry]')")


def who_closes_the_page_is_no_longer_asked(bench):
    with _watched(bench) as (server, page):
        bench.pages.remove(page)
        page.close()
        time.sleep(1)
        waiting, result = server.call("rm -rf drafts")
        waiting.join(15)
        assert result, "a question without anybody to ask must be refused at once"
        assert result[0][1].get("ok") is not True , result


def a_question_of_another_process_is_approved_for_its_next_try(bench):
    with _watched(bench) as (server, page):
        drafts = os.path.join(server.work, "drafts")
        os.makedirs(drafts)
        run = lambda: subprocess.run([bench.binary, "exec", "--", "rm", "-rf", "drafts"], cwd=server.work, env=server.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        # It may wait for the answer itself, or be refused and tried again: both end with the directory gone.
        first = []
        thread = threading.Thread(target=lambda: first.append(run()), daemon=True)
        thread.start()
        page.until("document.querySelector('.card .chip')?.textContent && document.querySelector('.card').textContent.includes('another process')", seconds=15, what="the other process's question")
        assert os.path.isdir(drafts)
        bench.still(page)
        page.click('.card [data-decision="approved"]')
        page.until("document.querySelector('.card [data-outcome=won]')", what="the answer won")
        thread.join(30)
        assert first, "the other process hangs"
        if first[0].returncode != 0:
            assert os.path.isdir(drafts), "refused and run"
            second = run()
            assert second.returncode == 0, second.stderr
        assert not os.path.exists(drafts), "it ran"
