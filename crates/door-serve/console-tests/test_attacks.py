"""Attacks: 200 hostile texts in every field that is shown run nothing, while a page that is built carelessly runs them (SRV-5)."""

import json

from hostile import INSPECT, LIVE, payloads
from mock_server import CSP

TEXTS = payloads(200)


def clean(page, where):
    result = page.js(INSPECT)
    assert not result["runs"] and not result["violations"] and not result["wrong"], f"{where}: {result}"


def ask_with(mock, text):
    """A question whose every field is the text."""
    return mock.ask(
        text, seconds=300, level="high", reason=text, toolName=text, args={"command": text, text or "empty": text, "cwd": text, "deep": {"list": [text]}}, approval_key=text,
        risk={"level": text, "factors": [text, text]}, effects=[text, f"read({text})", f"history({text})"], rule={"id": text, "file": text, "line": text}, asked_at=text, expires_at=text,
        security_warning={"level": "HIGH", "message": text + " "}, session=text, principal=text, quiet=True,
        choices=["approved", "approved_for_session", "approved_always", "denied", "abort"], always={"rule": text, "also_allows": [text, text], "from_history": [text], "file": text},
    )


def in_questions(bench, batches):
    """Every text of these batches in every field of a question, its dialogs and its outcome; how many questions that were."""
    seen = 0
    for start, end in batches:
        mock = bench.server()
        texts = TEXTS[start:end]
        names = [ask_with(mock, text) for text in texts]
        page = bench.page(mock)
        bench.still(page, len(texts))
        # Everything is opened: details, the dialogs of each card, and an outcome with a hostile name.
        page.js("""(() => {
          for (const details of document.querySelectorAll('details')) details.open = true;
          for (const card of document.querySelectorAll('.card')) card.querySelector('.rest').click();
        })()""")
        page.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        bench.still(page, len(texts))
        page.js("""(async () => {
          window.__dialogs = 0;
          for (const card of document.querySelectorAll('.card')) {
            for (const decision of ['approved_always', ...(window.__dialogs % 5 === 0 ? ['denied'] : [])]) {
              for (let turn = 0; turn < 40 && !document.querySelector('dialog'); turn += 1) {
                card.querySelector(`[data-decision=${decision}]`).click();
                if (!document.querySelector('dialog')) await new Promise((done) => setTimeout(done, 60));
              }
              if (!document.querySelector('dialog')) throw new Error('no dialog opened: ' + decision);
              document.querySelector('dialog header button').click();
              await new Promise((done) => setTimeout(done, 0));
              window.__dialogs += 1;
            }
          }
        })()""")
        assert page.js("window.__dialogs") >= len(texts)
        # The whole text is there, in order: what is spelt out reads as itself again.
        shown = page.js("""[...document.querySelectorAll('.card')].map((card) => card.querySelector('.command').textContent
          .replace(/\\u2039U\\+([0-9A-F]{4,6})\\u203a/g, (_, code) => String.fromCodePoint(parseInt(code, 16))))""")
        for text, back in zip(texts, shown, strict=True):
            assert back.replace("<U+202E>", "\u202e") == text.replace("<U+202E>", "\u202e"), f"changed or cut: {text[:80]!r}: {back[:80]!r}"
        clean(page, f"questions from {start}")
        for name, text in zip(names[:10], texts[:10]):
            mock.settle(name, "denied", text, text)
        page.until("document.querySelectorAll('.done-list li').length === " + str(min(10, len(texts))))
        clean(page, f"outcomes from {start}")
        seen += page.js("document.querySelectorAll('.card').length")
        bench.quiet()
        bench.pages.remove(page)
        page.close()
    return seen


# The very long ones have a page of their own.
BATCHES = [(0, 4), *((start, start + 28) for start in range(4, 200, 28))]


def no_hostile_text_runs_in_a_question_or_its_dialogs(bench):
    assert in_questions(bench, BATCHES[:4]) == 88


def no_other_hostile_text_runs_in_a_question_or_its_dialogs(bench):
    assert in_questions(bench, BATCHES[4:]) == 112


no_hostile_text_runs_in_a_question_or_its_dialogs.weight = 3
no_other_hostile_text_runs_in_a_question_or_its_dialogs.weight = 3


