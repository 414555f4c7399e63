// The TypeScript SDK as a client of both servers: `node typescript_sdk.mjs BAILIWICK`, with the SDK installed where it is run.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(join(process.cwd(), "here.js")));
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ElicitRequestSchema } = await load("types.js");

const [binary] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const home = mkdtempSync(join(tmpdir(), "bailiwick-mcp-"));
const expect = (truth, what) => {
  if (!truth) throw new Error(`not as it should be: ${JSON.stringify(what)}`);
};

const connect = async (args, answer) => {
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: "typescript", version: "1" }, { capabilities });
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { decision: answer } }));
  }
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, USER: "tester" };
  await client.connect(new StdioClientTransport({ command: binary, args, env, cwd: join(home, "work") }));
  return client;
};

try {
  mkdirSync(join(home, "work/.git"), { recursive: true });
  mkdirSync(join(home, ".config/bailiwick"), { recursive: true });
  copyFileSync(join(here, "../../bailiwick/tests/mcp/fake_server.py"), join(home, "work/server.py"));
  writeFileSync(join(home, ".config/bailiwick/config.yaml"), "config_version: 1\nprofile: dev\nsafety: {tool_allowlist: [mcp__fake]}\nrules:\n- {name: careful, action: ask, commands: [touch]}\n");

  const server = await connect(["mcp"], "approve");
  const names = (await server.listTools()).tools.map((tool) => tool.name);
  expect(names.includes("shell_command"), names);
  const ran = await server.callTool({ name: "shell_command", arguments: { command: "echo hello" } });
  expect(ran.content[0].text === "hello\n" && !ran.isError, ran);
  const asked = await server.callTool({ name: "shell_command", arguments: { command: "touch asked.txt" } });
  expect(!asked.isError, asked);
  const denied = await server.callTool({ name: "shell_command", arguments: { command: "sudo reboot" } });
  expect(denied.isError && denied.structuredContent.error_kind === "permission", denied);
  await server.close();

  const proxy = await connect(["mcp", "proxy", "--name", "fake", "--", "python3", "server.py"]);
  const echoed = await proxy.callTool({ name: "echo", arguments: { text: "hello" } });
  expect(echoed.content[0].text === "hello", echoed);
  const resources = await proxy.listResources();
  expect(resources.resources[0].uri === "fake://one", resources);
  await proxy.close();
  console.log("the TypeScript SDK is content");
} finally {
  rmSync(home, { recursive: true });
}
