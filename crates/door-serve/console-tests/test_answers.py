"""Answers: what is pressed reaches the server, what nobody meant does not, and what came of it is shown."""

import json

from harness import stays, within
from mock_server import ALWAYS


def card(name):
    return f'[data-question="{name}"]'


def press(name, decision):
    return f'{card(name)} [data-decision="{decision}"]'


def an_approval_by_click_reaches_the_server_once(bench):
    mock = bench.server()
    name = mock.ask("git push --force origin main")
    page = bench.page(mock)
    bench.still(page)
    page.click(press(name, "approved"))
    page.until(f"document.querySelector('{card(name)} [data-outcome=won]')?.textContent.includes('approved once')")
    assert mock.answers == [(name, {"decision": "approved"})], mock.answers
    page.until("document.querySelector('.done-list')?.textContent.includes('git push --force')")


def an_approval_by_key_reaches_the_server(bench):
    mock = bench.server()
    page = bench.page(mock)
    for key, decision in [("a", "approved"), ("s", "approved_for_session")]:
        name = mock.ask(f"make deploy {key}")
        page.until(f"document.querySelector('{card(name)}')")
        bench.still(page)
        page.js(f"document.querySelector('{card(name)}').focus()")
        page.key(key)
        within(5, lambda: mock.answers[-1:] == [(name, {"decision": decision})], f"{decision} by {key}: {mock.answers}")
    assert len(mock.answers) == 2


def a_held_key_answers_one_question_only(bench):
    mock = bench.server()
    names = [mock.ask(f"make deploy {number}") for number in range(3)]
    page = bench.page(mock)
    bench.still(page, 3)
    page.js(f"document.querySelector('{card(names[0])}').focus()")
    page.key("a")
    # The focus goes on to the next card; the same key at once, or held, is not an answer to that one.
    for _ in range(5):
        page.call("Input.dispatchKeyEvent", type="keyDown", key="a", text="a", windowsVirtualKeyCode=65, autoRepeat=True)
    page.until(f"document.activeElement?.dataset.question === '{names[1]}'")
    page.key("a")
    stays(0.3, lambda: len(mock.answers) == 1, f"the next card was answered too: {mock.answers}")
    bench.still(page, 2)
    page.key("a")
    within(3, lambda: [name for name, _ in mock.answers] == names[:2], "the next card after it stood still")


def a_card_that_just_appeared_or_moved_cannot_be_approved(bench):
    mock = bench.server()
    page = bench.page(mock)
    # Pressed in the same moment in which it appears: a script that is faster than any hand.
    page.js("""new MutationObserver((_, watch) => { const button = document.querySelector('.card [data-decision=approved]');
        if (button) { watch.disconnect(); button.click(); window.__pressed = true; } }).observe(document.body, { childList: true, subtree: true });""")
    first = mock.ask("git push --force one")
    page.until("window.__pressed === true")
    stays(0.3, lambda: not mock.answers, "approved while it appeared")
    second = mock.ask("git push --force two")
    bench.still(page, 2)
    # The first one grows, the second moves under the pointer.
    page.js(f"""(() => {{ const more = document.querySelector('{card(first)} details'); more.open = true; return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); }})()""")
    page.js(f"document.querySelector('{press(second, 'approved')}').click()")
    stays(0.3, lambda: not mock.answers, "approved while it moved")
    page.until(f"document.querySelector('{card(second)} .card-note').textContent.includes('just moved')")
    bench.still(page, 2)
    page.click(press(second, "approved"))
    within(3, lambda: [name for name, _ in mock.answers] == [second], "approved after it stood still")


