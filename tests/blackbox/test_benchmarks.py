# SPDX-License-Identifier: Apache-2.0
"""benchmarks/: what is told of the results follows from them, tasks become the same repositories everywhere, a player is judged by
the bar, and (--long) every reference is faster, every obvious change of a trap refused, every naive one no faster."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import support

BENCHMARKS = support.ROOT / "benchmarks"


class BenchmarksTest(support.TestCase):
    def copy(self) -> pathlib.Path:
        folder = self.folder / "benchmarks"
        shutil.copytree(BENCHMARKS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def lowered(self, share: str) -> pathlib.Path:
        """The suite with another bar: a gain of the reference's to the power of this share resolves a task."""
        folder = self.copy()
        suite = folder / "suite.toml"
        text = suite.read_text()
        self.assertIn("resolved_share = 0.9", text)
        suite.write_text(text.replace("resolved_share = 0.9", f"resolved_share = {share}"))
        self.succeed("bench", folder, "--freeze")
        return folder

    def play(self, suite: pathlib.Path, task: str, code: int) -> dict:
        played = self.accelopt("bench", suite, "--only", task, "--results", self.folder / "results.jsonl", "--json")
        self.assertEqual(played.code, code, played)
        (line,) = [json.loads(text) for text in played.out.splitlines()]
        return line

    def test_trend_follows_from_the_results(self):
        folder = self.copy()
        for name in ("TREND.md", "trend.svg"):
            (folder / name).unlink()
        self.succeed("bench", folder, "--history", "--plot")
        for name in ("TREND.md", "trend.svg"):
            self.assertEqual((folder / name).read_text(), (BENCHMARKS / name).read_text(),
                             f"run: accelopt bench benchmarks --history --plot, and commit {name}")

    def test_a_recipe_resolves_a_task(self):
        line = self.play(BENCHMARKS, "visitors-py", 0)
        self.assertTrue(line["resolved"], line)
        self.assertEqual((line["verdict"], line["evaluations"], line["arm"], line["experiences"]), ("faster", 1, "cold", 0))
        self.assertGreater(line["gain"], 2)
        self.assertLessEqual(line["device_seconds"], line["seconds"])
        # The same commit as anybody makes by hand.
        made = self.folder / "by-hand"
        subprocess.run(["sh", BENCHMARKS / "make_repository.sh", "visitors-py", made], check=True)
        head = subprocess.run(["git", "-C", made, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(line["base"], head)
        self.assertFalse((made / "solutions").exists())

    def test_recorded_answers_of_a_model_resolve_tasks(self):
        # To the suite's own bar with --long, and else to a lower one, so that the clock decides nothing. The game of rules-py is played below as well.
        tasks = ("glossary-py", "rules-py") if support.takes_long() else ("glossary-py",)
        folder = BENCHMARKS if support.takes_long() else self.lowered("0.5")
        only = [word for task in tasks for word in ("--only", task)]
        played = self.accelopt("bench", folder, *only, "--replay", BENCHMARKS / "answers", "--iterations", 1, "--plans", 1, "--beam", 1,
                               "--results", self.folder / "results.jsonl", "--json", seconds=900)
        self.assertEqual(played.code, 0, played)
        lines = {line["task"]: line for line in map(json.loads, played.out.splitlines())}
        self.assertEqual(set(lines), set(tasks))
        for line in lines.values():
            self.assertEqual((line["resolved"], line["error"], line["calls"], line["evaluations"]), (True, "", 3, 1), line)
            self.assertGreater(line["tokens"], 2000)
            self.assertEqual((line["settings"]["player"], line["settings"]["models"]), ("models", "recorded answers"))

    def test_what_no_recipe_fits_is_not_resolved(self):
        line = self.play(BENCHMARKS, "hash-c", 3)
        self.assertEqual((line["resolved"], line["verdict"], line["evaluations"], line["gain"]), (False, "not_faster", 0, 1))

    def test_a_game_of_models_ends_once_its_bar_is_surely_reached(self):
        # A bar far below what the recorded change gains, so that the clock decides nothing: 41.8^0.3 is 3.1.
        folder = self.lowered("0.3")
        played = self.accelopt("bench", folder, "--only", "rules-py", "--replay", BENCHMARKS / "answers", "--iterations", 3, "--plans", 1,
                               "--beam", 1, "--results", self.folder / "results.jsonl", "--json", seconds=900)
        self.assertEqual(played.code, 0, played)
        line = json.loads(played.out.splitlines()[-1])
        # The second of three rounds would ask for answers that are not on record.
        self.assertEqual((line["resolved"], line["error"], line["calls"], line["evaluations"]), (True, "", 3, 1), line)
        self.assertIn("Stop at the first", line["strategy"])
        self.assertGreater(line["tokens"], 2000)
        self.assertEqual((line["settings"]["player"], line["settings"]["models"]), ("models", "recorded answers"))

    def test_a_changed_suite_is_refused(self):
        folder = self.copy()
        source = folder / "tasks" / "vowels-c" / "vowels.c"
        source.write_text(source.read_text() + "\n")
        refused = self.accelopt("bench", folder, "--only", "vowels-c")
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("not what was frozen", refused.err)
        self.succeed("bench", folder, "--freeze")

    def test_what_cannot_be_asked_is_said(self):
        for arguments, fact in ((("--plot",), "--history and --plot together"), (("--arm", "hot"), 'not "hot"'),
                                (("--only", "nothing"), "no task nothing")):
            refused = self.accelopt("bench", BENCHMARKS, *arguments)
            self.assertIn(refused.code, (1, 2), refused)
            self.assertIn(fact, refused.err)
        self.assertIn("suite of refactorings", self.accelopt("bench", support.SUITE, "--rounds", "2").err)

    def test_a_reference_is_never_within_reach(self):
        for place in (BENCHMARKS / "tasks").rglob("*"):
            self.assertNotIn("solution", place.name)
            self.assertFalse(place.is_symlink(), place)


@unittest.skipUnless(support.takes_long(), "takes half an hour: make check-long")
class AllTasksTest(support.TestCase):
    def test_memory_grows_and_leaves_the_family_out(self):
        results = self.folder / "results.jsonl"
        played = self.accelopt("bench", BENCHMARKS, "--only", "visitors-py", "--only", "jobs-py", "--rounds", "2", "--jobs", "2",
                               "--results", results, seconds=900)
        self.assertEqual(played.code, 0, played)
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        self.assertEqual(sorted((line["task"], line["round"], line["arm"], line["experiences"]) for line in lines),
                         sorted((task, number, arm, 0 if arm == "cold" else 1) for task in ("visitors-py", "jobs-py")
                                for number, arm in ((1, "cold"), (2, "cold"), (2, "warm"), (2, "shuffled"))))
        self.assertEqual(len({line["suite_run"] for line in lines}), 2)
        self.assertEqual(len({line["seed"] for line in lines}), 2)  # one a task

    def test_references_traps_and_naive_changes(self):
        found = subprocess.run([sys.executable, BENCHMARKS / "check.py", support.program_folder.path], capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


if __name__ == "__main__":
    support.main()
