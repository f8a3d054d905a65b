# SPDX-License-Identifier: Apache-2.0
"""`accelopt run` without a model, and every command that tells about a run afterwards."""

import json
import re
import tomllib

import support
from support import BASELINE, TASK

RESULT_FIELDS = {"type", "schema", "run", "task", "device", "outcome", "stopped_by", "reason", "speedup", "workloads", "solution",
                 "solution_id", "counts", "usage", "evaluations", "iterations", "experiences", "trust", "derived_reference",
                 "decision_hash", "wall_seconds"}
USAGE_FIELDS = {"calls", "input_tokens", "cached_input_tokens", "output_tokens", "transport_retries", "usd"}
EVENT_FIELDS = {
    "run_started": {"run", "task", "device", "iterations", "baseline_ns", "baseline_roofline", "planned_evaluations"},
    "iteration_started": {"iteration", "beam"},
    "attempt": {"id", "state", "title", "status", "ratio", "note"},
    "learned": {"title", "polarity", "effect"},
    "selected": {"iteration", "beam", "incumbent", "evaluations", "usage"},
    "confirming": {"id", "title"},
    "run_finished": {"outcome", "stopped_by", "speedup", "wall_seconds"},
}


class RunRecipes(support.TestCase):
    def run_small(self):
        definition = TASK.replace("N = 64", "N = 96").replace("K = 64", "K = 96")
        finished = self.succeed("run", self.task(definition=definition), "--workspace", self.workspace, "--json",
                                "--iterations", 2)
        return finished, finished.last

    def test_the_small_matmul_and_all_that_is_told_about_it(self):
        finished, result = self.run_small()
        self.check_events(finished)
        self.check_result(finished, result)
        self.check_the_list(result)
        self.check_the_record(result)
        self.check_the_winner(result)
        self.check_the_replay(result)
        self.check_resume_of_a_finished_run(result)

    def check_events(self, finished):
        seen = {}
        for line in finished.lines[:-1]:
            seen.setdefault(line["type"], []).append(line)
        for kind, fields in EVENT_FIELDS.items():
            self.assertIn(kind, seen, finished)
            for line in seen[kind]:
                self.assertLessEqual(fields, set(line), line)
                self.assertEqual(line["schema"], 1, line)
        self.assertEqual([line["type"] for line in finished.lines[:2]], ["estimate", "run_started"])
        self.assertEqual([e["iteration"] for e in seen["iteration_started"]], list(range(len(seen["iteration_started"]))))
        states = {"planning", "executing", "building", "measuring", "fixing", "done"}
        self.assertLessEqual({e["state"] for e in seen["attempt"]}, states)
        self.assertNotIn("\x1b", finished.said)

    def check_result(self, finished, result):
        self.assertEqual(set(result) & RESULT_FIELDS, RESULT_FIELDS, finished)
        self.assertEqual((result["type"], result["schema"], result["task"]), ("result", 1, "small_matmul"))
        self.assertEqual((result["outcome"], result["reason"]), ("improved", ""), finished)
        self.assertIn(result["stopped_by"], ("iterations", "patience", "near_roofline"))
        speedup = result["speedup"]
        self.assertTrue(1.005 < speedup["low"] <= speedup["estimate"] <= speedup["high"], speedup)
        self.assertGreater(speedup["low"], 3, "a matmul in the order of the definition is many times too slow")
        self.assertEqual({(w["name"], w["role"]) for w in result["workloads"]}, {("raced", "race"), ("hidden", "held_out")})
        for workload in result["workloads"]:
            self.assertLess(workload["best_ns"], workload["baseline_ns"])
            self.assertTrue(0 < workload["roofline_fraction"] <= 1, workload)
            self.assertLess(abs(workload["baseline_ns"] / workload["best_ns"] / workload["speedup"]["estimate"] - 1), 0.5)
        self.assertLessEqual(USAGE_FIELDS, set(result["usage"]))
        self.assertLessEqual({"planner", "executor", "fixer", "summarizer"}, set(result["usage"]["calls"]))
        self.assertEqual(sum(result["usage"]["calls"].values()), 0, "no model was asked")
        self.assertGreaterEqual(result["counts"]["PASSED"], 1)
        self.assertGreaterEqual(result["evaluations"], 1, "duplicates have a status too and are not evaluated")
        self.assertGreaterEqual(result["experiences"], 1)
        self.assertEqual(result["trust"], "isolated")
        self.assertIs(result["derived_reference"], False)
        self.assertRegex(result["decision_hash"], r"^[0-9a-f]{64}$")
        self.assertGreater(result["wall_seconds"], 0)

    def check_the_list(self, result):
        listed = self.succeed("runs", "--workspace", self.workspace, "--json")
        self.assertEqual(len(listed.lines), 1, listed)
        line = listed.last
        self.assertEqual((line["type"], line["run"], line["task"], line["status"]), ("run", result["run"], "small_matmul", "done"))
        self.assertEqual(line["result"]["decision_hash"], result["decision_hash"])
        table = self.succeed("runs", "--workspace", self.workspace).out
        for word in (result["run"], "small_matmul", "improved"):
            self.assertIn(word, table)

    def check_the_record(self, result):
        shown = self.succeed("show", result["run"][:13], "--workspace", self.workspace, "--json").last
        self.assertEqual((shown["type"], shown["run"]), ("run_detail", result["run"]))
        self.assertEqual(shown["result"]["solution_id"], result["solution_id"])
        self.assertTrue(shown["steps"])
        for step in shown["steps"]:
            self.assertLessEqual({"id", "kind", "seconds", "usage"}, set(step))
        for_people = self.succeed("show", "--workspace", self.workspace).out
        self.assertIn(result["run"], for_people)
        self.assertIn("improved", for_people)
        source = self.succeed("show", "last", result["solution_id"][:12], "--workspace", self.workspace).out
        self.assertEqual(source.strip(), result["solution"]["sources"][0]["text"].strip())

    def check_the_winner(self, result):
        text = result["solution"]["sources"][0]["text"]
        self.assertEqual(self.succeed("best", "--workspace", self.workspace).out.strip(), text.strip())
        self.succeed("best", "last", "-o", "best", "--workspace", self.workspace)
        self.assertEqual((self.folder / "best" / "baseline.cpp").read_text().strip(), text.strip())
        self.assertEqual(tomllib.loads((self.folder / "best" / "task.toml").read_text())["name"], "small_matmul")
        self.succeed("lint", "best")
        again = self.accelopt("best", "last", "-o", "best", "--workspace", self.workspace)
        self.assert_says(again, 1, "best", "--force")
        self.succeed("best", "last", "-o", "best", "--force", "--workspace", self.workspace)
        verdict = self.succeed("eval", "task", "best/baseline.cpp", "--json").last
        self.assertEqual((verdict["status"], verdict["verdict"]), ("PASSED", "FASTER"), verdict)
        diff = self.succeed("diff", "--workspace", self.workspace).out
        self.assertTrue(diff.startswith("--- "), diff)
        removed = [line[1:] for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
        added = [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
        self.assertTrue(set(removed) <= set(BASELINE.splitlines()), removed)
        self.assertTrue(added and set(added) <= set(text.splitlines()), added)

    def check_the_replay(self, result):
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual(replay["decision_hash"], result["decision_hash"])
        self.assertEqual(replay["stored_hash"], result["decision_hash"])
        self.assertIs(replay["same"], True)
        self.assertEqual(replay["steps_absent"], 0)
        changed = self.succeed("replay", "--workspace", self.workspace, "--json", "--set", "beam=1", "--set", "plans=2").last
        self.assertNotEqual(changed["decision_hash"], result["decision_hash"])
        self.assertGreater(changed["steps_found"], 0)
        self.assertLessEqual(changed["result"]["counts"]["PASSED"], 2 * 2)

    def check_resume_of_a_finished_run(self, result):
        resumed = self.succeed("resume", result["run"], "--workspace", self.workspace, "--json").last
        for field in ("run", "outcome", "speedup", "solution_id", "decision_hash", "workloads"):
            self.assertEqual(resumed[field], result[field], field)

    def test_an_evaluation_budget_ends_a_run(self):
        finished = self.accelopt("run", self.task(), "--workspace", self.workspace, "--json", "--max-evaluations", 2)
        self.assertIn(finished.code, (0, 3, 4), finished)
        self.assertLessEqual(finished.last["evaluations"], 2, finished)
        if finished.last["outcome"] == "improved":
            self.assertEqual(finished.code, 0, finished)
        self.assertRegex(finished.last["stopped_by"], "evaluations")

    def test_a_kernel_that_cannot_be_beaten_is_an_honest_no_gain(self):
        """The baseline waits for memory alone: no change of loops makes it faster by what counts."""
        definition = """\
schema = 1
name = "copy"
op_type = "copy"
description = "y = x"
target = "cpu"

[axes]
M = "var"

[[inputs]]
name = "x"
shape = ["M"]
dtype = "float32"
init = "normal(0, 1)"

[[outputs]]
name = "y"
shape = ["M"]
dtype = "float32"

[[workloads]]
name = "raced"
axes = { M = 120000 }
role = "race"
[[workloads]]
name = "hidden"
axes = { M = 80001 }
role = "held_out"

[cost]
flops = "M"
bytes = "8*M"

[cpu]
threads = 1
cache = "cold"
"""
        copy = '#include "task.h"\n#include <cstring>\n\nextern "C" void kernel(const float* x, float* y, int64_t M) {\n' \
               "  std::memcpy(y, x, sizeof(float) * M);\n}\n"
        reference = '#include "task.h"\n\nextern "C" void reference(const real* x, real* y, int64_t M) {\n' \
                    "  for (int64_t i = 0; i < M; ++i) y[i] = x[i];\n}\n"
        finished = self.accelopt("run", self.task("copy", definition, copy, reference), "--workspace", self.workspace, "--json",
                                 "--iterations", 1)
        self.assertEqual(finished.code, 3, finished)
        result = finished.last
        self.assertEqual((result["type"], result["outcome"], result["speedup"]), ("result", "no_gain", None), finished)
        self.assertTrue(result["reason"], finished)
        best = self.accelopt("best", "--workspace", self.workspace)
        self.assert_says(best, 1, result["run"], "no confirmed winner", "accelopt show")

    def test_progress_for_people(self):
        """At most 40 lines: events that matter, counts that add up, the winning change, and what to do next."""
        finished = self.succeed("run", self.task(), "--workspace", self.workspace, "--iterations", 2)
        lines = finished.said.splitlines()
        self.assertLessEqual(len(lines), 40, finished)
        for text in ("iteration 1/2", "new best ", "confirming ", "--- a/baseline.cpp", "+++ b/baseline.cpp", "accelopt best "):
            self.assertIn(text, finished.said, finished)
        self.assertNotIn("learned: ", finished.said)
        self.check_counts(finished)
        run, = self.succeed("runs", "--workspace", self.workspace, "--json").lines
        self.assertIn(f"accelopt best {run['run']} -o faster", finished.said)
        self.assertIn(str(self.workspace), finished.said)

    def check_counts(self, finished):
        """Every attempt is counted once, while the run goes on and at its end."""
        during = [list(map(int, re.findall(r"(\d+) ", line.split(";")[0])))
                  for line in finished.said.splitlines() if re.match(r"  \d+ attempts?: ", line)]
        for total, *parts in during:
            self.assertEqual(total, sum(parts), finished)
        last = re.search(r"(?m)^(\d+) attempts?: ([^;\n]*)", finished.said)
        self.assertIsNotNone(last, finished)
        parts = [int(part.split()[0]) for part in last[2].split(", ")]
        self.assertEqual(int(last[1]), sum(parts), finished)
        self.assertEqual(int(last[1]), sum(total for total, *_ in during), finished)

    def test_verbose_progress_lists_attempts_and_lessons(self):
        finished = self.succeed("run", self.task(), "--workspace", self.workspace, "--iterations", 1, "-v")
        self.assertRegex(finished.said, r"(?m)^  i0\.b0\.p0\.a0\.f0 .* against its parent")
        self.assertIn("  learned: ", finished.said)
        self.assertNotIn("\x1b", finished.said, "no escape codes when piped")
        for word in ("small_matmul", "faster", "raced", "recipes"):
            self.assertIn(word, finished.said, finished)
        self.assertNotIn(json.dumps("type"), finished.out)


if __name__ == "__main__":
    support.main()
