"""Chromium through the DevTools protocol, with nothing but the standard library: a WebSocket client and the few commands needed."""

import base64
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.request


class WebSocket:
    """A client of RFC 6455 for one trusted server on loopback."""

    def __init__(self, url, timeout=10):
        rest = url.removeprefix("ws://")
        host, path = rest.split("/", 1)
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)), timeout=timeout)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.socket.recv(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode(errors="replace"))
        self.socket.settimeout(None)
        self.sending = threading.Lock()

    def send(self, text):
        data = text.encode()
        mask = secrets.token_bytes(4)
        head = bytes([0x81])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        number = int.from_bytes(mask * (len(data) // 4 + 1), "big")
        padded = data + b"\0" * (4 * (len(data) // 4 + 1) - len(data))
        masked = (int.from_bytes(padded, "big") ^ number).to_bytes(len(padded), "big")[: len(data)]
        with self.sending:
            self.socket.sendall(head + mask + masked)

    def exactly(self, count):
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(min(1 << 20, count - len(parts)))
            if not part:
                raise ConnectionError("closed")
            parts += part
        return bytes(parts)

    def receive(self):
        whole = bytearray()
        while True:
            first, second = self.exactly(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", self.exactly(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.exactly(8))
            data = self.exactly(length)
            kind = first & 0x0F
            if kind == 8:
                raise ConnectionError("closed")
            if kind in (9, 10):
                continue
            whole += data
            if first & 0x80:
                return whole.decode()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Browser:
    """One headless Chromium with a profile of its own, which ends with it."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program:
            raise FileNotFoundError("chromium is not installed: apt-get install chromium")
        self.profile = tempfile.mkdtemp(prefix="console-browser-")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-extensions", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-port=0", f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": self.profile, "XDG_CONFIG_HOME": self.profile, "XDG_CACHE_HOME": self.profile},
        )
        port_file = os.path.join(self.profile, "DevToolsActivePort")
        end = time.monotonic() + 30
        while True:
            try:
                with open(port_file, encoding="ascii") as file:
                    self.port = int(file.readline())
                break
            except (OSError, ValueError):
                if time.monotonic() > end or self.process.poll() is not None:
                    self.close()
                    raise RuntimeError("chromium did not start") from None
                time.sleep(0.05)

    def page(self, width=1280, height=860, phone=False, scheme="dark", scripts=()):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=10) as answer:
            target = json.load(answer)
        return Page(self, target, width, height, phone, scheme, scripts)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(10)
        for _ in range(20):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)


KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "ArrowDown": ("ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", 38, ""), "Tab": ("Tab", 9, "")}


class Page:
    """One tab."""

    def __init__(self, browser, target, width, height, phone, scheme, scripts):
        self.browser = browser
        self.target = target
        self.socket = WebSocket(target["webSocketDebuggerUrl"])
        self.answers = {}
        self.events = []
        self.arrived = threading.Condition()
        self.number = 0
        threading.Thread(target=self.read, daemon=True).start()
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        if phone:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.scheme(scheme)
        for script in scripts:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def read(self):
        try:
            while True:
                message = json.loads(self.socket.receive())
                with self.arrived:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.events.append(message)
                    self.arrived.notify_all()
        except (ConnectionError, OSError):
            with self.arrived:
                self.answers[None] = True
                self.arrived.notify_all()

    def call(self, method, **parameters):
        with self.arrived:
            self.number += 1
            number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        end = time.monotonic() + 60
        with self.arrived:
            while number not in self.answers:
                if None in self.answers or not self.arrived.wait(max(0, end - time.monotonic())):
                    raise TimeoutError(method)
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def until(self, expression, seconds=8, what=None):
        """Waits for an expression to be true; its value."""
        end = time.monotonic() + seconds
        value = None
        while time.monotonic() < end:
            try:
                value = self.js(f"(() => {{ const value = ({expression}); return value instanceof Node ? true : value; }})()")
            except RuntimeError:
                value = None
            if value:
                return value
            time.sleep(0.03)
        raise AssertionError(f"did not come true in {seconds} s: {what or expression} (last: {value!r})")

    def box(self, selector):
        """The middle of an element, scrolled to."""
        return self.js(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null; e.scrollIntoView({{block: 'nearest'}}); "
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )

    def click(self, selector):
        place = self.box(selector)
        if not place:
            raise AssertionError(f"nothing to click: {selector}")
        x, y = place
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, *names):
        for name in names:
            key, code, text = KEYS.get(name, (name, ord(name.upper()) if len(name) == 1 and name.isalnum() else 0, name))
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code, **({"code": key} if name in KEYS else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        parameters = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def accessible(self):
        """The accessibility tree: role and name of everything that is not ignored."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            (node.get("role", {}).get("value", ""), node.get("name", {}).get("value", ""), node)
            for node in nodes if not node.get("ignored")
        ]

    def complaints(self):
        """Errors of the page: exceptions, and what the browser refused."""
        found = []
        with self.arrived:
            for event in self.events:
                if event["method"] == "Runtime.exceptionThrown":
                    found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description") or event["params"]["exceptionDetails"]["text"])
                elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                    entry = event["params"]["entry"]
                    found.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        return found

    def close(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.browser.port}/json/close/{self.target['id']}", timeout=5).close()
        except OSError:
            pass
        self.socket.close()
