# SPDX-License-Identifier: Apache-2.0
"""`accelopt mcp` as an agent meets it: runs that outlive client and server, both eras of the protocol, errors to act on. Most runs have the
steady worker."""

import os
import signal
import unittest

import chat_script
import mcp_client
import support
from mcp_client import Client, ToolError

SETTINGS = {"iterations": 1, "plans": 2, "attempts": 1, "patience": 0}


class McpCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.workspace.mkdir()
        self.configure(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n")

    def configure(self, text):
        (self.workspace / "accelopt.toml").write_text(text, encoding="utf-8")

    def client(self, *arguments, **options):
        return Client(self, "--folder", self.folder, "--workspace", self.workspace, *arguments, **options)

    def scripted(self, **script):
        """A scripted model and the steady worker, by configuration."""
        server = self.server(chat_script.steady_script(**script))
        self.configure(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n"
                       f"[models.default]\nbase_url = \"{server.url}\"\nmodel = \"{chat_script.MODEL}\"\n")
        return server


class Runs(McpCase):
    def test_a_run_from_start_to_diff(self):
        self.scripted()
        task = self.task()
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client = self.client(era=era)
                started = client.call("start", task="task", **SETTINGS)
                self.assertEqual(started["agents"], "model")
                status = client.follow(started["run"])
                self.assertEqual(status["status"], "done", status)
                result = client.call("result", run=started["run"])
                self.assertEqual(result["outcome"], "improved", result)
                diff = client.call_whole("diff", run=started["run"])
                self.assertIn("+++ b/baseline.cpp", diff["content"][0]["text"])
                self.assertEqual(diff["content"][1]["uri"], f"accelopt://runs/{started['run']}/patch")
                self.assertEqual(client.close(), 0)
        self.assertTrue(task.exists())

    def test_a_run_outlives_client_and_server(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        client.kill()
        again = self.client(era="modern")
        self.assertEqual(again.call("status", run=run, wait_s=0)["status"], "running")
        gate.touch()
        self.assertEqual(again.follow(run)["status"], "done")
        self.assertEqual(again.call("result", run="last")["outcome"], "improved")

    def test_a_run_that_was_killed_is_told_and_resumed(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        os.kill(int((self.workspace / "logs" / f"{run}.pid").read_text()), signal.SIGKILL)
        status = client.follow(run)
        self.assertEqual(status["status"], "dead")
        self.assertIn("resume", status["trouble"])
        with self.assertRaisesRegex(ToolError, "resume"):
            client.call("result", run=run)
        gate.touch()
        client.call("resume", run=run)
        support.until(lambda: client.call("status", run=run)["status"] == "done", "it ends")

    def test_stop_has_what_there_is_confirmed(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 2}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", iterations=5, plans=2, attempts=1, patience=0)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        with self.assertRaisesRegex(ToolError, "no result yet; call status"):
            client.call("result", run=run)
        client.call("stop", run=run)
        support.until(lambda: any("asked to stop" in note for note in client.call("status", run=run, wait_s=0)["notes"]), "it hears of it")
        gate.touch()
        self.assertEqual(client.follow(run)["status"], "done")
        self.assertEqual(client.call("result", run=run)["stopped_by"], "stop")

    def test_no_more_runs_than_allowed_go_on(self):
        gate = self.folder / "gate"
        self.scripted(planner=[{"hold_until": str(gate), "text": chat_script.plan("x")}])
        self.task()
        client = self.client("--max-runs", 1)
        run = client.call("start", task="task", **SETTINGS)["run"]
        with self.assertRaisesRegex(ToolError, f"as many as this server starts: {run}"):
            client.call("start", task="task", **SETTINGS)
        client.call("stop", run=run, now=True)
        gate.touch()
        client.follow(run)

    def test_a_start_that_fails_says_why(self):
        self.configure('[models.default]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "x"\nkey_env = "NO_SUCH_KEY_HERE"\n')
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        status = client.follow(run)
        self.assertIn(status["status"], ("failed", "dead"))
        self.assertIn("NO_SUCH_KEY_HERE", status["trouble"])


if __name__ == "__main__":
    support.main()
