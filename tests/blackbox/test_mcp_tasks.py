# SPDX-License-Identifier: Apache-2.0
"""Runs as tasks of MCP, in both of its forms: raw, and by the packages of the protocol's makers, which check what they get. Those are skipped by name
where they were not fetched (scripts/fetch-mcp-clients.sh)."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import chat_script
import support
from mcp_case import SETTINGS, McpCase

PACKAGES = support.ROOT / "build" / "mcp-clients"
SCRIPT = support.ROOT / "tests" / "fakes" / "mcp" / "tasks.mjs"
HERE = shutil.which("node") is not None and (PACKAGES / "fetched.json").exists()
KNOWS = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


class TaskCase(McpCase):
    def setUp(self):
        super().setUp()
        self.task()

    def modern(self):
        return self.client(era="modern")

    def legacy(self):
        return self.client(version="2025-11-25")

    def begin(self, client, **arguments):
        """The task that a start becomes, in the form of the client's era."""
        params = {"name": "start", "arguments": {"task": "task"} | SETTINGS | arguments}
        if client.modern:
            params["arguments"]["follow"] = True
            return client.ask("tools/call", **params, _meta=KNOWS)
        return client.ask("tools/call", **params, task={"ttl": 60000})["task"]

    def about(self, client, method, task):
        return client.ask(method, taskId=task, **({"_meta": KNOWS} if client.modern else {}))

    def ended(self, client, task):
        def look():
            now = self.about(client, "tasks/get", task)
            return now["status"] != "working" and now
        return support.until(look, "the task ends")


class Tasks(TaskCase):
    def test_a_task_ends_with_the_runs_result(self):
        self.scripted()
        for client in (self.modern(), self.legacy()):
            with self.subTest(modern=client.modern):
                begun = self.begin(client)
                self.assertEqual(begun["status"], "working")
                ended = self.ended(client, begun["taskId"])
                self.assertEqual(ended["status"], "completed", ended)
                result = ended["result"] if client.modern else self.about(client, "tasks/result", begun["taskId"])
                self.assertEqual(result["structuredContent"], client.call("result", run=begun["taskId"]))
                self.assertEqual(result["structuredContent"]["outcome"], "improved")

    def test_who_does_not_ask_gets_none(self):
        self.scripted()
        for client in (self.modern(), self.legacy()):
            started = client.call("start", task="task", follow=True, **SETTINGS)
            self.assertIn("run", started, "a result, and no task")
            client.follow(started["run"])

    def test_a_killed_server_takes_no_task_with_it(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        first = self.modern()
        task = self.begin(first)["taskId"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        first.kill()
        for client in (self.modern(), self.legacy()):
            self.assertEqual(self.about(client, "tasks/get", task)["status"], "working")
        gate.touch()
        self.assertEqual(self.ended(client, task)["status"], "completed")

    def test_a_killed_run_is_told_with_what_to_do(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        modern, legacy = self.modern(), self.legacy()
        task = self.begin(modern)["taskId"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        os.kill(int((self.workspace / "logs" / f"{task}.pid").read_text()), signal.SIGKILL)
        told = self.ended(modern, task)
        self.assertEqual((told["status"], told["result"]["isError"]), ("completed", True))
        self.assertIn("resume", told["result"]["content"][0]["text"])
        self.assertEqual(self.about(legacy, "tasks/get", task)["status"], "failed")
        gate.touch()
        modern.call("resume", run=task)
        support.until(lambda: self.about(modern, "tasks/get", task).get("result", {}).get("isError") is False, "it is continued to its end")

    def test_cancelling_keeps_the_run(self):
        for client in (self.modern(), self.legacy()):
            with self.subTest(modern=client.modern):
                task = self.begin(client, agents="client")["taskId"]
                support.until(lambda: "next_question" in self.about(client, "tasks/get", task)["statusMessage"], "it says that it asks")
                self.about(client, "tasks/cancel", task)
                self.assertEqual(self.ended(client, task)["status"], "cancelled")
                client.call("resume", run=task)
                support.until(lambda: client.call("next_question", run=task)["question"], "it goes on")
                client.call("stop", run=task, now=True)
                client.follow(task)

    def test_a_wait_for_a_result_ends_with_its_client(self):
        client = self.legacy()
        task = self.begin(client, agents="client")["taskId"]
        client.begin("tasks/result", {"taskId": task})
        self.assertEqual(client.close(), 0, "the server waits for nobody")
        other = self.modern()
        other.call("stop", run=task, now=True)
        other.follow(task)

    def test_ids_that_are_none(self):
        self.scripted()
        client, unaware = self.modern(), self.legacy()
        task = self.begin(client)["taskId"]
        self.ended(client, task)
        for wrong in ("last", task[:10], "", "../" + task, "x" * 100_000, task + "\u0000"):
            for method in ("tasks/get", "tasks/cancel", "tasks/update"):
                with self.subTest(wrong[:20], method=method), self.assertRaisesRegex(RuntimeError, "-32602.*start gave it"):
                    self.about(client, method, wrong)
        with self.assertRaisesRegex(RuntimeError, "-32021"):
            client.ask("tasks/get", taskId=task)
        with self.assertRaisesRegex(RuntimeError, "-32602"):
            self.about(unaware, "tasks/result", "last")


@unittest.skipUnless(HERE, "MCP clients of npm: not fetched (scripts/fetch-mcp-clients.sh)")
class OtherPeoplesTasks(TaskCase):
    def run_client(self, which, **arguments):
        if which == "new":
            server = self.start("serve", "--folder", self.folder, "--workspace", self.workspace)
            target = support.until(lambda: server.out_path.read_text(encoding="utf-8").strip(), "it listens", server)
            arguments["follow"] = True
        else:
            target = json.dumps([str(support.program_folder() / "accelopt"), "mcp", "--folder", str(self.folder), "--workspace", str(self.workspace)])
        done = subprocess.run(["node", str(SCRIPT), which, str(PACKAGES), target, json.dumps({"task": "task"} | SETTINGS | arguments)],
                              capture_output=True, text=True, cwd=self.folder, env=self.environment, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout.splitlines()[-1])
        return said["states"], said["result"]

    def test_each_follows_a_task_to_its_result(self):
        self.scripted()
        for which in ("sdk", "old", "new"):
            with self.subTest(which):
                states, result = self.run_client(which)
                self.assertIn("working", states)
                self.assertEqual(states[-1], "completed")
                self.assertEqual(result["structuredContent"]["outcome"], "improved", result)

    def test_each_cancels_a_task(self):
        for which in ("sdk", "old", "new"):
            with self.subTest(which):
                states, result = self.run_client(which, agents="client", cancel=True)
                self.assertIn("cancelled", json.dumps([states, result]))
                runs = self.client().call("status", run="last")
                self.assertEqual(runs["status"], "interrupted")


if __name__ == "__main__":
    support.main()
