# SPDX-License-Identifier: Apache-2.0
"""The examples for Agno with Agno from PyPI and a scripted model. Skipped by name where it was not fetched (scripts/fetch-agno.sh)."""

import json
import subprocess
import unittest

import support

PYTHON = support.ROOT / "build" / "agno" / "bin" / "python"


@unittest.skipUnless(PYTHON.exists(), "Agno: not fetched (scripts/fetch-agno.sh)")
class Agno(support.TestCase):
    def setUp(self):
        super().setUp()
        self.workspace.mkdir()
        self.steady()
        self.task()

    def steady(self):
        (self.workspace / "accelopt.toml").write_text(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n",
                                                      encoding="utf-8")

    def measure(self):
        (self.workspace / "accelopt.toml").write_text("", encoding="utf-8")

    def example(self, name, task="task", folder=None):
        environment = self.environment | {"PATH": f"{support.program_folder()}:{self.environment['PATH']}", "AGNO_TELEMETRY": "false"}
        done = subprocess.run([str(PYTHON), str(support.ROOT / "tests" / "blackbox" / "agno_examples.py"), name, task,
                               str(folder or self.folder), str(self.workspace)], capture_output=True, text=True, cwd=self.folder,
                              env=environment, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def test_an_agent_runs_a_bundled_task(self):
        self.measure()
        said = self.example("agent", "matmul", support.SUITE)
        self.assertIn("faster, confirmed", said)
        self.assertIn("+++ b/", said)

    def test_agents_play_the_roles_and_end_with_a_gain(self):
        result = self.example("roles")
        self.assertEqual(result["outcome"], "improved", result)
        self.assertGreater(result["speedup"]["low"], 1, "confirmed with an interval")
        self.assertGreaterEqual(sum(result["usage"]["calls"].values()), 2, "every answer is on record")
        self.assertTrue(self.succeed("replay", result["run"], "--workspace", self.workspace, "--json").last["same"])

    def test_a_workflow_writes_the_winner_with_consent(self):
        self.measure()
        said = self.example("workflow")
        self.assertIn("won", said)
        self.assertTrue((self.folder / "won" / "task.toml").exists())

    def test_a_team_reports_gain_and_review(self):
        self.measure()
        said = self.example("team")
        self.assertIn("faster, confirmed", said)
        self.assertIn("REVIEWED", said)

    def test_the_toolkit_needs_no_server(self):
        self.measure()
        self.assertIn("+++ b/", self.example("toolkit"))


if __name__ == "__main__":
    support.main()
