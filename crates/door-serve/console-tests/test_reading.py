"""Reading: the timeline, stories, the journal, the policy, grants and figures."""

from harness import within
from mock_server import everyday


def the_stream_has_no_gap_and_no_repeat_over_reconnects(bench):
    mock = bench.server()
    bench.may_say("ERR_")
    page = bench.page(mock, "timeline")
    total = 240
    for number in range(total):
        call = mock.requested(f"step {number}")
        mock.finished(call)
        if number % 20 == 7:
            before = len(mock.stream_starts)
            mock.drop_streams()
            if number % 40 == 7:
                within(12, lambda: len(mock.stream_starts) > before, "the page comes again")
                page.until("document.querySelector('#frame').dataset.connection === 'live'", seconds=12)
    try:
        page.until(f"document.querySelectorAll('.rows [data-call]').length === {total}", seconds=30)
    except AssertionError:
        rows = page.js("document.querySelectorAll('.rows [data-call]').length")
        raise AssertionError(f"{rows} of {total} calls have a row; {page.js('document.querySelector(`#frame`).dataset.connection')}; streams began after {mock.stream_starts}") from None
    texts = page.js("[...document.querySelectorAll('.rows [data-call]')].map((row) => row.querySelector('.row-command').textContent)")
    assert texts == [f"step {number}" for number in reversed(range(total))], "in order, each once"
    page.until("[...document.querySelectorAll('.rows [data-call] .row-state')].every((state) => state.textContent === 'done')", what="every call is seen to end")
    assert len(mock.stream_starts) >= 5, "there were reconnects"
    assert all(start is not None for start in mock.stream_starts), f"every reconnect says where it was: {mock.stream_starts}"


def the_timeline_is_bounded_and_does_not_push_a_reader_about(bench):
    mock = bench.server()
    for number in range(330):
        mock.finished(mock.requested(f"old {number}"))
    page = bench.page(mock, "timeline")
    for number in range(300):
        mock.requested(f"new {number}")
    page.until("document.querySelectorAll('.rows > li').length === 300", what="300 rows")
    page.js("window.scrollTo(0, 600)")
    page.until("window.scrollY > 500")
    mock.requested("the very latest")
    page.until("!document.querySelector('.fresh').hidden", what="new rows wait")
    assert "the very latest" not in page.js("document.querySelector('.rows').textContent")
    page.click(".fresh")
    page.until("document.querySelector('.rows > li').textContent.includes('the very latest')")


def a_server_that_is_away_is_seen_and_found_again(bench):
    mock = bench.server()
    bench.may_say("ERR_")
    page = bench.page(mock)
    mock.down = True
    mock.drop_streams()
    page.until("!document.querySelector('#notice').hidden && document.querySelector('#notice').textContent.includes('not heard')", seconds=6)
    assert page.js("document.querySelector('.heard').textContent").startswith(("Offline", "Connecting"))
    name = mock.ask("asked meanwhile")
    mock.down = False
    page.click("#notice button")
    page.until(f"document.querySelector('[data-question=\"{name}\"]')", seconds=6, what="what was asked meanwhile is there")
    page.until("document.querySelector('#notice').hidden")


def a_story_has_every_record_in_order_and_goes_on_by_itself(bench):
    mock = bench.server()
    name = mock.ask("git push --force")
    call = mock.questions[name]["call"]
    page = bench.page(mock, f"call/{call}")
    page.until("document.querySelectorAll('.story .step').length === 2")
    mock.settle(name, "approved", "grace", "looks right")
    page.until("document.querySelectorAll('.story .step').length === 5", what="the rest arrives by itself")
    titles = page.js("[...document.querySelectorAll('.story h3')].map((title) => title.textContent)")
    assert titles == ["Asked for, and judged", "A person is asked", "Answered", "Started", "Ended"], titles
    text = page.js("document.querySelector('main').textContent")
    for piece in ["git push --force", "claude-code", "claude-7f21", "safety.effects.history", "config.yaml:12", call, "approved once", "by grace", "looks right", "exit code 0", mock.records[0]["payload"]["approval_key"]]:
        assert piece in text, piece
    bench.go(page, "call/does-not-exist")
    page.until("document.querySelector('.empty')?.textContent.includes('no such call')")


