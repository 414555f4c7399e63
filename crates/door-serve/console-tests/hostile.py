"""Texts that would do something if any part of the page took them for more than text. `__ran(N)` is the canary."""

LIVE = [
    "<img src=x onerror=__ran({n})>",
    "<img src='x' onerror=\"__ran({n})\" alt=''>",
    "\"><img src=x onerror=__ran({n})>",
    "'><img src=x onerror=__ran({n})>",
    "</pre><img src=x onerror=__ran({n})>",
    "</code></pre></article><img src=x onerror=__ran({n})>",
    "</title><img src=x onerror=__ran({n})>",
    "</style><img src=x onerror=__ran({n})>",
    "</textarea><img src=x onerror=__ran({n})>",
    "--><img src=x onerror=__ran({n})>",
    "<svg onload=__ran({n})></svg>",
    "<svg><image href=x onerror=__ran({n})></svg>",
    "<svg><animate onbegin=__ran({n}) attributeName=x dur=1s></svg>",
    "<details open ontoggle=__ran({n})>x</details>",
    "<video src=x onerror=__ran({n})></video>",
    "<audio src=x onerror=__ran({n})></audio>",
    "<iframe srcdoc=\"<script>parent.__ran({n})</script>\"></iframe>",
    "<iframe src=\"javascript:parent.__ran({n})\"></iframe>",
    "<object data=\"data:text/html,x\" onerror=__ran({n}) onload=__ran({n})></object>",
    "<style onload=__ran({n})>*{{}}</style>",
    "<link rel=stylesheet href='data:text/css,' onload=__ran({n}) onerror=__ran({n})>",
    "<input autofocus onfocus=__ran({n})>",
    "<math><mtext><img src=x onerror=__ran({n})></mtext></math>",
    "<table><td><img src=x onerror=__ran({n})>",
]
STILL = [
    "<script>__ran({n})</script>",
    "</script><script>__ran({n})</script>",
    "<script src='/canary?{n}'></script>",
    "javascript:__ran({n})",
    "#token=javascript:__ran({n})",
    "data:text/html,<script>__ran({n})</script>",
    "${{__ran({n})}}",
    "{{{{constructor.constructor('__ran({n})')()}}}}",
    "`;__ran({n});`",
    "');__ran({n});//",
    "\\u003cimg src=x onerror=__ran({n})\\u003e",
    "&lt;img src=x onerror=__ran({n})&gt;",
    "%3Cimg%20src=x%20onerror=__ran({n})%3E",
    "<a href=\"javascript:__ran({n})\">x</a>",
    "<form action=\"javascript:__ran({n})\"><button>x</button></form>",
    "<meta http-equiv=refresh content=\"0;url=javascript:__ran({n})\">",
    "<base href=\"//127.0.0.1:1/{n}/\">",
    "__proto__", "constructor", "toString {n}",
    "rm \u202etxt.sj\u202c {n}", "\u2066a\u2069\u2067b\u2069 {n}", "safe\u200b\u200c\u200d\ufeff{n}", "\u202d\u202e\u200f\u200e{n}", "a\u00adb\u2060c\u180e{n}",
    "\x1b[2J\x1b[31mred{n}\x1b[0m", "\x9b31m{n}", "a\x00b{n}\x07\x08", "line one\rline two {n}", "one\u2028two\u2029{n}",
    "\u05d0\u05d1\u05d2/../{n}", "\u0645\u0631\u062d\u0628\u0627 && rm -rf {n}", "\u202erm -rf / \u05d0{n}", "<U+202E>{n}", "\ud800{n}",
    "\U000e0041\U000e0042{n}", "\ufe0f\ufe0e{n}", "e\u0301\u0302\u0303" * 20 + "{n}", "\u3164\uffa0\u2800{n}", "\U0001f3f4\U000e0067{n}",
    "", " ", "\t\n\t{n}", "null", "undefined", "NaN {n}", "[object Object]", "-1", "1e999", "true",
]
LONG = ["A" * 100_000 + " {n} the end", ("word-{n} " * 12_500) + "the end", "<img src=x onerror=__ran({n})>" * 3_000, "\u202e" * 2_000 + "{n}"]


def payloads(count=200):
    """So many different texts, and which of them an innocent page would run."""
    found = []
    for number in range(count):
        templates = LIVE + STILL
        template = LONG[number] if number < len(LONG) else templates[(number - len(LONG)) % len(templates)]
        text = template.format(n=number) if "{" in template else template
        found.append(f"{text} {number}" if text in found else text)
    assert len(set(found)) == count
    return found


CANARY = """
window.__runs = []; window.__violations = [];
window.__ran = (n) => { window.__runs.push(n); };
window.alert = window.confirm = window.prompt = () => { window.__runs.push('dialog'); };
document.addEventListener('securitypolicyviolation', (event) => { window.__violations.push(event.violatedDirective + ' ' + event.blockedURI); });
"""

# Looks through the whole page for what must not be in it: elements that only markup could have made, handlers, links that
# lead away, and characters that hide or reorder.
INSPECT = r"""
(() => {
  const wrong = [];
  for (const element of document.querySelectorAll('body *')) {
    if (/^(script|iframe|img|image|object|embed|video|audio|style|link|base|meta|form:not\(\.x\)|math|animate|foreignobject|textarea|frame|applet)$/i.test(element.localName)) wrong.push('element ' + element.localName);
    for (const attribute of element.attributes) {
      if (/^on/i.test(attribute.name) || ['style', 'src', 'srcdoc', 'action', 'formaction', 'xlink:href'].includes(attribute.name)) wrong.push('attribute ' + attribute.name);
      if (attribute.name === 'href' && !attribute.value.startsWith('#')) wrong.push('href ' + attribute.value.slice(0, 60));
      if (['title', 'aria-label', 'placeholder'].includes(attribute.name) && /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(attribute.value)) wrong.push('hidden characters in ' + attribute.name);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (parentElement.closest('noscript')) continue;
    const block = parentElement.closest('pre');
    if ((block ? /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u3164\u2800]/ : /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u3164\u2800]/).test(data) && data.trim() !== '') wrong.push('hidden characters in a text of ' + parentElement.className + ': ' + JSON.stringify(data.slice(0, 40)));
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(data)) wrong.push('half a character');
  }
  return { wrong: [...new Set(wrong)].slice(0, 20), runs: window.__runs, violations: window.__violations };
})()
"""
