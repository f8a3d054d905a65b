#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelopt ablate, with the real program: one factor at a time, equal budgets, what is on record is not made again."""

import json
import math

import pages
import steady
import support


class Ablate(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.suite = self.folder / "suite"
        self.suite.mkdir()
        for name in ("one", "two"):
            self.task(f"suite/{name}", baseline=steady.BASELINE)

    def arguments(self, *more):
        return ["ablate", self.suite, "--workspace", self.workspace, "--base-url", self.model.url, "--model", steady.MODEL, "--worker", self.worker,
                "--seed", 11, "--iterations", 2, "--plans", 2, "--attempts", 1, "--fixes", 1, "--max-evaluations", 6, "--seeds", 2, *more]

    def suite_runs(self):
        return self.rows(self.workspace, "SELECT id FROM suite_runs")

    def test_arms_are_compared_and_continued(self):
        markdown, page = self.folder / "a.md", self.folder / "a.html"
        found = self.succeed(*self.arguments("--factor", "strategy", "--factor", "fixer", "--json", "-o", page, "--export-markdown", markdown)).last
        arms = {(arm["factor"], arm["level"]): arm for arm in found["arms"]}
        self.assertEqual(set(arms), {("strategy", "beam"), ("strategy", "greedy"), ("strategy", "repeated-sampling"), ("fixer", "none"), ("fixer", "1 try")})
        self.assertEqual([level for level, arm in arms.items() if arm["base"]], [("strategy", "beam"), ("fixer", "1 try")])
        for level, arm in arms.items():
            self.assertEqual([(run["task"], run["seed"]) for run in arm["runs"]], [("one", 11), ("two", 11), ("one", 12), ("two", 12)], level)
            logs = [math.log(run["speedup"]["estimate"]) if run["speedup"] else 0 for run in arm["runs"]]
            self.assertAlmostEqual(arm["speedup"], math.exp(sum(logs) / 4), places=9)
            self.assertEqual(arm["over_base"] is None, arm["base"])
            for run in arm["runs"]:  # a kernel that is no C++ is beyond any recipe
                self.assertEqual(run["novelty"] is None, run["speedup"] is None)
                self.assertTrue(run["novelty"] is None or 1 <= run["novelty"]["beyond_recipes"] == run["novelty"]["steps"], run)
        # An arm that is the base of two factors is run once: four arms, two seeds.
        self.assertEqual([run["run"] for run in arms["strategy", "beam"]["runs"]], [run["run"] for run in arms["fixer", "1 try"]["runs"]])
        before = self.suite_runs()
        self.assertEqual(len(before), 8)
        self.assertEqual({json.loads(row[0])["search"]["max_evaluations"] for row in self.rows(self.workspace, "SELECT settings FROM runs")}, {6})
        settings = json.loads(self.rows(self.workspace, f"SELECT settings FROM runs WHERE id = '{arms['fixer', 'none']['runs'][0]['run']}'")[0][0])
        self.assertEqual((settings["search"]["fixes"], settings["search"]["strategy"]), (0, "beam"))
        self.reads_back(arms, page, markdown)
        again = self.succeed(*self.arguments("--factor", "strategy", "--factor", "fixer", "--json")).last
        self.assertEqual((again, self.suite_runs()), (found, before), "nothing is made again")

    def test_arms_run_side_by_side(self):
        many = self.succeed(*self.arguments("--factor", "strategy", "--factor", "memory", "--jobs", 4, "--json"))
        runs = {(arm["factor"], arm["level"]): [(run["task"], run["seed"]) for run in arm["runs"]] for arm in many.last["arms"]}
        self.assertEqual(set(runs), {("strategy", "beam"), ("strategy", "greedy"), ("strategy", "repeated-sampling"), ("memory", "off"), ("memory", "queue"), ("memory", "ranked")})
        for arm, cells in runs.items():
            self.assertEqual(cells, [("one", 11), ("two", 11), ("one", 12), ("two", 12)], arm)
        self.assertEqual({arm["finished"] for arm in many.last["arms"]}, {4})
        self.assertEqual(len(self.suite_runs()), 10, "five arms, two seeds: what is the base of two factors is run once")
        self.assertIn("strategy greedy, seed 12: two: ", many.err)
        begun = [task for (task,) in self.rows(self.workspace, "SELECT task FROM suite_entries ORDER BY rowid")]
        self.assertEqual(begun[:2], ["one", "one"], "the second arm begins before the first one's second task")

    def finished_runs(self):
        there = (self.workspace / "accelopt.db").exists() and self.rows(self.workspace, "SELECT name FROM sqlite_master WHERE name = 'runs'")
        return {run for (run,) in self.rows(self.workspace, "SELECT id FROM runs WHERE status = 'done'")} if there else set()

    def test_one_that_was_interrupted_goes_on_at_the_run_where_it_stopped(self):
        running = self.start(*self.arguments("--factor", "strategy", "--json"))
        support.until(self.finished_runs, "a run that finished", running)
        running.interrupt()
        running.finish()
        kept = self.finished_runs()
        markdown = self.folder / "a.md"
        again = self.succeed(*self.arguments("--factor", "strategy", "--json", "--export-markdown", markdown)).last
        made = {run["run"] for arm in again["arms"] for run in arm["runs"]}
        self.assertEqual(len(made), 12, "three arms, two seeds, two tasks")
        self.assertEqual((made, kept - made), (self.finished_runs(), set()), "what had finished is not made again")
        self.assertNotIn("are not there", markdown.read_text(encoding="utf-8"))

    def reads_back(self, arms, page, markdown):
        """Plot, tables and Markdown hold the figures of the JSON."""
        plot = pages.plot(pages.read(page.read_text(encoding="utf-8")), "over-base")
        drawn = {row: (low, high) for style in ("faster", "slower", "tie") for row, low, high in plot.intervals(style)}
        for (factor, level), arm in arms.items():
            if arm["over_base"]:
                name = f"{factor}: {level}"
                low, high = drawn[name if len(name) <= 24 else level]
                self.assertAlmostEqual(low, arm["over_base"]["low"], delta=0.01 * arm["over_base"]["low"])
                self.assertAlmostEqual(high, arm["over_base"]["high"], delta=0.01 * arm["over_base"]["high"])
        text = markdown.read_text(encoding="utf-8")
        self.assertIn("| strategy | beam (base) | 4 |", " ".join(text.split()))
        checked = pages.checked_in_browser([page])
        if not isinstance(checked, str):
            self.assertEqual(checked[0]["html"], [])
            self.assertEqual([look["axe"] + look["console"] for look in checked[0]["looks"].values()], [[], [], []])

    def test_what_cannot_be_compared_is_refused(self):
        for more, why in ((["--factor", "luck"], "there is no factor luck"), (["--knowledge", "x.db"], "--knowledge"), (["--no-memory"], "--factor memory")):
            self.assert_says(self.accelopt(*self.arguments(*more)), 2, why)
        unbounded = [word for word in self.arguments() if word not in ("--max-evaluations", 6)]
        self.assert_says(self.accelopt(*unbounded), 2, "equal budgets")
        self.assertEqual(self.suite_runs(), [])


if __name__ == "__main__":
    support.main()
