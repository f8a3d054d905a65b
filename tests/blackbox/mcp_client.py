# SPDX-License-Identifier: Apache-2.0
"""A small MCP client over standard streams, for both eras of the protocol."""

import json
import subprocess
import threading
import time

import support

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


class ToolError(Exception):
    """A tool's own error: a text that a model can act on."""


class Client:
    """`accelopt mcp` and one conversation with it. Replies may come in any order."""

    def __init__(self, case, *arguments, era="legacy", environment=None, version="2025-06-18"):
        self.modern = era == "modern"
        self.process = subprocess.Popen([str(support.program_folder() / "accelopt"), "mcp", *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=case.folder,
                                        env=environment or case.environment)
        case.addCleanup(self.kill)
        self.number = 0
        self.replies, self.notifications, self.arrived = {}, [], threading.Condition()
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()
        if not self.modern:
            self.server = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "tests", "version": "1"})
            self.tell("notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.arrived:
                if "method" in message:
                    self.notifications.append(message)
                else:
                    self.replies[message["id"]] = message
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def begin(self, method, params):
        self.number += 1
        if self.modern:
            params = params | {"_meta": META | params.get("_meta", {})}
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode() + b"\n")
        return self.number

    def wait(self, number, seconds=20):
        """The whole message."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: number in self.replies or self.ended, seconds), f"no reply to {number} in {seconds} s"
            return self.replies.pop(number)

    def ask(self, method, **params):
        reply = self.wait(self.begin(method, params))
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["result"]

    def call_whole(self, tool, **arguments):
        began = time.monotonic()
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert time.monotonic() - began < 10, f"{tool} took longer than ten seconds"
        return result

    def call(self, tool, **arguments):
        """The structured content; ToolError where the tool says that it failed."""
        result = self.call_whole(tool, **arguments)
        if result.get("isError"):
            raise ToolError(result["content"][0]["text"])
        return result["structuredContent"]

    def follow(self, run, seconds=150):
        """To the run's end."""
        end = time.monotonic() + seconds
        while not (status := self.call("status", run=run))["ended"]:
            assert time.monotonic() < end, status
        return status

    def close(self, seconds=15):
        """As clients end a server: its input ends, and it does."""
        self.process.stdin.close()
        return self.process.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
