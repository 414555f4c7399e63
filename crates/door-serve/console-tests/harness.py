"""What a test works with: a stand-in server, pages of the one browser, and the checks that hold after every test."""

import time

from hostile import CANARY
from mock_server import Mock


class Bench:
    def __init__(self, browser, binary=None):
        self.browser = browser
        self.binary = binary
        self.mocks = []
        self.pages = []
        self.expected = []

    def server(self):
        mock = Mock().start()
        self.mocks.append(mock)
        return mock

    def page(self, mock=None, address="", inside=True, **more):
        """A tab with the console open in it."""
        page = self.browser.page(scripts=(CANARY,), **more)
        self.pages.append(page)
        if mock:
            page.open(f"{mock.url()}/#token={mock.token}" if inside else f"{mock.url()}/{address}")
            if inside:
                page.until("document.querySelector('#frame:not([hidden])')?.dataset.connection === 'live'", what="the page is live")
                if address:
                    self.go(page, address)
        return page

    def go(self, page, address):
        page.js(f"location.hash = '#/{address}'")
        page.until(f"document.querySelector('main').dataset.view === '{address.split('?')[0].split('/')[0]}'")

    def still(self, page, count=1):
        """Waits until so many cards have stood still."""
        page.until(f"document.querySelectorAll('.card:not(.settled)').length >= {count}", what=f"{count} cards")
        page.until("!document.querySelector('.card.settling')", what="cards stand still")

    def may_say(self, *words):
        """What the browser may complain of in this test: refused requests, a server that is away."""
        self.expected += words

    def complaints(self):
        return [line for page in self.pages for line in page.complaints() if not any(word in line for word in self.expected)]

    def quiet(self):
        """After every test: the page threw nothing, ran nothing foreign, and the browser refused nothing."""
        for page in self.pages:
            state = page.js("({ runs: window.__runs, violations: window.__violations })") or {}
            assert not state.get("runs"), f"foreign code ran: {state['runs']}"
            assert not state.get("violations"), f"the content policy was violated: {state['violations']}"
        assert not self.complaints(), f"the page complains: {self.complaints()}"

    def end(self):
        for page in self.pages:
            page.close()
        for mock in self.mocks:
            mock.stop()


def within(seconds, check, what):
    """Waits for a check of the server's side."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.02)
    raise AssertionError(f"did not happen in {seconds} s: {what}")


def stays(seconds, check, what):
    """Something must not happen for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert check(), what
        time.sleep(0.05)