def a_critical_call_wants_the_typed_words(bench):
    mock = bench.server()
    bench.may_say("422")
    name = mock.ask("terraform destroy", level="critical", typed=True, choices=["approved", "denied"])
    page = bench.page(mock)
    bench.still(page)
    assert page.js(f"document.querySelector('{card(name)} .warning strong').textContent") == "CRITICAL"
    red = page.js(f"getComputedStyle(document.querySelector('{card(name)} .warning strong')).backgroundColor")
    assert red == "rgb(201, 42, 49)", red
    assert page.js(f"document.querySelector('{press(name, 'approved')}').getAttribute('aria-disabled')") == "true"
    page.click(press(name, "approved"))
    page.js(f"document.querySelector('{card(name)}').focus()")
    page.key("a")
    page.until("document.activeElement.classList.contains('typed')", what="the key leads to the field")
    for wrong in ("i confirm", "I confirm.", "yes"):
        page.js("document.activeElement.value = ''")
        page.type(wrong)
        page.key("Enter")
    stays(0.3, lambda: not mock.answers, f"approved without the words: {mock.answers}")
    page.js("document.activeElement.value = ''")
    page.type("I confirm")
    assert page.js(f"document.querySelector('{press(name, 'approved')}').hasAttribute('aria-disabled')") is False
    # The server's own check counts: where it refuses, the question stays open and the page says so.
    mock.questions[name]["asked"]["requires_typed_confirmation"] = "something else"
    page.key("Enter")
    page.until(f"document.querySelector('{card(name)} .note.bad')?.textContent.includes('still open')")
    mock.questions[name]["asked"]["requires_typed_confirmation"] = "I confirm"
    page.click(press(name, "approved"))
    within(3, lambda: mock.answers[-1] == (name, {"decision": "approved", "confirmation": "I confirm"}), "the words arrive")
    page.until(f"document.querySelector('{card(name)} [data-outcome=won]')")


def a_denial_takes_its_reason_along(bench):
    mock = bench.server()
    page = bench.page(mock)
    name = mock.ask("git push --force")
    bench.still(page)
    page.js(f"document.querySelector('{card(name)}').focus()")
    page.key("d")
    page.until("document.activeElement?.matches('dialog input')", what="the reason has the focus")
    page.type("use a branch <b>instead</b>")
    page.key("Enter")
    within(3, lambda: mock.answers == [(name, {"decision": "denied", "reason": "use a branch <b>instead</b>"})], "the denial")
    page.until(f"document.querySelector('{card(name)} [data-outcome=won]')?.textContent.includes('denied')")
    other = mock.ask("git push --force again")
    page.until(f"document.querySelector('{card(other)}')")
    bench.still(page)
    page.click(press(other, "abort"))
    page.until("document.querySelector('dialog[open]')")
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    assert len(mock.answers) == 1, "Escape is no answer"
    page.click(press(other, "abort"))
    page.until("document.querySelector('dialog[open] .button.danger')")
    page.click("dialog .button.danger")
    within(3, lambda: mock.answers[-1] == (other, {"decision": "abort"}), "the run is stopped")


def a_question_that_was_settled_elsewhere_shows_the_winner(bench):
    mock = bench.server()
    bench.may_say("409")
    page = bench.page(mock)
    # Told by the stream, before anybody here answers.
    first = mock.ask("git push one")
    bench.still(page)
    mock.settle(first, "denied", "grace")
    page.until(f"document.querySelector('{card(first)} [data-outcome=elsewhere]')?.textContent.includes('denied by grace')")
    # Not told: the answer comes second, and the server says who was first.
    second = mock.ask("git push two")
    page.until(f"document.querySelector('{card(second)}')")
    bench.still(page)
    mock.settle(second, "approved_for_session", "ada at the terminal", told=False)
    page.click(press(second, "approved"))
    text = page.until(f"document.querySelector('{card(second)} [data-outcome=elsewhere]')?.textContent")
    assert "Settled before your answer" in text and "approved for the session by ada at the terminal" in text, text
    assert not page.js(f"document.querySelector('{card(second)} [data-decision]')"), "there is nothing left to press"


def an_answer_that_does_not_arrive_leaves_the_question_open(bench):
    mock = bench.server()
    bench.may_say("503", "ERR_")
    name = mock.ask("git push")
    page = bench.page(mock)
    bench.still(page)
    mock.fail_next = (503, "the journal cannot be written")
    page.click(press(name, "approved"))
    text = page.until(f"document.querySelector('{card(name)} .note.bad')?.textContent")
    assert "still open" in text and "journal cannot be written" in text and "log" in text, text
    page.click(press(name, "approved"))
    page.until(f"document.querySelector('{card(name)} [data-outcome=won]')")


