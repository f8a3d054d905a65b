# SPDX-License-Identifier: Apache-2.0
"""The runs under examples/recorded: a model's real answers and a device's real measurements, and no model and no device here. Prompts
or decisions that change make these fail: record the runs anew, or say why the old ones still hold."""

import json
import pathlib
import shutil
import subprocess
import unittest

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = sorted(path for path in (ROOT / "examples" / "recorded").glob("*/*") if (path / "measurements.json").exists())


def samples_in(value):
    """All samples of races, wherever they lie."""
    if isinstance(value, dict):
        yield from value.get("samples", [])
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from samples_in(inner)


class Modelled(support.TestCase):
    """A model's answers on a modelled device, which is here: it builds, verifies and times as it did. --long: all of them."""

    def test_answers_lead_to_the_same_winner(self):
        runs = sorted(path.parent for path in (ROOT / "examples" / "recorded" / "nkibench").glob("*/winner.py"))
        self.assertGreaterEqual(len(runs), 6)
        for run in runs if support.takes_long() else [run for run in runs if run.name in ("adamw", "silu")]:
            with self.subTest(run.name):
                workspace = self.folder / run.name
                result = self.succeed("run", ROOT / "suites" / "nkibench" / run.name, "--device", "trn1:model", "--replay", run / "answers",
                                      "--workspace", workspace, "--json", "--knowledge", "none", "--memory", "queue", "--beam", 2, "--plans", 2,
                                      "--attempts", 1, "--fixes", 1, "--iterations", 1).last
                self.assertEqual((result["outcome"], result["trust"]), ("improved", "modelled"))
                self.assertGreater(result["speedup"]["low"], 1.15)
                best = self.folder / f"best {run.name}"
                self.succeed("best", "--workspace", workspace, "--output", best)
                winner = (run / "winner.py").read_text(encoding="utf-8").split("\n", 1)[1]  # below its licence
                self.assertEqual((best / "baseline.py").read_text(encoding="utf-8"), winner)


    def test_an_ablation_replays_each_tasks_own_answers(self):
        """No fixer asks the same questions of this recording; recipes stand beside it."""
        found = self.succeed("ablate", ROOT / "suites" / "nkibench", "--only", "silu", "--device", "trn1:model", "--replay", ROOT / "examples" / "recorded" / "nkibench",
                             "--factor", "agents", "--factor", "fixer", "--factor", "strategy", "--beam", 2, "--plans", 2, "--attempts", 1, "--fixes", 1,
                             "--iterations", 1, "--memory", "queue", "--max-evaluations", 8, "--workspace", self.workspace, "--json").last
        arms = {(arm["factor"], arm["level"]): arm for arm in found["arms"]}
        self.assertEqual(len(found["seeds"]), 1, "a recording has its own")
        self.assertIn("recorded answers fit", arms["strategy", "greedy"]["left_out"])
        for arm in (("agents", "model"), ("fixer", "none"), ("fixer", "1 try")):
            self.assertGreater(arms[arm]["speedup"], 2, arm)
        self.assertLess(1, arms["agents", "recipes"]["speedup"])
        self.assertLess(arms["agents", "recipes"]["speedup"], arms["agents", "model"]["speedup"])


class Recorded(support.TestCase):
    def replayed(self, run, measurements=None):
        measurements = measurements or run / "measurements.json"
        worker = support.program_folder() / "recorded_worker"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads(measurements.read_text(encoding="utf-8"))["settings"]
        return self.succeed("run", ROOT / "suites" / run.parent.name / run.name, "--workspace", self.workspace, "--json",
                            "--replay", run / "answers", "--worker", f"{worker} {measurements}", "--knowledge", "none",
                            *[word for name, value in settings.items() for word in (f"--{name}", value)])

    def test_runs_end_as_they_did(self):
        self.assertGreaterEqual(len(RUNS), 4)
        for run in RUNS:
            with self.subTest(run.name):
                self.workspace = self.folder / run.name
                result = self.replayed(run).last
                recorded = json.loads((run / "measurements.json").read_text(encoding="utf-8"))
                self.assertEqual({name: result[name] for name in recorded["result"]}, recorded["result"])
                # What was decided needs neither the answers nor the worker any more.
                replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
                self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))

    def test_a_device_that_tells_its_clock_changes_no_decision_and_the_clock_is_shown(self):
        run = next(path for path in RUNS if path.name == "adamw")
        silent = self.replayed(run).last["decision_hash"]
        self.assertNotIn(" MHz", self.succeed("show", "--workspace", self.workspace, "--samples").out)
        recorded = json.loads((run / "measurements.json").read_text(encoding="utf-8"))
        for sample in samples_in(recorded):
            sample.update({"reference_mhz": [1980.4], "candidate_mhz": [1964.6], "reference_lag_ns": [4000], "candidate_lag_ns": [5000]})
        telling = self.folder / "measurements.json"
        telling.write_text(json.dumps(recorded), encoding="utf-8")
        self.workspace = self.folder / "telling"
        self.assertEqual(self.replayed(run, telling).last["decision_hash"], silent)
        self.assertIn(" at 1980 and 1965 MHz", self.succeed("show", "--workspace", self.workspace, "--samples").out)
        steps = self.succeed("show", "--workspace", self.workspace, "--json", "--samples").last["steps"]
        sample = next(step["samples"][0] for step in steps if step.get("samples"))
        self.assertEqual((sample["candidate_mhz"], sample["candidate_lag_ns"]), ([1964.6], [5000]))


