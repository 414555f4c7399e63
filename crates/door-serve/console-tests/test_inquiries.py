"""What agents ask a person: it appears with its choices, what is chosen or typed reaches the server, and nothing in it runs."""

from harness import stays, within
from hostile import INSPECT, payloads

COLOUR = {"id": "answer", "question": "Which colour?", "options": [{"label": "red"}, {"label": "green", "description": "as before"}], "takes_words": False}
NAME = {"id": "name", "header": "Name", "question": "Which name?", "options": [], "takes_words": True}


def card(name):
    return f'[data-inquiry="{name}"]'


def press(name, what):
    return f'{card(name)} [data-inquiry-action="{what}"]'


def a_choice_and_words_reach_the_agent(bench):
    mock = bench.server()
    page = bench.page(mock)
    name = mock.inquire(COLOUR, NAME, context={"for": "the door"})
    page.until(f"document.querySelector('{card(name)}')?.textContent.includes('Which colour?')")
    assert "the door" in page.js(f"document.querySelector('{card(name)}').textContent")
    page.until("document.title.startsWith('(1)')", what="the number of what waits")
    # An answer is all of it.
    page.click(press(name, "answer"))
    page.click(f"{card(name)} input[value='2']")
    page.click(press(name, "answer"))
    stays(0.3, lambda: not mock.answers, f"half an answer was sent: {mock.answers}")
    page.js(f"document.querySelector('{card(name)} input.words').focus()")
    # Letters that are keys elsewhere are letters here.
    page.type("dax")
    page.key("Enter")
    within(5, lambda: mock.answers == [(name, {"answers": {"answer": 2, "name": "dax"}})], f"the answer: {mock.answers}")
    page.until(f"!document.querySelector('{card(name)}')", what="it is answered")
    page.until("!document.title.startsWith('(')")


def an_inquiry_can_be_declined_and_goes_when_it_is_over(bench):
    mock = bench.server()
    page = bench.page(mock)
    name = mock.inquire(COLOUR)
    page.until(f"document.querySelector('{card(name)}')")
    page.click(press(name, "decline"))
    within(5, lambda: mock.answers == [(name, {"declined": True})], f"declined: {mock.answers}")
    name = mock.inquire(NAME)
    page.until(f"document.querySelector('{card(name)}')")
    mock.close_inquiry(name)
    page.until(f"!document.querySelector('{card(name)}')", what="it is over")
    # After a break the page knows again what waits, once.
    name = mock.inquire(NAME)
    page.until(f"document.querySelector('{card(name)}')")
    mock.drop_streams()
    page.until("document.querySelector('#frame').dataset.connection !== 'live'")
    page.until("document.querySelector('#frame').dataset.connection === 'live'")
    page.until(f"document.querySelectorAll('{card(name)}').length === 1")


def a_card_that_an_inquiry_moves_must_stand_still_again(bench):
    mock = bench.server()
    question = mock.ask("git push --force origin main")
    page = bench.page(mock)
    bench.still(page)
    # Pressed in the same moment in which the inquiry has moved the card: nobody can have meant that.
    page.js(f"""window.__pressed = new Promise((done) => new MutationObserver((_, watcher) => {{
      watcher.disconnect();
      document.querySelector('[data-question="{question}"] [data-decision=approved]').click();
      done(true);
    }}).observe(document.querySelector('.inquiries'), {{ childList: true }})); 0""")
    mock.inquire(COLOUR)
    assert page.js("window.__pressed") is True
    stays(0.3, lambda: not mock.answers, f"a card that moved was answered: {mock.answers}")
    bench.still(page)
    page.click(f'[data-question="{question}"] [data-decision="approved"]')
    within(5, lambda: mock.answers == [(question, {"decision": "approved"})], "control: it is answered when it stands still")


def no_hostile_text_runs_in_an_inquiry(bench):
    texts = payloads(200)[4:]
    for start in range(0, len(texts), 49):
        mock = bench.server()
        some = texts[start:start + 49]
        for text in some:
            mock.inquire({"id": text, "header": text, "question": text, "options": [{"label": text, "description": text}], "takes_words": True}, toolName=text, context={text: text}, session=text, principal=text, expires_at=text)
        page = bench.page(mock)
        page.until(f"document.querySelectorAll('[data-inquiry]').length === {len(some)}")
        result = page.js(INSPECT)
        assert not result["runs"] and not result["violations"] and not result["wrong"], f"from {start}: {result}"
        bench.quiet()
        bench.pages.remove(page)
        page.close()
