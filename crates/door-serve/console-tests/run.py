#!/usr/bin/env python3
"""The console in a real browser: python3 run.py [--binary PATH] [--only WORD] [--list]

Without --binary everything runs against a stand-in for the server; with it, one more test lets the real `bailiwick serve`
ask, presses the button, and sees that the waiting call ran. Ends with a code other than 0 if anything failed. Ends all that
it started.
"""

import argparse
import os
import signal
import sys
import time
import traceback

import against_binary
import test_answers
import test_attacks
import test_reading
import test_reach
from browser import Browser
from harness import Bench

LIMIT = 115


def main():
    options = argparse.ArgumentParser(description="Tests the console in Chromium.")
    options.add_argument("--binary", help="a built bailiwick")
    options.add_argument("--only", default="", help="only tests whose name has this word")
    options.add_argument("--list", action="store_true", help="only name the tests")
    chosen = options.parse_args()
    modules = [test_answers, test_reading, test_reach, test_attacks] + ([against_binary] if chosen.binary else [])
    tests = [
        (name, value) for module in modules for name, value in vars(module).items()
        if name.startswith(("a_", "an_", "the_", "what_", "who_", "every_", "no_", "it_")) and callable(value) and chosen.only in name
    ]
    if chosen.list:
        print("\n".join(name for name, _ in tests))
        return 0

    def too_long(*_):
        raise TimeoutError(f"the tests took more than {LIMIT} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(LIMIT)
    began = time.monotonic()
    failed = 0
    browser = Browser()
    try:
        for name, test in tests:
            bench = Bench(browser, chosen.binary and os.path.abspath(chosen.binary))
            start = time.monotonic()
            try:
                test(bench)
                bench.quiet()
                print(f"ok    {name.replace('_', ' ')} ({time.monotonic() - start:.1f} s)", flush=True)
            except TimeoutError:
                raise
            except Exception:
                failed += 1
                print(f"FAIL  {name.replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
                for line in bench.complaints():
                    print(f"      the page says: {line[:400]}")
            finally:
                bench.end()
    finally:
        signal.alarm(0)
        browser.close()
    print(f"{len(tests) - failed} of {len(tests)} tests of the console passed in {time.monotonic() - began:.0f} s")
    if not tests:
        print("no test has that name")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
