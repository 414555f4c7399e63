"""The Python SDK as a client of both servers: `python_sdk.py BAILIWICK [FILESYSTEM_SERVER…]`.

It makes a home and a workspace of its own, and fails loudly where something is not as it should be.
"""
import asyncio
import contextlib
import pathlib
import shutil
import sys
import tempfile

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from session import Client, expect

BAILIWICK, *FILESYSTEM = sys.argv[1:]
HERE = pathlib.Path(__file__).resolve()
FAKE = HERE.parents[2] / "bailiwick/tests/mcp/fake_server.py"


@contextlib.asynccontextmanager
async def connected(home, words, answer=None):
    """A client whose person answers so; one that cannot be asked where there is no answer."""
    client = Client()

    async def elicited(_context, params):
        client.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"decision": answer})

    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "USER": "tester"}
    server = StdioServerParameters(command=BAILIWICK, args=words, env=env, cwd=str(home / "work"))
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write, elicitation_callback=elicited if answer else None) as client.session:
            await client.session.initialize()
            yield client


async def built_in(home):
    async with connected(home, ["mcp"]) as client:
        expect({"shell_command", "file_read", "apply_patch"} <= await client.names(), "the built-in tools are listed")
        expect(await client.call("shell_command", command="echo hello") == (False, "hello\n"), "a command runs")
        failed, text = await client.call("shell_command", command="cat ~/.ssh/id_rsa")
        expect(failed and text.startswith("Bailiwick denied"), text)
        failed, text = await client.call("shell_command", command="touch asked.txt")
        expect(failed and "grants approve" in text, text)
    for answer, failed in [("approve", False), ("deny", True)]:
        async with connected(home, ["mcp"], answer) as client:
            got, text = await client.call("shell_command", command="touch asked.txt")
            expect(got is failed and len(client.asked) == 1, f"{answer}: {text} {client.asked}")


async def proxied(home):
    words = ["mcp", "proxy", "--name", "fake", "--", "python3", "server.py"]
    async with connected(home, words) as client:
        names = await client.names()
        expect("echo" in names and "write" not in names, names)
        expect(await client.call("echo", text="hello") == (False, "hello"), "a call passes")
        failed, text = await client.call("write", path="a", text="b")
        expect(failed and "no writing" in text, text)


async def filesystem(home):
    words = ["mcp", "proxy", "--name", "files", "--", *FILESYSTEM, str(home / "work")]
    async with connected(home, words) as client:
        names = await client.names()
        expect("read_text_file" in names and "move_file" not in names, names)
        path = str(home / "work/hello.txt")
        failed, text = await client.call("write_file", path=path, content="hello")
        expect(not failed and pathlib.Path(path).read_text() == "hello", text)
        expect(await client.call("read_text_file", path=path) == (False, "hello"), "it is read again")
        failed, text = await client.call("read_text_file", path=str(home / "work/.hidden"))
        expect(failed and "nothing hidden" in text, text)


def main():
    home = pathlib.Path(tempfile.mkdtemp(prefix="bailiwick-mcp-"))
    try:
        (home / "work/.git").mkdir(parents=True)
        (home / ".config/bailiwick").mkdir(parents=True)
        shutil.copy(FAKE, home / "work/server.py")
        reads = ", ".join(str(pathlib.Path(word).resolve().parent) for word in FILESYSTEM if "/" in word)
        if reads:
            # A package is read with all that it needs.
            reads = ", ".join(sorted({path.split("/node_modules/")[0] for path in reads.split(", ")}))
        (home / ".config/bailiwick/config.yaml").write_text(
            f"""config_version: 1
profile: dev
safety:
  tool_allowlist: [mcp__fake, mcp__files]
  tool_denylist: [mcp__files__move_file]
rules:
- {{name: careful, action: ask, commands: [touch]}}
- {{name: no writing, action: deny, tool: mcp__fake__write}}
- {{name: nothing hidden, action: deny, tool: mcp__files, args: {{path: '/[.]'}}}}
sandbox: {{read: [{reads}]}}
""",
            encoding="utf-8",
        )
        asyncio.run(built_in(home))
        asyncio.run(proxied(home))
        if FILESYSTEM:
            asyncio.run(filesystem(home))
    finally:
        shutil.rmtree(home)
    print("the Python SDK is content" + (" with the filesystem server too" if FILESYSTEM else ""))


main()