def no_hostile_text_runs_in_any_view(bench):
    mock = bench.server()
    for index, text in enumerate(TEXTS):
        call = text if index < 20 and text.strip() and "/" not in text and len(text) < 200 and text.isprintable() else f"call-{index}"
        more = {"session": text, "principal": text}
        mock.record("tool_call_requested", {
            "tool": text, "request": {"command": text, "cwd": text, "program": text}, "approval_key": text, "decision": "ask", "reason": text,
            "rule": {"id": text, "file": text, "line": text}, "risk": {"level": text, "factors": [text]}, "effects": [text, f"write({text})"], "trace": [text],
        }, call=call, **more)
        mock.record("approval_decided", {"tool": text, "confirmation_id": text, "decision": text, "reason": text, "by": text, "note": text}, call=call, **more)
        mock.record("tool_call_finished", {"tool": text, "outcome": text, "error_kind": text, "by": text, "reason": text, "duration_ms": text, "exit_code": text}, call=call, **more)
        mock.record(text or "empty", {"what": text, "reason": text, "by": text}, **more)
    mock.grants = [{"id": f"g{index}", "kind": text, "tool": text, "what": text, "session": text, "by": text, "since": text, "seconds_left": text} for index, text in enumerate(TEXTS)]
    origin = lambda text: {"layer": text, "file": text, "line": text}
    mock.policy = {
        "profile": TEXTS[9], "layers": [{"name": text, "file": text} for text in TEXTS],
        "settings": [{"key": f"safety.{text}", "value": text, "from": origin(text)} for text in TEXTS],
        "rules": [{"id": text, "action": text, "what": text, "reason": text, "from": origin(text)} for text in TEXTS],
    }
    counts = {text: 5 for text in TEXTS}
    mock.stats = {
        "records": TEXTS[5], "days": {text: {"allow": text, "prompts": text} for text in TEXTS}, "reasons": counts, "rules": counts, "outcomes": counts, "savings": counts,
        "series": [{"from": text, "allow": 1, "ask": text, "deny": 2} for text in TEXTS], "prompts_saved": TEXTS[6],
    }
    page = bench.page(mock)
    for view, ready in [
        ("timeline", "document.querySelectorAll('.rows > li').length >= 100"),
        ("journal", "document.querySelectorAll('.journal-rows > li').length === 100"),
        ("policy", "document.querySelectorAll('.settings > div').length === 200"),
        ("grants", "document.querySelectorAll('.grant').length === 200"),
        ("overview", "document.querySelector('.chart')"),
    ]:
        bench.go(page, view)
        page.until(ready, what=view)
        if view == "journal":
            while page.js("document.querySelectorAll('.journal-rows > li').length") < 800:
                before = page.js("document.querySelectorAll('.journal-rows > li').length")
                page.js("document.querySelector('.list-end button').click()")
                page.until(f"document.querySelectorAll('.journal-rows > li').length > {before}")
        page.js("for (const details of document.querySelectorAll('details')) details.open = true")
        clean(page, view)
    for index in (4, 5, 14, 20, 24, 27, 30, 60, 61, 0, 3):
        call = mock.records[index * 4]["call_id"]
        page.js(f"location.hash = '#/call/' + encodeURIComponent({json.dumps(call)})")
        page.until("document.querySelectorAll('.story .step').length === 3", what=f"the story of {call[:40]}")
        page.js("for (const details of document.querySelectorAll('details')) details.open = true")
        clean(page, f"story {index}")
    # Live, by the stream, and in an error's own words.
    bench.may_say("500")
    for text in TEXTS[4:30]:
        mock.fail_next = (500, text)
        bench.go(page, "grants")
        page.until("document.querySelector('.failure, .grant')")
        clean(page, "an error")
        bench.go(page, "timeline")
    assert not [path for _, path in mock.requests if "canary" in path or path.endswith("/x")], "something was fetched"


no_hostile_text_runs_in_any_view.weight = 2


def what_the_address_holds_is_text_too(bench):
    mock = bench.server()
    page = bench.page(mock)
    for text in TEXTS[4:60]:
        page.js(f"location.hash = '#/journal?q=' + encodeURIComponent({json.dumps(text)}) + '&tool=' + encodeURIComponent({json.dumps(text)})")
        page.js("new Promise((done) => setTimeout(done, 15))")
        page.js(f"location.hash = '#/call/' + encodeURIComponent({json.dumps(text)})")
        page.js("new Promise((done) => setTimeout(done, 15))")
        clean(page, f"address {text[:40]}")


CARELESS = """<!doctype html><title>careless</title><body><script>
window.__texts = %s;
window.__show = () => { for (const text of window.__texts) { const place = document.createElement('div'); place.innerHTML = text; document.body.append(place); } };
%s</script>"""


def a_careless_page_runs_them_so_the_canary_works(bench):
    mock = bench.server()
    safe = lambda texts: json.dumps(texts).replace("</", "<\\/").replace("<!--", "<\\!--")
    mock.extra_pages["/careless"] = (CARELESS % (safe(TEXTS[4:]), "__show();"), None)
    # The same under the console's own content policy, called from outside: nothing runs, and the browser reports each attempt.
    mock.extra_pages["/careless-but-guarded"] = ("<!doctype html><title>guarded</title><body>", CSP)
    page = bench.page()
    page.open(f"{mock.url()}/careless")
    live = [number for number, text in enumerate(TEXTS) if number >= 4 and any(text == template.format(n=number) for template in LIVE)]
    assert len(live) > 60
    page.until(f"{json.dumps(live)}.filter((number) => window.__runs?.includes(number)).length >= {int(0.75 * len(live))}", seconds=15, what="the hostile texts run in a careless page")
    bench.pages.remove(page)
    page.close()
    page = bench.page()
    page.open(f"{mock.url()}/careless-but-guarded")
    page.until("document.title === 'guarded'")
    page.js(f"(() => {{ for (const text of {json.dumps(TEXTS[4:])}) {{ const place = document.createElement('div'); place.innerHTML = text; document.body.append(place); }} }})()")
    page.until("window.__violations.length > 40", seconds=5, what="the browser reports what it refused")
    assert not page.js("window.__runs.length"), "the content policy holds on its own"
    bench.pages.remove(page)
    page.close()


def no_text_becomes_markup_even_by_a_mistake_in_the_page(bench):
    mock = bench.server()
    page = bench.page(mock)
    for statement in ("document.body.innerHTML = '<b>x</b>'", "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')", "document.write('x')"):
        refused = page.js(f"(() => {{ try {{ {statement}; return false; }} catch (error) {{ return error instanceof TypeError; }} }})()")
        assert refused, statement
    page.js("window.__violations.length = 0")
    bench.may_say("TrustedHTML")