def the_journal_is_searched_filtered_and_paged(bench):
    mock = bench.server()
    for number in range(130):
        mock.requested(f"grep needle-{number} file")
    mock.denied("sudo ls", "gains rights", {"id": "safety.effects.privilege"})
    page = bench.page(mock, "journal")
    page.until("document.querySelectorAll('.journal-rows > li').length === 100")
    page.click(".list-end button")
    page.until("document.querySelectorAll('.journal-rows > li').length === 132")
    page.key("/")
    page.until("document.activeElement.type === 'search'")
    page.type("needle-77 ")
    page.key("Enter")
    page.until("document.querySelectorAll('.journal-rows > li').length === 1")
    assert "needle-77" in page.js("document.querySelector('.journal-rows').textContent")
    assert page.js("location.hash") == "#/journal?q=needle-77"
    page.js("document.querySelector('input[type=search]').value = 'no such thing'")
    page.js("document.querySelector('.filters').requestSubmit()")
    page.until("document.querySelector('.empty')?.textContent.includes('Nothing matches')")
    page.js("document.querySelector('input[type=search]').value = ''")
    page.js("(() => { const list = document.querySelector('select[name=decision]'); list.value = 'deny'; list.dispatchEvent(new Event('change')); })()")
    page.until("document.querySelectorAll('.journal-rows > li').length === 1 && document.querySelector('.journal-rows').textContent.includes('sudo ls')")
    page.key("Escape", "j", "Enter")
    page.until("document.querySelector('main').dataset.view === 'call'")


def every_line_of_the_policy_says_where_it_came_from(bench):
    mock = bench.server()
    page = bench.page(mock, "policy")
    page.until("document.querySelector('.table')")
    text = page.js("document.querySelector('main').textContent")
    for piece in ["built-in profile dev", "/etc/bailiwick/team.yaml:8", "/home/ada/.config/bailiwick/config.yaml:31", "/home/ada/shop/.bailiwick.yaml:3", "releases are made by the pipeline"]:
        assert piece in text, piece
    rows = page.js("[...document.querySelectorAll('.settings > div')].filter((row) => !row.querySelector('.origin').textContent.trim()).length")
    assert rows == 0, "a setting without its origin"
    page.key("/")
    page.type("memory_mb")
    page.until("document.querySelectorAll('.settings > div').length === 1")


def a_grant_is_taken_back(bench):
    mock = bench.server()
    everyday(mock)
    page = bench.page(mock, "grants")
    page.until("document.querySelectorAll('.grant').length === 3")
    page.click('[data-grant="g2"] button')
    page.until("document.querySelectorAll('.grant').length === 2")
    assert [grant["id"] for grant in mock.grants] == ["g1", "g3"]
    assert ("DELETE", "/v1/grants/g2") in mock.requests
    page.js("document.querySelector('[data-grant=g1]').focus()")
    page.key("x")
    within(3, lambda: len(mock.grants) == 1, "taken back by key")


def the_figures_are_drawn_and_written(bench):
    mock = bench.server()
    mock.stats = {
        "records": 9, "days": {"2026-11-16": {"allow": 5, "ask": 3, "deny": 1, "prompts": 3, "approved": 2}}, "reasons": {"a reason": 3}, "rules": {"r": 9}, "outcomes": {"finished": 7}, "savings": {"git push": 2},
        "series": [{"from": "2026-11-16T10:00:00Z", "allow": 4, "ask": 2, "deny": 0}, {"from": "2026-11-16T10:15:00Z", "allow": 1, "ask": 1, "deny": 1}], "prompts_saved": 6,
    }
    page = bench.page(mock, "overview")
    page.until("document.querySelectorAll('.chart rect.allow').length === 2")
    assert page.js("[document.querySelectorAll('.chart rect.ask').length, document.querySelectorAll('.chart rect.deny').length]") == [2, 1]
    heights = page.js("[...document.querySelectorAll('.chart rect.allow')].map((bar) => Number(bar.getAttribute('height')))")
    assert 3 < heights[0] / heights[1] < 5, heights
    cells = page.js("[...document.querySelectorAll('.figure .figures tbody tr')].map((row) => [...row.children].slice(1).map((cell) => cell.textContent))")
    assert cells == [["4", "2", "0"], ["1", "1", "1"]], cells
    tiles = page.js("[...document.querySelectorAll('.tile .big')].map((tile) => tile.textContent)")
    assert tiles == ["9", "56 %", "6", "3", "1"], tiles
    assert "5 allowed, 3 asked, 1 denied" in page.js("document.querySelector('.chart').getAttribute('aria-label')")
    page.js("[...document.querySelectorAll('.segment')][1].click()")
    within(3, lambda: ("GET", "/v1/stats?since=7d") in mock.requests, "another time")


def what_is_empty_teaches_and_what_fails_says_what_to_do(bench):
    mock = bench.server()
    bench.may_say("503", "500")
    mock.stats = {"series": []}
    page = bench.page(mock)
    for view, words in [("pending", "Nothing waits for you"), ("timeline", "Nothing has happened yet"), ("journal", "The journal is empty"), ("grants", "No grants hold"), ("overview", "No decisions in this time")]:
        bench.go(page, view)
        page.until(f"document.querySelector('.empty h2')?.textContent === '{words}'", what=view)
        assert len(page.js("document.querySelector('.empty p').textContent")) > 40
    mock.fail_next = (500, "the policy cannot be read: line 3")
    bench.go(page, "policy")
    text = page.until("document.querySelector('.failure')?.textContent")
    assert "line 3" in text and "log" in text
    page.click(".failure button")
    page.until("document.querySelector('.table')")