class Refactored(support.TestCase):
    """A model's answers to a search on a repository. Its code is built, tested and timed on this machine."""

    RUN = ROOT / "examples" / "recorded" / "refactor" / "routes"

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", ROOT / "examples" / "refactor" / "make_repository.sh", "routes", self.repository], check=True)

    def replayed(self, answers, seconds=150):
        return self.start("refactor", "run", self.repository / "accelopt", "--replay", answers, "--workspace", self.workspace, "--json",
                          "--knowledge", "none", "--beam", 1, "--plans", 2, "--attempts", 1, "--fixes", 1, "--iterations", 1).finish(seconds)

    def test_the_questions_are_still_those_that_were_answered(self):
        """The plans fit what is asked now; of what they lead to, nothing is answered here."""
        answers = self.folder / "answers"
        answers.mkdir()
        for name in ("run.json", *(file.name for file in (self.RUN / "answers").glob("planner-*"))):
            shutil.copy(self.RUN / "answers" / name, answers)
        finished = self.replayed(answers)
        self.assertNotEqual(finished.code, 0)
        # The first of the two developers whose question has no answer here ends it.
        self.assertRegex(finished.err, r'"executor i0\.b0\.p[01]\.a0\.f0 try0"')
        self.assertNotIn("planner", finished.err)

    @unittest.skipUnless(support.takes_long(), "takes minutes: --long")
    def test_answers_lead_to_a_faster_commit_of_lower_complexity(self):
        finished = self.replayed(self.RUN / "answers", seconds=1800)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["counts"]), ("improved", {"PASSED": 2}))
        self.assertGreater(result["speedup"]["low"], 2)
        # The two are close, so the clock decides which of them is chosen.
        text = subprocess.run(["git", "-C", self.repository, "show", f"{result['commit']}:routes/graph.py"], check=True, capture_output=True, text=True).stdout
        self.assertIn(text, [(self.RUN / name).read_text(encoding="utf-8") for name in ("deque.py", "levels.py")])
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))


class Reviewed(support.TestCase):
    """A critical search: three developers, a tester and a reviewer, whose objection stops one of the three."""

    RUN = ROOT / "examples" / "recorded" / "refactor" / "routes-critical"

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", ROOT / "examples" / "refactor" / "make_repository.sh", "routes", self.repository], check=True)

    def replayed(self, answers, *more, seconds=450):
        return self.start("refactor", "run", self.repository / "accelopt", "--critical", "--replay", answers, "--workspace", self.workspace,
                          "--json", "--knowledge", "none", "--fixes", 1, "--iterations", 1, *more).finish(seconds)

    def test_the_planner_is_still_asked_what_was_answered(self):
        answers = self.folder / "answers"
        answers.mkdir()
        for name in ("run.json", *(file.name for file in (self.RUN / "answers").glob("planner-*"))):
            shutil.copy(self.RUN / "answers" / name, answers)
        finished = self.replayed(answers, "--tests", 0)
        self.assertNotEqual(finished.code, 0)
        # The first of the three developers whose question has no answer here ends it.
        self.assertRegex(finished.err, r'"executor i0\.b0\.p[012]\.a0\.f0 try0"')
        self.assertNotIn("planner", finished.err)

    @unittest.skipUnless(support.takes_long(), "takes minutes: --long")
    def test_an_objection_stops_one_of_three_again(self):
        finished = self.replayed(self.RUN / "answers", seconds=3600)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["counts"]), ("improved", {"PASSED": 3, "STOPPED_BY_REVIEW": 1}))
        self.assertEqual({role: calls for role, calls in result["usage"]["calls"].items() if calls}, {"executor": 3, "planner": 1, "reviewer": 15, "tester": 1})
        review = result["review"]
        fates = [[one["fate"] for one in change["objections"]] for change in review["changes"]]
        self.assertEqual(sorted(fates), [[], [], ["confirmed"]])
        stopped = fates.index(["confirmed"])
        self.assertTrue(review["changes"][stopped]["stopped"])
        self.assertNotIn(review["chosen"], (stopped, None))
        self.assertEqual([pair["stable"] for pair in review["pairs"]], [True] * 3)
        # The two others are close, so the clock decides which of them is chosen.
        text = subprocess.run(["git", "-C", self.repository, "show", f"{result['commit']}:routes/graph.py"], check=True, capture_output=True, text=True).stdout
        self.assertIn(text, [(self.RUN.parent / "routes" / name).read_text(encoding="utf-8") for name in ("deque.py", "levels.py")])
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))


if __name__ == "__main__":
    support.main()
