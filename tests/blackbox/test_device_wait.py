# SPDX-License-Identifier: Apache-2.0
"""Somebody holds the processor's lock: whoever waits says so, stops at once when asked to, and is charged nothing."""

import contextlib
import fcntl
import json
import os
import signal
import sqlite3
import time

import support
import test_watch_stop

LOCK = "/tmp/accelopt-cpu.lock"


class DeviceWait(support.TestCase):
    @contextlib.contextmanager
    def held_lock(self):
        """The lock as any user can hold it, who only may read the file."""
        descriptor = os.open(LOCK, os.O_RDONLY | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def waiting_run(self):
        """A run that waits for the device, and its event that says so."""
        self.tasks = getattr(self, "tasks", 0) + 1
        running = self.start("run", self.task(f"task{self.tasks}"), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 1)

        def waits():
            lines = running.out_path.read_text(encoding="utf-8").split("\n")[:-1]
            return next((line for line in map(json.loads, lines) if line["type"] == "device_wait"), None)

        return running, support.until(waits, "it says that it waits", running)

    def check_interrupted(self, finished, began):
        self.assertLess(time.monotonic() - began, 20, finished)
        self.assertEqual(finished.code, 130, finished)
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").lines[0]["status"], "interrupted")

    def test_who_waits_says_so_and_stops_at_once(self):
        with self.held_lock():
            running, event = self.waiting_run()
            for name, kind in test_watch_stop.SCHEMA["device_wait"].items():
                self.assertEqual(test_watch_stop.problems_of(event[name], kind), [], f"{name} of {event}")
            self.assertEqual((event["state"], event["pid"]), ("waiting", os.getpid()))
            self.assertTrue(event["command"] and event["user"], event)
            watching = self.start("watch", "--workspace", self.workspace)
            support.until(lambda: f"held by process {os.getpid()}" in watching.out_path.read_text(), "watch shows it", watching)
            began = time.monotonic()
            self.succeed("stop", "--workspace", self.workspace)
            self.check_interrupted(running.finish(30), began)
            watching.finish(30)
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(number.name):
                    running, _ = self.waiting_run()
                    began = time.monotonic()
                    running.process.send_signal(number)
                    self.check_interrupted(running.finish(30), began)

    def test_waiting_is_no_device_time_and_eval_says_it_too(self):
        with self.held_lock():
            running, _ = self.waiting_run()
            task = self.task("evaluated")
            evaluating = self.start("eval", task, task / "baseline.cpp")
            support.until(lambda: "waiting for the device" in evaluating.err_path.read_text(), "eval says it", evaluating)
        finished = running.finish()
        self.assertIn(finished.code, (0, 3), finished)
        self.assertEqual(evaluating.finish().code, 0, evaluating.finished())
        waited = sum(line["seconds"] for line in finished.lines if line["type"] == "device_wait" and line["state"] == "over")
        self.assertGreaterEqual(waited, 1, finished)
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db")) as journal:
            wall, device = journal.execute("SELECT wall_ms, device_ms FROM sessions").fetchone()
        self.assertLess(device, wall - 1000 * waited)


if __name__ == "__main__":
    support.main()
