# SPDX-License-Identifier: Apache-2.0
"""Replay and the timeline of a run that is the same every time."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess

import steady
import support


NOBODY = 65534


class Replay(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.workspace = self.folder / "workspace"
        self.finished = self.succeed(*self.run_arguments(self.workspace))
        self.result = self.finished.last
        self.model.take()

    def replay(self, *arguments, **options):
        return self.accelopt("replay", "--workspace", self.workspace, *arguments, **options)

    def test_needs_no_network_no_compiler_and_no_worker(self):
        self.model.close()  # nothing listens there any more
        self.worker = None
        environment = {name: value for name, value in self.environment.items() if name != "PATH"}
        replay = self.replay("--json", environment=environment | {"PATH": "/nowhere"}).last
        self.assertEqual((replay["decision_hash"], replay["same"]), (self.result["decision_hash"], True))
        self.assertEqual((replay["steps_absent"], replay["share_on_record"]), (0, 1.0))
        self.assertEqual(replay["result"]["speedup"], self.result["speedup"])
        self.assertGreater(replay["run_seconds"], replay["seconds"])

    def test_writes_nothing(self):
        before = {path: path.stat().st_mtime_ns for path in self.workspace.rglob("*") if path.suffix == ".db"}
        self.replay()
        self.replay("--set", "beam=1")
        self.assertEqual({path: path.stat().st_mtime_ns for path in before}, before)

    def test_other_settings_say_what_share_is_on_record(self):
        finished = self.replay("--set", "beam=1")
        self.assertEqual(finished.code, 0, finished)
        self.assertRegex(finished.out, r"\d+ of \d+ steps on record \(\d+ %\)")
        self.assertIn("what is not on record was left out", finished.out)
        replay = self.replay("--set", "beam=1", "--json").last
        self.assertNotEqual(replay["decision_hash"], self.result["decision_hash"])
        self.assertGreater(replay["steps_found"], 10)
        self.assertGreater(replay["steps_absent"], 0)
        self.assertAlmostEqual(replay["share_on_record"],
                               replay["steps_found"] / (replay["steps_found"] + replay["steps_absent"]))
        self.assertEqual(self.model.take()[0].total(), 0, "no model is asked")
        fewer = self.replay("--set", "iterations=1", "--json").last
        self.assertEqual(fewer["result"]["iterations"], 1)

    def test_an_unknown_setting_is_a_usage_error(self):
        self.assert_says(self.replay("--set", "beams=1"), 2, "unknown setting \"beams\"", "known are")
        self.assert_says(self.replay("--set", "beam"), 2, "write NAME=VALUE")
        self.assert_says(self.replay("--set", "beam=0"), 2, "beam is 0; it must be 1 to 64")

    def test_a_record_that_was_changed_is_found_and_said_where(self):
        """Somebody changes what was measured: the replay decides otherwise, and says in which iteration."""
        connection = sqlite3.connect(self.workspace / "accelopt.db")
        with connection:
            changed = connection.execute(
                "UPDATE steps SET output = replace(output, '\"status\":\"PASSED\"', '\"status\":\"RUNTIME_ERROR\"') "
                "WHERE kind LIKE 'triage:%' AND iteration = 1").rowcount
        connection.close()
        self.assertGreater(changed, 0)
        finished = self.replay()
        self.assert_says(finished, 5, "decided otherwise", "first difference: iteration 2")

    def test_the_decision_log_and_its_hash(self):
        shown = self.succeed("show", "--workspace", self.workspace).out
        self.assertIn("decisions " + self.result["decision_hash"], shown)
        log = self.succeed("show", "--workspace", self.workspace, "--decisions", "--json").lines
        self.assertEqual({(entry.pop("type"), entry.pop("schema")) for entry in log}, {("decision", 1)})
        own = json.dumps(log, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(hashlib.sha256(own.encode()).hexdigest(), self.result["decision_hash"], "without type and schema")
        self.assertEqual([entry["iteration"] for entry in log if "iteration" in entry], [1, 2, 3])
        self.assertTrue(any("confirm" in entry for entry in log))
        self.assertGreaterEqual(len(log[0]["attempts"]), 2)

    def test_timeline(self):
        text = self.succeed("show", "--workspace", self.workspace, "--timeline").out
        for word in ("device   used", "measure", "verify", "idle", "waiting for models", "model", "build"):
            self.assertIn(word, text)
        timeline = self.succeed("show", "--workspace", self.workspace, "--timeline", "--json").last
        self.assertEqual((timeline["type"], timeline["sessions"]), ("timeline", 1))
        self.assertLessEqual(timeline["wall_seconds"], self.result["wall_seconds"] + 0.05)
        self.assertGreater(timeline["wall_seconds"], 0)
        self.assertAlmostEqual(timeline["busy_seconds"] + timeline["idle_seconds"], timeline["wall_seconds"], places=6)
        self.assertAlmostEqual(timeline["utilisation"], timeline["busy_seconds"] / timeline["wall_seconds"], places=6)
        parts = [timeline[f"idle_for_{what}_seconds"] for what in ("models", "builds", "nothing")]
        self.assertAlmostEqual(sum(parts), timeline["idle_seconds"], places=6)
        self.assertGreater(timeline["model"]["count"], 10)

    def test_a_resumed_run_has_sessions(self):
        self.succeed("resume", "--workspace", self.workspace, "--json")
        timeline = self.succeed("show", "--workspace", self.workspace, "--timeline", "--json").last
        self.assertEqual(timeline["sessions"], 2)

    def test_every_schedule_decides_the_same(self):
        for schedule in ("stages", "serial"):
            workspace = self.folder / schedule
            result = self.succeed(*self.run_arguments(workspace), "--schedule", schedule).last
            self.assertEqual(result["decision_hash"], self.result["decision_hash"], schedule)
        self.assertEqual(self.accelopt(*self.run_arguments(self.folder / "other"), "--schedule", "parallel").code, 2)

    def test_a_workspace_that_may_not_be_written_is_read_and_says_what_to_do(self):
        (self.workspace / "objects").mkdir(exist_ok=True)
        (self.workspace / "objects").chmod(0o555)
        self.workspace.chmod(0o555)
        self.addCleanup(self.workspace.chmod, 0o755)
        (self.workspace / "accelopt.db").chmod(0o444)
        replay = self.as_another_user("replay", "--workspace", self.workspace, "--json")
        self.assertEqual(replay.last["same"], True, replay)
        self.assert_says(self.as_another_user(*self.run_arguments(self.workspace)), 1, "accelopt.db", "make it writable",
                         "--workspace")
        shutil.rmtree(self.workspace / "objects")
        self.assert_says(self.as_another_user("resume", "--workspace", self.workspace), 1, "objects", "make it writable",
                         "--workspace")

    def as_another_user(self, *arguments):
        """Root may write everywhere, so where the test is root the program is not."""
        self.folder.chmod(0o755)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        program = support.program_folder() / "accelopt"
        try:
            done = subprocess.run([program, *map(str, arguments)], env=self.environment, cwd=self.folder, text=True,
                                  capture_output=True, timeout=60, check=False, **user)
        except PermissionError:
            self.skipTest(f"another user may not run {program}")
        return support.Finished([*map(str, arguments)], done.returncode, done.stdout, done.stderr)


if __name__ == "__main__":
    support.main()
