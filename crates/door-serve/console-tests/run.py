#!/usr/bin/env python3
"""The console in a real browser: python3 run.py [--binary PATH | --built] [--only WORD] [--list]

Without a binary everything runs against a stand-in for the server; with one, more tests let the real `bailiwick serve` ask,
press the button, and see that the waiting call ran. Ends with a code other than 0 if anything failed. Ends all that
it started.
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback

import against_binary
import test_answers
import test_attacks
import test_inquiries
import test_reading
import test_reach
from browser import Browser
from harness import Bench

LIMIT = 115
WORKERS = 3


def main():
    options = argparse.ArgumentParser(description="Tests the console in Chromium.")
    options.add_argument("--binary", help="a built bailiwick")
    options.add_argument("--built", action="store_true", help="the bailiwick that `cargo build` made")
    options.add_argument("--only", default="", help="only tests whose name has this word")
    options.add_argument("--list", action="store_true", help="only name the tests")
    chosen = options.parse_args()
    if chosen.built:
        told = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], check=True, capture_output=True, timeout=60).stdout
        chosen.binary = os.path.join(json.loads(told)["target_directory"], "debug", "bailiwick")
    modules = [test_answers, test_inquiries, test_reading, test_reach, test_attacks] + ([against_binary] if chosen.binary else [])
    tests = [
        (name, value) for module in modules for name, value in vars(module).items()
        if name.startswith(("a_", "an_", "the_", "what_", "who_", "every_", "no_", "it_")) and callable(value) and chosen.only in name
    ]
    if chosen.list:
        print("\n".join(name for name, _ in tests))
        return 0

    began = time.monotonic()
    waiting = queue.SimpleQueue()
    for test in sorted(tests, key=lambda test: -getattr(test[1], "weight", 0)):
        waiting.put(test)
    browsers = []
    results = {}

    def work():
        """One browser, and tests until there are none left."""
        browser = Browser()
        browsers.append(browser)
        while True:
            try:
                name, test = waiting.get_nowait()
            except queue.Empty:
                return
            bench = Bench(browser, chosen.binary and os.path.abspath(chosen.binary))
            start = time.monotonic()
            try:
                test(bench)
                bench.quiet()
                results[name] = True
                print(f"ok    {name.replace('_', ' ')} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception:
                said = "".join(f"      the page says: {line[:400]}\n" for line in bench.complaints())
                results[name] = False
                print(f"FAIL  {name.replace('_', ' ')}\n{traceback.format_exc()}{said}", flush=True)
            finally:
                bench.end()

    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(WORKERS, len(tests)))]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(max(0.1, LIMIT - (time.monotonic() - began)))
    finally:
        for browser in browsers:
            browser.close()
    passed = sum(results.values())
    for name, _ in tests:
        if name not in results:
            print(f"FAIL  {name.replace('_', ' ')}: no result in {LIMIT} s")
    print(f"{passed} of {len(tests)} tests of the console passed in {time.monotonic() - began:.0f} s")
    return 0 if tests and passed == len(tests) else 1


if __name__ == "__main__":
    sys.exit(main())
