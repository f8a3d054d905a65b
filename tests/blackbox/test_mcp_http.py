# SPDX-License-Identifier: Apache-2.0
"""`accelopt serve`: who may call, what a bad request gets, and that runs outlive it."""

import http.client
import json
import socket
import time
import urllib.parse

import mcp_client
import support

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}


class Serve(support.TestCase):
    def setUp(self):
        super().setUp()
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n",
                                                      encoding="utf-8")

    def serve(self, *arguments, environment=None):
        self.server = self.start("serve", "--folder", self.folder, "--workspace", self.workspace, *arguments, environment=environment)
        url = support.until(lambda: self.server.out_path.read_text(encoding="utf-8").strip(), "it listens", self.server)
        self.port = urllib.parse.urlsplit(url).port

    def post(self, message, method="POST", path="/mcp", **headers):
        """Status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(connection.close)
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.request(method, path, body, {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} |
                           {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()

    def modern(self, method, name=None, headers=None, **params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": mcp_client.META | params.get("_meta", {})}}
        if name:
            message["params"]["name"] = name
        return self.post(message, **({"MCP_Protocol_Version": mcp_client.MODERN, "Mcp_Method": method} | ({"Mcp_Name": name} if name else {}) |
                                     (headers or {})))

    def call(self, tool, **arguments):
        status, body = self.modern("tools/call", tool, arguments=arguments)
        self.assertEqual(status, 200, body)
        return json.loads(body)["result"]["structuredContent"]

    def test_both_eras_and_progress(self):
        self.task()
        self.serve()
        status, body = self.post(INITIALIZE)
        self.assertEqual((status, json.loads(body)["result"]["protocolVersion"]), (200, "2025-06-18"))
        self.assertEqual(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}), (202, ""))
        self.assertEqual(json.loads(self.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})[1])["result"], {})
        self.assertIn(mcp_client.MODERN, json.loads(self.modern("server/discover")[1])["result"]["supportedVersions"])
        run = self.call("start", task="task", agents="client", iterations=1)["run"]
        _, stream = self.modern("tools/call", "status", arguments={"run": run, "wait_s": 2.5}, _meta={"progressToken": "p"})
        events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
        self.assertEqual(events[0]["method"], "notifications/progress")
        self.assertEqual(events[-1]["result"]["structuredContent"]["status"], "running")
        # The server ends; the run does not.
        self.server.interrupt()
        self.assertEqual(self.server.finish(20).code, 0)
        self.serve()
        self.assertEqual(self.call("status", run=run, wait_s=0)["status"], "running")
        self.call("stop", run=run, now=True)
        support.until(lambda: self.call("status", run=run)["ended"], "it ends")

    def test_who_may_call(self):
        self.serve()
        self.assertEqual(self.post(INITIALIZE, Origin="https://evil.example")[0], 403)
        self.assertEqual(self.post(INITIALIZE, Origin="http://localhost.evil.example")[0], 403)
        self.assertEqual(self.post(INITIALIZE, Origin="null")[0], 403)
        self.assertEqual(self.post(INITIALIZE, Host="evil.example")[0], 403, "a name that was bent to this machine")
        self.assertEqual(self.post(INITIALIZE, Origin=f"http://127.0.0.1:{self.port}", Sec_Fetch_Site="same-origin")[0], 200)
        self.assertEqual(self.post(INITIALIZE, Origin="http://127.0.0.1:1")[0], 403, "a page of another port")
        self.assertEqual(self.post(INITIALIZE, path="/other")[0], 404)
        for method in ("GET", "DELETE"):
            self.assertEqual(self.post(b"", method=method)[0], 405)
        self.assertEqual(self.post(b"x", Content_Type="text/plain")[0], 415)

    def test_other_addresses_need_a_token(self):
        self.assert_says(self.accelopt("serve", "--address", "localhost"), 2, "localhost", "give an IPv4 address like 127.0.0.1")
        refused = self.accelopt("serve", "--address", "0.0.0.0")
        self.assert_says(refused, 2, "ACCELOPT_MCP_TOKEN")
        self.serve("--address", "0.0.0.0", environment=self.environment | {"ACCELOPT_MCP_TOKEN": "s3cret"})
        self.assertEqual(self.post(INITIALIZE)[0], 401)
        self.assertEqual(self.post(INITIALIZE, Authorization="Bearer s3cre")[0], 401)
        self.assertEqual(self.post(INITIALIZE, Authorization="Bearer s3cret")[0], 200)

    def test_headers_say_what_the_body_says(self):
        self.serve()
        for headers in ({"MCP_Protocol_Version": "2025-11-25"}, {"Mcp_Method": "tools/call"}):
            status, body = self.modern("tools/list", headers=headers)
            self.assertEqual((status, json.loads(body)["error"]["code"]), (400, -32020), headers)
        status, body = self.modern("tools/call", "lint", headers={"Mcp_Name": "best"})
        self.assertEqual((status, json.loads(body)["error"]["code"]), (400, -32020))
        status, body = self.modern("no/such")
        self.assertEqual((status, json.loads(body)["error"]["code"]), (404, -32601))

    def test_hostile_requests_end_alone(self):
        self.serve()
        for raw in (b"nonsense\r\n\r\n", b"\0" * 100_000, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n",
                    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n",
                    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"):
            with socket.create_connection(("127.0.0.1", self.port)) as wire:
                try:
                    wire.sendall(raw)
                    wire.shutdown(socket.SHUT_WR)
                    self.assertNotIn(b" 200 ", wire.recv(4096))
                except OSError:
                    pass  # let go while it was still sending
        self.assertEqual(self.post(b"{nonsense")[0], 400)
        self.assertEqual(self.post(INITIALIZE)[0], 200)

    def test_many_at_once(self):
        self.task()
        self.serve()
        run = self.call("start", task="task", agents="client", iterations=1)["run"]
        wires = []
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status", "arguments": {"run": run, "wait_s": 0}}})
        began = time.monotonic()
        for _ in range(200):
            wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            wire.request("POST", "/mcp", body, {"Content-Type": "application/json"})
            wires.append(wire)
        for wire in wires:
            self.assertEqual(json.loads(wire.getresponse().read())["result"]["structuredContent"]["status"], "running")
            wire.close()
        self.assertLess(time.monotonic() - began, 10)
        self.call("stop", run=run, now=True)


if __name__ == "__main__":
    support.main()
