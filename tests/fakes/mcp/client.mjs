// SPDX-License-Identifier: Apache-2.0
// client.mjs ERA PACKAGES PROGRAM ARGUMENTS...: a real MCP client starts the server PROGRAM, or calls it where that is an address, and works with it as it
// is told by the calls on standard input, one JSON object a line: {"method", "params"}. Each result is a line of JSON on standard output.
// ERA: old (@modelcontextprotocol/sdk), new (@modelcontextprotocol/client). Both check what a server says against the
// protocol, structured content against the tools' output schemas included.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [era, packages, command, ...args] = process.argv.slice(2);
const require = createRequire(packages + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const info = { name: "other-peoples-client", version: "1.0.0" };
const env = Object.fromEntries(Object.entries(process.env));
let client, transport;
if (era === "old") {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  client = new Client(info);
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  transport = command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command))
                                          : new StdioClientTransport({ command, args, env, stderr: "inherit" });
} else {
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  transport = command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command))
                                          : new StdioClientTransport({ command, args, env, stderr: "inherit" });
}
await client.connect(transport);
await client.listTools();  // from now on results are checked against the output schemas

const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");
say({ server: client.getServerVersion(), instructions: client.getInstructions() });

for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  const progress = [];
  const options = method === "callTool" ? { onprogress: (it) => progress.push(it), timeout: 10_000 } : {};
  try {
    const result = era === "old" && method === "callTool" ? await client.callTool(params, undefined, options)
                                                         : await client[method](params, options);
    say({ result, progress });
  } catch (problem) {
    say({ error: String(problem.message ?? problem) });
  }
}
await client.close();