def what_always_would_allow_is_seen_before_it_is_saved(bench):
    mock = bench.server()
    name = mock.ask("cargo publish --dry-run", level="medium", always=ALWAYS)
    plain = mock.ask("git push")
    page = bench.page(mock)
    bench.still(page, 2)
    assert not page.js(f"document.querySelector('{press(plain, 'approved_always')}')"), "not offered, not shown"
    page.js(f"document.querySelector('{card(name)}').focus()")
    page.key("w")
    page.until("document.querySelector('dialog[open]')")
    text = page.js("document.querySelector('dialog').textContent")
    for piece in ["always.cargo-publish-dry-run", *ALWAYS["also_allows"], "2 times, last on 14 Nov", ALWAYS["file"]]:
        assert piece in text, piece
    page.js("document.querySelector('dialog .button.primary').click()")
    stays(0.2, lambda: not mock.answers, "confirmed before it could be read")
    page.key("Escape")
    assert not mock.answers
    page.until("!document.querySelector('dialog')")
    assert page.js("document.activeElement.dataset.question") == name, "the focus comes back"
    page.key("w")
    page.until("document.querySelector('dialog[open] .button.primary:not([aria-disabled])')")
    page.click("dialog .button.primary")
    within(3, lambda: mock.answers == [(name, {"decision": "approved_always"})], "always")


def a_question_whose_time_is_over_says_so(bench):
    mock = bench.server()
    page = bench.page(mock)
    name = mock.ask("git push", seconds=3)
    page.until(f"document.querySelector('{card(name)}')")
    page.until(f"document.querySelector('{card(name)} [data-outcome]')?.textContent.includes('in time: denied')", seconds=14)
    assert not mock.answers


def a_countdown_does_not_care_for_the_date(bench):
    mock = bench.server()
    name = mock.ask("git push", seconds=58)
    page = bench.page(mock)
    bench.still(page)
    page.js("(() => { const real = Date.now; Date.now = () => real() + 3600000 * 24; })()")
    seconds = lambda: int(page.js(f"document.querySelector('{card(name)} .left').textContent").split(":")[1])
    before = seconds()
    page.until(f"Number(document.querySelector('{card(name)} .left').textContent.split(':')[1]) <= {before - 1}", seconds=3)
    assert before - seconds() <= 3 and 40 <= before <= 58, before


def a_long_command_must_have_been_there_to_its_end(bench):
    mock = bench.server()
    command = "echo " + "\n".join(f"line {number}" for number in range(400)) + "; rm -rf the-end"
    name = mock.ask(command)
    page = bench.page(mock)
    bench.still(page)
    page.click(press(name, "approved"))
    stays(0.3, lambda: not mock.answers, "approved without having been seen")
    assert "goes on" in page.js(f"document.querySelector('{card(name)} .rest').textContent")
    assert page.js(f"document.querySelector('{card(name)} .command').textContent") == command, "the whole text is there"
    page.js(f"document.querySelector('{card(name)} .command').scrollTop = 1e6")
    page.until(f"document.querySelector('{card(name)} .rest').classList.contains('end')")
    bench.still(page)
    page.click(press(name, "approved"))
    within(3, lambda: len(mock.answers) == 1, "approved after its end was there")


def the_order_of_cards_never_changes(bench):
    mock = bench.server()
    names = [mock.ask(f"make {number}") for number in range(4)]
    page = bench.page(mock)
    bench.still(page, 4)
    mock.settle(names[1], "denied", "grace")
    names.append(mock.ask("make last"))
    page.until(f"document.querySelector('{card(names[4])}') && document.querySelector('{card(names[1])} [data-outcome]')")
    order = page.js("[...document.querySelectorAll('[data-question]')].map((item) => item.dataset.question)")
    assert order == names, json.dumps(order)
    # It goes when nobody points at the list any more, and the others keep their order.
    page.until(f"!document.querySelector('{card(names[1])}')", seconds=9)
    order = page.js("[...document.querySelectorAll('[data-question]')].map((item) => item.dataset.question)")
    assert order == [name for name in names if name != names[1]], json.dumps(order)


def the_title_and_the_icon_count_what_waits(bench):
    mock = bench.server()
    page = bench.page(mock)
    assert page.js("document.title") == "Pending · Bailiwick"
    assert page.js("document.querySelector('#favicon').getAttribute('href')") == "/icon.svg"
    names = [mock.ask(f"make {number}") for number in range(3)]
    page.until("document.title.startsWith('(3) ')")
    assert page.js("document.querySelector('#favicon').getAttribute('href')") == "/icon-alert.svg"
    bench.go(page, "overview")
    page.until("document.title === '(3) Overview · Bailiwick'")
    for name in names:
        mock.settle(name, "denied", "grace")
    page.until("document.title === 'Overview · Bailiwick'")
