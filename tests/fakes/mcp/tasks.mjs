// SPDX-License-Identifier: Apache-2.0
// tasks.mjs CLIENT PACKAGES TARGET ARGUMENTS...: a real MCP client calls `start` as a task with the ARGUMENTS (JSON), follows the task to its
// end, and prints its states and its result as a line of JSON. With "cancel": true it asks for the task's end as soon as there is one.
// CLIENT: sdk (@modelcontextprotocol/sdk), old (@modelcontextprotocol/ext-tasks on revision 2025-11-25), new (the same on 2026-07-28).
// TARGET: the server's address for new, else the words of its command as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [which, packages, target, text] = process.argv.slice(2);
const require = createRequire(packages + "/");
const { cancel, ...args } = JSON.parse(text);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
// A package without an entry for require.
const loadModule = (path) => import(pathToFileURL(packages + "/node_modules/" + path).href);

const info = { name: "other-peoples-client", version: "1.0.0" };
const env = Object.fromEntries(Object.entries(process.env));
const states = [];
let result;

async function withSdk() {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client(info);
  const [command, ...words] = JSON.parse(target);
  await client.connect(new StdioClientTransport({ command, args: words, env, stderr: "inherit" }));
  await client.listTools(); // so that the result is checked against the tool's schema
  for await (const message of client.experimental.tasks.callToolStream({ name: "start", arguments: args })) {
    if (message.task) states.push(message.task.status);
    if (cancel && message.type === "taskCreated") states.push((await client.experimental.tasks.cancelTask(message.task.taskId)).status);
    if (message.type === "result") result = message.result;
    if (message.type === "error") result = { isError: true, content: [{ type: "text", text: message.error.message }] };
  }
  await client.close();
}

async function withExtension() {
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const { createTaskSessionFromClient } = await loadModule("@modelcontextprotocol/ext-tasks/dist/client/index.js");
  const modern = which === "new";
  const version = "2026-07-28";
  const client = modern ? new Client(info, { versionNegotiation: { mode: { pin: version } } }) : new Client(info);
  if (modern) {
    await client.connect(new StreamableHTTPClientTransport(new URL(target)));
  } else {
    const [command, ...words] = JSON.parse(target);
    await client.connect(new StdioClientTransport({ command, args: words, env, stderr: "inherit" }));
  }
  const declared = (await client.listTools()).tools.find((tool) => tool.name === "start");
  let number = 1000;
  // The client's own codec does not know the extension's results yet; the package sends them past it.
  const rawDispatch = async ({ method, params }, { signal } = {}) => {
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", "MCP-Protocol-Version": version,
                      "Mcp-Method": method, "Mcp-Name": params.taskId ?? params.name };
    const reply = await fetch(target, { method: "POST", headers, signal, body: JSON.stringify({ jsonrpc: "2.0", id: ++number, method, params }) });
    const message = await reply.json();
    return message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result };
  };
  const framing = { protocolVersion: version, clientInfo: info, clientCapabilities: {} };
  const session = createTaskSessionFromClient(client, { endpointId: "accelopt", ...(modern ? { rawDispatch, v2RequestFraming: framing } : {}) });
  const { toolDeclarationFromMcpTool } = await loadModule("@modelcontextprotocol/ext-tasks/dist/client/index.js");
  const execution = await session.callTool("start", args, { declaration: toolDeclarationFromMcpTool(declared), task: { preference: "require" } });
  states.push("kind: " + execution.kind);
  if (cancel) await execution.cancel();
  const { outcome } = await execution.settle({ onEvent: (event) => { if (event.type === "task") states.push(event.task.status); } });
  result = outcome.status === "completed" ? outcome.result : { outcome: outcome.status, isError: outcome.status === "failed", text: outcome.error?.message };
  await session.close();
  await client.close();
}

await (which === "sdk" ? withSdk() : withExtension());
process.stdout.write(JSON.stringify({ states, result }) + "\n");
