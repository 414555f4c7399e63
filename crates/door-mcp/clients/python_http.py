"""The Python SDK as a client over streamable HTTP: `python_http.py BAILIWICK`.

It starts a server in a home of its own, and fails loudly where something is not as it should be.
"""
import asyncio
import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import mcp
import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from session import Client, expect

(BAILIWICK,) = sys.argv[1:]
CONFIGURATION = """config_version: 1
profile: dev
rules:
- {name: careful, action: ask, commands: [touch]}
"""


class Place:
    """A home, a workspace, and a server in it."""

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="bailiwick-http-"))
        (self.home / "work/.git").mkdir(parents=True)
        (self.home / ".config/bailiwick").mkdir(parents=True)
        (self.home / ".config/bailiwick/config.yaml").write_text(CONFIGURATION, encoding="utf-8")
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "USER": "tester"}
        words = [BAILIWICK, "mcp", "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(
            words, env=env, cwd=self.home / "work", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = self.server.stderr.readline()
        self.url = said.split("bailiwick: ")[1].split(";")[0]
        self.token = pathlib.Path(said.split("the token is in ")[1].strip()).read_text(encoding="utf-8").strip()

    def end(self):
        self.server.terminate()
        code = self.server.wait(20)
        shutil.rmtree(self.home)
        expect(code == 0, f"it ended with {code}")

    def http(self, **headers):
        return create_mcp_http_client(headers={"Authorization": f"Bearer {self.token}", **headers})

    async def until(self, what, there):
        """Waits for a file of the workspace."""
        end = time.monotonic() + 20
        while not there(self.home / "work"):
            expect(time.monotonic() < end, what)
            await asyncio.sleep(0.05)

    @contextlib.asynccontextmanager
    async def connected(self, answer=None):
        """A client whose person answers so; one that cannot be asked where there is no answer."""
        client = Client()

        async def elicited(_context, params):
            client.asked.append(params.message)
            return types.ElicitResult(action="accept", content={"decision": answer})

        async with self.http() as http, streamable_http_client(self.url, http_client=http) as streams:
            asks = elicited if answer else None
            async with ClientSession(streams[0], streams[1], elicitation_callback=asks) as client.session:
                await client.session.initialize()
                yield client


async def a_session(place):
    async with place.connected() as client:
        expect({"shell_command", "file_read", "apply_patch"} <= await client.names(), "the built-in tools are listed")
        expect(await client.call("shell_command", command="echo hello") == (False, "hello\n"), "a command runs")
        failed, text = await client.call("shell_command", command="cat ~/.ssh/id_rsa")
        expect(failed and text.startswith("Bailiwick denied"), text)
        failed, text = await client.call("shell_command", command="touch alone.txt")
        expect(failed and "grants approve" in text, text)
        expect(not (place.home / "work/alone.txt").exists(), "what was refused did not run")


async def questions(place):
    for answer, failed in [("approve", False), ("deny", True)]:
        async with place.connected(answer) as client:
            got, text = await client.call("shell_command", command=f"touch {answer}.txt")
            expect(got is failed and len(client.asked) == 1, f"{answer}: {text} {client.asked}")
            expect((place.home / f"work/{answer}.txt").exists() is not failed, answer)


async def two_clients(place):
    """What one client is approved for its session says nothing of another, and each gets its own answers."""
    async with place.connected("approve for session") as one, place.connected("deny") as other:
        for _ in range(2):
            failed, text = await one.call("shell_command", command="touch both.txt")
            expect(not failed, text)
        expect(len(one.asked) == 1, one.asked)
        failed, text = await other.call("shell_command", command="touch both.txt")
        expect(failed and len(other.asked) == 1, text)
        calls = [client.call("shell_command", command=f"echo {n}") for n in range(10) for client in (one, other)]
        said = [text for _, text in await asyncio.gather(*calls)]
        expect(said == [f"{n}\n" for n in range(10) for _ in range(2)], said)


async def progress_and_cancellation(place):
    async with place.connected() as client:
        told = []

        async def heard(progress, _total, message):
            told.append((progress, message))

        arguments = {"command": "echo half; sleep 2; echo whole"}
        result = await client.session.call_tool("shell_command", arguments, progress_callback=heard)
        expect(not result.is_error, result)
        expect(len(told) >= 2 and told[0][1] == "half", told)
        expect([step for step, _ in told] == sorted({step for step, _ in told}), told)
        call = client.call("shell_command", command="echo begun > begun; sleep 30; echo ended > ended")
        task = asyncio.create_task(call)
        await place.until("it begins", lambda work: (work / "begun").exists())
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        begun = time.monotonic()
        while b"sleep\x0030" in running():
            expect(time.monotonic() - begun < 15, "what runs for a call that is taken back ends")
            await asyncio.sleep(0.1)
        expect(await client.call("shell_command", command="echo on") == (False, "on\n"), "the session goes on")
        expect(not (place.home / "work/ended").exists(), "it was ended")


def running():
    """The command lines of all processes."""
    found = b""
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += file.read_bytes() + b"\n"
    return found


async def a_client_without_sessions(place):
    """The revision of 2026-07-28: a question is an answer that asks, and the SDK calls again by itself."""
    for answer, failed in [("approve", False), ("deny", True)]:
        asked = []

        async def elicited(_context, params):
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"decision": answer})

        async with place.http() as http:
            transport = streamable_http_client(place.url, http_client=http)
            async with mcp.Client(transport, elicitation_callback=elicited) as client:
                expect(client.session.protocol_version == "2026-07-28", client.session.protocol_version)
                result = await client.call_tool("shell_command", {"command": f"touch modern-{answer}.txt"})
                expect(result.is_error is failed and len(asked) == 1, f"{answer}: {result} {asked}")
                expect((place.home / f"work/modern-{answer}.txt").exists() is not failed, answer)


async def main():
    place = Place()
    try:
        for part in [a_session, questions, two_clients, progress_and_cancellation, a_client_without_sessions]:
            await part(place)
    finally:
        place.end()
    print("the Python SDK is content over HTTP")


asyncio.run(main())
