# SPDX-License-Identifier: Apache-2.0
"""A start that fails leaves no run in the journal, and what was there before stays."""

import contextlib
import sqlite3

import support

TABLES = ("runs", "steps", "sessions", "events", "requests")


class FailedStart(support.TestCase):
    def counts(self):
        if not (self.workspace / "accelopt.db").exists():
            return dict.fromkeys(TABLES, 0)
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db")) as journal:
            return {table: journal.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}

    def test_a_start_that_fails_leaves_no_run(self):
        task = self.task()
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "task.toml").write_text("schema = 1\nname = ", encoding="utf-8")
        starts = {
            "an unknown device": (task, "--device", "cpu:9999"),
            "no device's name": (task, "--device", "tpu"),
            "a device of another target": (task, "--device", "cuda:0"),
            "no worker": (task, "--worker", "/nowhere/accelopt worker"),
            "a worker that ends": (task, "--worker", "false"),
            "no compiler": (task, "--compiler", "/nowhere/g++"),
            "an unreadable task": (broken,),
            "no task": (self.folder / "absent",),
            "a mailbox that cannot be made": (task, "--mailbox", task / "task.toml" / "questions"),
            "no recording": (task, "--replay", self.folder / "absent.jsonl"),
        }
        before = self.counts()
        for name, arguments in starts.items():
            with self.subTest(name):
                finished = self.accelopt("run", *arguments, "--workspace", self.workspace)
                self.assertIn(finished.code, (1, 2, 4, 5), finished)
                self.assertTrue(finished.err.strip(), finished)
                self.assertNotIn("accelopt resume", finished.err, "there is nothing to resume")
                self.assertEqual(self.counts(), before, finished)

    def test_what_was_there_stays(self):
        task = self.task()
        started = self.accelopt("run", task, "--workspace", self.workspace, *support.steady_worker(), "--iterations", 1)
        self.assertIn(started.code, (0, 3), started)
        before = self.counts()
        self.assertEqual(before["runs"], 1)
        self.accelopt("run", task, "--workspace", self.workspace, "--worker", "false")
        self.assertEqual(self.counts(), before)
        self.succeed("show", "last", "--workspace", self.workspace)


if __name__ == "__main__":
    support.main()
