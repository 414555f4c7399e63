"""Screenshots of every view, to be looked at: python3 shots.py DIRECTORY."""

import sys
import time
from pathlib import Path

from browser import Browser
from mock_server import Mock, everyday, questions


def main(where):
    where.mkdir(parents=True, exist_ok=True)
    mock = Mock().start()
    everyday(mock)
    questions(mock)
    browser = Browser()
    try:
        for name, width, height, phone, scheme in [("dark", 1440, 900, False, "dark"), ("light", 1440, 900, False, "light"), ("phone", 390, 844, True, "dark"), ("small", 360, 740, True, "light")]:
            page = browser.page(width, height, phone, scheme)
            page.open(f"{mock.url()}/#token={mock.token}")
            page.until("document.querySelectorAll('.card').length >= 3")
            time.sleep(0.7)
            page.screenshot(where / f"{name}-pending.png")
            page.screenshot(where / f"{name}-pending-whole.png", whole=True)
            time.sleep(0.6)
            page.js("document.querySelectorAll('.card')[1].focus()")
            page.key("w")
            page.until("document.querySelector('dialog[open]')")
            time.sleep(0.6)
            page.screenshot(where / f"{name}-always.png")
            page.key("Escape")
            page.key("d")
            time.sleep(0.3)
            page.screenshot(where / f"{name}-deny.png")
            page.key("Escape")
            page.key("?")
            time.sleep(0.3)
            page.screenshot(where / f"{name}-keys.png")
            page.key("Escape")
            for view in ("timeline", "journal", "overview", "policy", "grants"):
                page.js(f"location.hash = '#/{view}'")
                time.sleep(0.6)
                page.screenshot(where / f"{name}-{view}.png")
            page.js(f"location.hash = '#/call/{mock.records[3]['call_id']}'")
            time.sleep(0.5)
            page.screenshot(where / f"{name}-story.png")
            page.js("sessionStorage.clear()")
            page.open(f"{mock.url()}/?again")
            page.until("document.querySelector('.gate-card')")
            page.screenshot(where / f"{name}-signin.png")
            for line in page.complaints():
                print(name, line)
            page.close()
    finally:
        browser.close()
        mock.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "/tmp/console-shots"))
