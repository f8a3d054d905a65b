#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Suite runs over time, with the real program: cold and warm memory, a suite run that is killed in its middle, several at once."""

import contextlib
import sqlite3

import steady
import support


class BenchHistory(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.suite = self.folder / "suite"
        self.suite.mkdir()
        for name in ("one", "two"):
            self.task(f"suite/{name}", baseline=steady.BASELINE)

    def bench_arguments(self, *arguments):
        return ["bench", self.suite, "--workspace", self.workspace, "--json", "--base-url", self.model.url, "--model", steady.MODEL,
                "--worker", self.worker, *steady.SETTINGS, *arguments]

    def history(self, *arguments):
        """The suite runs, oldest first, and the comparison."""
        shown = self.succeed("bench", "--history", "--workspace", self.workspace, "--json", *arguments)
        return shown.lines[:-1], shown.last

    def begun(self):
        """Tasks that have begun, by the journal's own tables."""
        return [row[0] for row in self.rows(self.workspace, "SELECT task FROM suite_entries ORDER BY number")]

    def test_speed_ups_cost_and_memory_over_time(self):
        store = self.folder / "knowledge.db"
        results = []
        for _ in range(2):
            ran = self.accelopt(*self.bench_arguments("--knowledge", store))
            self.assertIn(ran.code, (0, 3), ran)
            results.append([line for line in ran.lines if line["type"] == "result"])
        runs, comparison = self.history()
        self.assertEqual([run["state"] for run in runs], ["done", "done"])
        for run, of_it in zip(runs, results):
            self.assertEqual((run["tasks"], run["finished"]), (["one", "two"], 2))
            for task, result in zip(run["runs"], of_it):
                self.assertEqual(task["run"], result["run"])
                self.assertEqual(task["speedup"], result["speedup"])
                self.assertEqual(task["evaluations"], result["evaluations"])
                self.assertIsNone(task["usd"], "the model has no price")
                self.assertEqual(task["evaluations_to_95"] is None, result["speedup"] is None)
                if task["evaluations_to_95"] is not None:
                    self.assertTrue(1 <= task["evaluations_to_95"] <= task["evaluations"], task)
                    self.assertTrue(0 < task["seconds_to_95"] <= task["wall_seconds"], task)
        self.assertTrue(any(task["speedup"] for run in runs for task in run["runs"]), "the model has faster kernels")
        memory = {(number, task["task"]): task["memory"] for number, run in enumerate(runs) for task in run["runs"]}
        self.assertEqual(memory[0, "one"], "cold", "the store was empty")
        self.assertEqual((memory[1, "one"], memory[1, "two"]), ("warm", "warm"))
        first = next(task for task in comparison["tasks"] if task["task"] == "one")
        self.assertEqual((first["cold"]["runs"], first["warm"]["runs"]), (1, 1))
        self.assertIsNotNone(comparison["tasks_with_both"])
        text = self.succeed("bench", "--history", "--workspace", self.workspace).out
        for expected in ("cold / warm", "evaluations to 95 %", "warm (", "unknown"):
            self.assertIn(expected, text)
        self.assertEqual([run["tasks"] for run in self.history("--only", "two")[0]], [["two"], ["two"]])
        self.assertEqual(self.history(self.folder)[0], [], "of another suite there are none")
        self.assertEqual(len(self.history(f"{self.suite}/")[0]), 2)

    def test_suite_runs_that_are_not_alike_are_not_compared(self):
        store = self.folder / "knowledge.db"
        for limit in ((), ("--max-evaluations", 500)):
            ran = self.accelopt(*self.bench_arguments("--knowledge", store, "--only", "one", *limit))
            self.assertIn(ran.code, (0, 3), ran)
        runs, comparison = self.history()
        self.assertEqual([(run["settings"]["max_evaluations"], run["runs"][0]["memory"]) for run in runs], [(None, "cold"), (500, "warm")])
        self.assertEqual((runs[0]["settings"]["plans"], runs[0]["settings"]["beam"]), (2, 2))
        self.assertEqual(set(runs[0]["settings"]["agents"]), {"planner", "executor", "fixer", "summarizer"})
        self.assertIn(steady.MODEL, runs[0]["settings"]["agents"]["planner"])
        self.assertIn(str(self.worker), runs[0]["settings"]["device"])
        self.assertEqual((comparison["tasks"], comparison["tasks_with_both"]), ([], None), "one is cold, the other warm and another")
        self.assertEqual([(group["settings"]["max_evaluations"], group["suite_runs"]) for group in comparison["alike"]],
                         [(run["settings"]["max_evaluations"], [run["suite_run"]]) for run in runs])
        text = self.succeed("bench", "--history", "--workspace", self.workspace).out
        self.assertRegex(text, r"settings 1: steady at http.*iterations 3, beam 2, plans 2.*max evaluations none")
        self.assertRegex(text, r"settings 2: .*max evaluations 500")
        self.assertNotIn("tasks with both", text)

    def test_a_suite_run_of_an_older_version_stands_apart(self):
        ran = self.accelopt(*self.bench_arguments("--only", "one"))
        self.assertIn(ran.code, (0, 3), ran)
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db")) as journal, journal:
            journal.execute("DELETE FROM suite_settings")
        (run,), comparison = self.history()
        self.assertIsNone(run["settings"])
        self.assertEqual((comparison["alike"], comparison["tasks"]), ([], []))
        self.assertIn("settings unknown", self.succeed("bench", "--history", "--workspace", self.workspace).out)

    def test_a_suite_run_that_is_killed_is_shown_as_cut_short_and_counts_what_is_resumed(self):
        _, questions = self.uninterrupted()
        self.model.hold_from(sum(questions.values()) + 1)  # the second task's run can only begin
        running = self.start(*self.bench_arguments())
        support.until(lambda: "two" in self.begun(), "the second task begins", running)
        running.kill()
        self.model.let_go()
        (run,), _ = self.history()
        self.assertEqual(run["state"], "cut short")
        self.assertEqual([task["task"] for task in run["runs"]], ["one", "two"])
        self.assertEqual(run["runs"][0]["state"], "done")
        self.assertEqual(run["runs"][1]["state"], "dead")
        self.assertIn("1 of 2", self.succeed("bench", "--history", "--workspace", self.workspace).out)
        resumed = self.accelopt("resume", run["runs"][1]["run"], "--workspace", self.workspace, "--json")
        self.assertIn(resumed.code, (0, 3), resumed)
        (run,), _ = self.history()
        self.assertEqual((run["state"], run["finished"]), ("cut short", 2))
        self.assertEqual(run["runs"][1]["speedup"], resumed.last["speedup"])

    def test_suite_runs_that_go_on_at_once_are_kept_apart(self):
        both = [self.start(*self.bench_arguments()) for _ in range(2)]
        for running in both:
            finished = running.finish()
            self.assertIn(finished.code, (0, 3), finished)
        runs, comparison = self.history()
        self.assertEqual([(run["state"], run["finished"]) for run in runs], [("done", 2)] * 2)
        ids = [task["run"] for run in runs for task in run["runs"]]
        self.assertEqual(len(set(ids)), 4)
        self.assertEqual(comparison["tasks"][0]["cold"]["runs"], 2)

    def test_a_task_that_cannot_be_read_is_told(self):
        (self.suite / "two" / "task.toml").write_text("schema = 1\n", encoding="utf-8")
        self.assertEqual(self.accelopt(*self.bench_arguments()).code, 1)
        (run,), _ = self.history()
        self.assertEqual((run["state"], run["finished"]), ("done", 1))
        self.assertIsNone(run["runs"][1]["run"])
        self.assertIn("task.toml", run["runs"][1]["error"])

    def test_an_interrupted_suite_run_says_so(self):
        self.model.hold_from(1)
        running = self.start(*self.bench_arguments())
        support.until(self.begun, "the first task begins", running)
        running.interrupt()
        self.assertEqual(running.finish().code, 130)
        (run,), _ = self.history()
        self.assertEqual(run["state"], "interrupted")
        self.assertEqual(run["finished"], 0)

    def test_without_suite_runs_it_says_so(self):
        self.assert_says(self.accelopt("bench", "--history", "--workspace", self.workspace), 1, "no runs here")
        self.succeed(*self.run_arguments(self.workspace))
        self.assertIn("no suite runs in", self.succeed("bench", "--history", "--workspace", self.workspace).out)
        self.assertEqual(self.history()[1]["suite_runs"], 0)
        self.assert_says(self.accelopt("bench", "--workspace", self.workspace), 2, "needs the folder of a suite")


if __name__ == "__main__":
    support.main()
