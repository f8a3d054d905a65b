# SPDX-License-Identifier: Apache-2.0
"""`accelopt mcp` with other people's clients: both npm packages of the protocol's makers, one an era. Each runs a bundled task on the real
device with the built-in recipes. Skipped by name where they were not fetched (scripts/fetch-mcp-clients.sh)."""

import json
import shutil
import subprocess
import unittest

import chat_script
import mcp_client
import support

PACKAGES = support.ROOT / "build" / "mcp-clients"
SCRIPT = support.ROOT / "tests" / "fakes" / "mcp" / "client.mjs"
HERE = shutil.which("node") is not None and (PACKAGES / "fetched.json").exists()


class NpmClient:
    def __init__(self, case, era, *arguments, url=None):
        server = [url] if url else [str(support.program_folder() / "accelopt"), "mcp", *map(str, arguments)]
        self.process = subprocess.Popen(["node", str(SCRIPT), era, str(PACKAGES), *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=case.folder,
                                        env=case.environment)
        case.addCleanup(self.close)
        self.greeting = json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.process.stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if "error" in reply:
            raise RuntimeError(reply["error"])
        self.progress = reply["progress"]
        return reply["result"]

    def call(self, tool, **arguments):
        result = self.ask("callTool", name=tool, arguments=arguments)
        if result.get("isError"):
            raise mcp_client.ToolError(result["content"][0]["text"])
        return result["structuredContent"]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(20)
        self.process.stdout.close()


@unittest.skipUnless(HERE, "MCP clients of npm: not fetched (scripts/fetch-mcp-clients.sh)")
class OtherPeoplesClients(support.TestCase):
    def test_each_runs_a_bundled_task_to_its_diff(self):
        for era in ("old", "new"):
            with self.subTest(era):
                client = NpmClient(self, era, "--folder", support.SUITE, "--workspace", self.workspace)
                self.assertEqual(client.greeting["server"]["name"], "accelopt")
                self.assertIn("next_question", client.greeting["instructions"])
                run = client.call("start", task="matmul", agents="recipes", iterations=1, max_evaluations=3)["run"]
                progress = []
                while not (status := client.call("status", run=run))["ended"]:
                    progress += [it["progress"] for it in client.progress]
                self.assertEqual(status["status"], "done", status)
                self.assertTrue(progress, "progress is told to who gives a token")
                result = client.call("result", run=run)
                self.assertEqual(result["outcome"], "improved", result)
                self.assertIn("+++ b/", client.call("diff", run=run)["diff"])
                self.assertIn(f"accelopt://runs/{run}", [it["uri"] for it in client.ask("listResources")["resources"]])
                self.assertIn("+++ b/", client.ask("readResource", uri=f"accelopt://runs/{run}/patch")["contents"][0]["text"])
                self.assertIn("start", client.ask("getPrompt", name="make_faster", arguments={"what": "matmul"})["messages"][0]["content"]["text"])
                with self.assertRaisesRegex(mcp_client.ToolError, "outside"):
                    client.call("lint", task="/etc")

    def serve(self):
        server = self.start("serve", "--port", 0, "--folder", self.folder, "--workspace", self.workspace)
        return support.until(lambda: server.out_path.read_text(encoding="utf-8").strip(), "it listens", server)

    def test_a_client_plays_the_model_and_ends_with_a_gain(self):
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n",
                                                      encoding="utf-8")
        self.task()
        answers = {"planner": chat_script.plan("Exchange the two inner loops"), "executor": chat_script.steady_kernel("speed=3"),
                   "summarizer": "skip", "fixer": "skip"}
        for era in ("old", "new", "old http", "new http"):
            with self.subTest(era):
                url = self.serve() if era.endswith("http") else None
                client = NpmClient(self, era.split()[0], "--folder", self.folder, "--workspace", self.workspace, url=url)
                run = client.call("start", task="task", agents="client", iterations=1, plans=1, attempts=1, patience=0)["run"]
                while not (asked := client.call("next_question", run=run))["ended"]:
                    if question := asked["question"]:
                        client.call("answer", run=run, question=question["id"], text=answers[question["role"]])
                self.assertEqual(client.call("result", run=run)["outcome"], "improved")


if __name__ == "__main__":
    support.main()
