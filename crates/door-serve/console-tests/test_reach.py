"""Reach: keys, screen readers, narrow screens, dark and light, and the way in."""

import time

from harness import within
from mock_server import CONSOLE, everyday, questions

VIEWS = ["pending", "timeline", "journal", "overview", "policy", "grants"]


def every_view_is_reached_and_left_by_keys(bench):
    mock = bench.server()
    everyday(mock)
    questions(mock)
    page = bench.page(mock)
    bench.still(page, 3)
    names = list(mock.questions)
    page.until(f"document.activeElement?.dataset.question === '{names[0]}'", what="the first question has the focus")
    for key, place in [("j", 1), ("j", 2), ("j", 2), ("k", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("k", 0)]:
        page.key(key)
        page.until(f"document.activeElement?.dataset.question === '{names[place]}'", what=f"{key} leads to card {place}")
    page.key("Enter")
    page.until(f"document.querySelector('[data-question=\"{names[0]}\"] details').open")
    for letter, view in [("t", "timeline"), ("j", "journal"), ("o", "overview"), ("r", "policy"), ("g", "grants"), ("p", "pending")]:
        page.key("g", letter)
        page.until(f"document.querySelector('main').dataset.view === '{view}' && document.querySelector('[aria-current]').getAttribute('href') === '#/{view}'", what=view)
        if view != "pending":
            page.until("document.activeElement?.tagName === 'H1'", what="the title has the focus")
    page.key("g", "t")
    page.until("document.querySelector('.rows [data-call]')")
    page.key("j", "j", "Enter")
    page.until("document.querySelector('main').dataset.view === 'call'", what="a row opens")
    page.key("Escape")
    page.until("document.querySelector('main').dataset.view === 'timeline'", what="back")
    page.key("?")
    page.until("document.querySelector('dialog[open] h2')?.textContent === 'Keys'")
    page.key("a")
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    page.key("/")
    page.until("document.activeElement?.type === 'search'", what="search")
    page.key("a", "d", "g", "t")
    assert page.js("document.activeElement.value") == "adgt", "keys are text in a field"
    assert not mock.answers


def the_single_keys_can_be_switched_off(bench):
    mock = bench.server()
    name = mock.ask("make")
    page = bench.page(mock)
    bench.still(page)
    page.key("?")
    page.until("document.querySelector('dialog input[type=checkbox]')")
    page.click("dialog input[type=checkbox]")
    page.key("Escape")
    page.until("!document.querySelector('dialog')")
    page.js(f"document.querySelector('[data-question=\"{name}\"]').focus()")
    page.key("a")
    time.sleep(0.3)
    assert not mock.answers
    page.js("localStorage.clear()")
    page.key("a")
    within(3, lambda: len(mock.answers) == 1, "switched on again")


def every_control_has_a_name_and_every_view_its_landmarks(bench):
    mock = bench.server()
    everyday(mock)
    questions(mock)
    page = bench.page(mock)
    bench.still(page, 3)
    roles = {"button", "link", "textbox", "searchbox", "checkbox", "combobox", "dialog", "region", "article", "img", "image", "navigation"}
    seen = 0
    for view in [*VIEWS, f"call/{mock.records[3]['call_id']}"]:
        bench.go(page, view)
        page.until("!document.querySelector('main .loading')")
        tree = page.accessible()
        for role, name, node in tree:
            if role in roles:
                seen += 1
                assert name.strip(), f"{view}: a {role} without a name: {node}"
        found = {role for role, _, _ in tree}
        assert {"main", "navigation", "banner", "heading"} <= found, f"{view}: {found}"
        heads = page.js("[...document.querySelectorAll('main :is(h1,h2,h3)')].map((head) => Number(head.tagName[1]))")
        assert heads[0] == 1 and heads.count(1) == 1, f"{view}: {heads}"
        assert all(after - before <= 1 for before, after in zip(heads, heads[1:])), f"{view}: a level is skipped: {heads}"
        assert page.js("[...document.querySelectorAll('[id]')].every((item, _, all) => all.filter((other) => other.id === item.id).length === 1)"), f"{view}: an id twice"
    bench.go(page, "pending")
    for key in ("w", "d", "?"):
        page.js("document.querySelectorAll('.card')[1].focus()")
        bench.still(page, 3)
        page.key(key)
        page.until("document.querySelector('dialog[open]')")
        for role, name, node in page.accessible():
            assert role not in roles or name.strip(), f"{key}: a {role} without a name: {node}"
        page.key("Escape")
        page.until("!document.querySelector('dialog')")
    assert seen > 150, seen


def a_new_question_is_spoken_and_a_critical_one_at_once(bench):
    mock = bench.server()
    page = bench.page(mock, "timeline")
    mock.ask("git push --force")
    page.until("document.querySelector('#announce-polite').textContent.includes('git push --force')")
    mock.ask("terraform destroy", level="critical", typed=True)
    page.until("document.querySelector('#announce-now').textContent.includes('terraform destroy')")
    assert page.js("[document.querySelector('#announce-polite').getAttribute('aria-live'), document.querySelector('#announce-now').getAttribute('role')]") == ["polite", "alert"]


CONTRAST = r"""
(() => {
  const parse = (text) => { const numbers = text.match(/[\d.]+/g).map(Number); return numbers.length < 4 ? [...numbers, 1] : numbers; };
  const over = (top, ground) => [0, 1, 2].map((index) => top[index] * top[3] + ground[index] * (1 - top[3])).concat(1);
  const light = (colour) => { const [r, g, b] = colour.map((value) => { const part = value / 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (element) => { const layers = []; for (let item = element; item; item = item.parentElement) { const colour = parse(getComputedStyle(item).backgroundColor); if (colour[3] > 0) layers.unshift(colour); if (colour[3] === 1) break; } return layers.reduce((below, layer) => over(layer, below), [255, 255, 255, 1]); };
  const poor = new Set(); let seen = 0;
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    if (!element.checkVisibility({ opacityProperty: true }) || element.closest('.quiet, [aria-disabled=true], .settled, .skip, noscript')) continue;
    seen += 1;
    const below = ground(element);
    const text = over(parse(getComputedStyle(element).color), below);
    const [a, b] = [light(text), light(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(element.className + ' ' + ratio.toFixed(2));
  }
  return { poor: [...poor], seen };
})()
"""


def every_text_has_enough_contrast_in_dark_and_light(bench):
    mock = bench.server()
    everyday(mock)
    questions(mock)
    for scheme in ("dark", "light"):
        page = bench.page(mock, scheme=scheme)
        bench.still(page, 3)
        for view in [*VIEWS, f"call/{mock.records[3]['call_id']}"]:
            bench.go(page, view)
            page.until("!document.querySelector('main .loading')")
            if view == "pending":
                bench.still(page, 3)
            result = page.js(CONTRAST)
            assert result["seen"] > 20 and not result["poor"], f"{scheme} {view}: {result}"


def the_colours_follow_the_system_until_somebody_chooses(bench):
    mock = bench.server()
    page = bench.page(mock, scheme="dark")
    ground = lambda: page.js("getComputedStyle(document.body).backgroundColor")
    dark = ground()
    page.scheme("light")
    light = ground()
    assert dark != light and sum(int(part) for part in dark[4:-1].split(",")) < 90, (dark, light)
    page.scheme("dark")
    button = "document.querySelector('.side-buttons button')"
    page.js(f"{button}.click()")
    page.js(f"{button}.click()")
    assert ground() == light, "light, chosen"
    page.call("Page.reload")
    page.until("document.querySelector('#frame:not([hidden])')?.dataset.connection === 'live'")
    assert ground() == light, "kept over a reload, and so is the token"
    page.js(f"{button}.click()")
    assert ground() == dark, "as the system has it again"


def no_view_scrolls_sideways_on_a_phone(bench):
    mock = bench.server()
    everyday(mock)
    questions(mock)
    mock.ask("curl https://example.com/" + "x" * 900 + " " + "-y" * 200, rule={"id": "r" * 300, "file": "/" + "f" * 400, "line": 1}, session="s" * 200, principal="p" * 200, effects=["read(" + "/long" * 200 + ")"])
    mock.requested("echo " + "z" * 3000, session="s" * 300, principal="p" * 300)
    mock.grants.append({"id": "g9", "kind": "session", "tool": "t" * 200, "what": "w" * 500, "session": "s" * 300, "by": "b" * 200, "since": "2026-11-16T00:00:00Z", "seconds_left": 10})
    page = bench.page(mock, width=360, height=740, phone=True)
    bench.still(page, 4)
    for view in [*VIEWS, f"call/{mock.records[-1]['call_id']}"]:
        bench.go(page, view)
        page.until("!document.querySelector('main .loading')")
        wide = page.js("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= 360 and wide[1] == 360, f"{view}: {wide}"
        small = page.js("[...document.querySelectorAll('.nav-link, .card-foot .button')].filter((item) => item.checkVisibility() && item.getBoundingClientRect().height < 44).length")
        assert small == 0, f"{view}: something is too small for a thumb"
    bench.go(page, "pending")
    page.js("document.querySelector('.card [data-decision=denied]').click()")
    page.until("document.querySelector('dialog[open]')")
    assert page.js("document.documentElement.scrollWidth") <= 360


def no_token_no_entry(bench):
    mock = bench.server()
    bench.may_say("401")
    page = bench.page(mock, inside=False)
    page.until("document.activeElement?.matches('.sign-in input')")
    text = page.js("document.querySelector('.gatehouse').textContent")
    assert "bailiwick serve" in text and "keys/token" in text, text
    assert not any(path.startswith("/v1/") for _, path in mock.requests), "nothing is asked for without a token"
    page.type("x" * 43)
    page.key("Enter")
    page.until("document.querySelector('.sign-in .note:not([hidden])')?.textContent.includes('does not accept')")
    page.js("document.querySelector('.sign-in input').value = ''")
    page.type(f"  {mock.url()}/#token={mock.token} ")
    page.key("Enter")
    page.until("document.querySelector('#frame:not([hidden])')?.dataset.connection === 'live'")
    # The token stays out of addresses, of the page and of what outlives the tab.
    assert not any(mock.token in path for _, path in mock.requests)
    assert mock.token not in page.js("document.documentElement.outerHTML + location.href + JSON.stringify(localStorage) + document.cookie")
    assert page.js("JSON.stringify(sessionStorage)").count(mock.token) == 1
    # Refused later: the way in again, and nothing is left on the screen.
    mock.ask("git push")
    page.until("document.querySelector('.card')")
    mock.token = "another"
    mock.drop_streams()
    page.until("document.querySelector('.gate-card h1')?.textContent.includes('no longer accepted')", seconds=8)
    assert page.js("document.querySelector('#frame').hidden && !document.querySelector('.card') && sessionStorage.length === 0")


def the_address_with_a_token_loses_it_at_once(bench):
    mock = bench.server()
    page = bench.page(mock)
    assert page.js("location.href") == f"{mock.url()}/", page.js("location.href")
    assert page.js("history.length") <= 2
    page.js("document.querySelector('[aria-label^=Forget]').click()")
    page.until("document.querySelector('.sign-in')")
    assert page.js("sessionStorage.length") == 0
    within(5, lambda: mock.streams == 0, "whoever leaves no longer counts as somebody to ask")


def the_files_hold_no_inline_code_and_no_way_to_make_markup(bench):
    text = {path.relative_to(CONSOLE).as_posix(): path.read_text() for path in CONSOLE.rglob("*") if path.is_file()}
    assert len(text) > 15
    for name, body in text.items():
        if name.endswith(".js"):
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser", "createContextualFragment", "setHTML", "srcdoc", "http://", "https://", "import("):
                assert word not in body.replace("http://www.w3.org/2000/svg", ""), f"{name}: {word}"
            assert len(body.splitlines()) < 600, f"{name} is too long"
        else:
            assert "javascript:" not in body, name
    page = text["index.html"]
    assert "<style" not in page and "style=" not in page and " on" not in page.replace(" one", "").replace(" only", "").lower().split("<body>")[1].split("</body>")[0].replace(" on ", "")
    assert page.count("<script") == 1 and 'src="/console/main.js"' in page
