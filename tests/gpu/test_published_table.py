# SPDX-License-Identifier: Apache-2.0
"""published_table.py and library_times.py without a device: their arithmetic, their draws, and a whole sitting with a stand-in."""

import contextlib
import io
import json
import math
import os
import pathlib
import sys
import tempfile
import tomllib
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import library_times  # noqa: E402
import published_table as table  # noqa: E402

# Answers as accelopt does: by the text of the candidate.
STAND_IN = """#!/bin/sh
grep -q visible "$2/task.toml" || { echo "nothing is visible" >&2; exit 1; }
grep -q OURS "$2/baseline.py" || { echo "the baseline is another" >&2; exit 1; }
if grep -q WRONG "$3"; then
  echo '{"type": "evaluation", "status": "INCORRECT_NUMERICAL", "reason": "element 3", "ratio": null, "workloads": []}'
  exit 1
fi
echo '{"type": "evaluation", "status": "PASSED", "reason": "", "ratio": {"estimate": 0.25, "low": 0.2, "high": 0.5}, "environment": {"device": "a device"},
  "workloads": [{"name": "w", "role": "race", "time_ns": 4000, "reference_ns": 1000, "roofline": {"floor_ns": 500, "fraction": 0.125, "bound": "bytes"}}]}' | tr -d '\\n'
"""


def ratio(estimate, low=None, high=None):
    return {"estimate": estimate, "low": low or estimate, "high": high or estimate}


class Arithmetic(unittest.TestCase):
    def test_a_geometric_mean_has_the_interval_of_independent_ratios(self):
        mean = table.geometric_mean([ratio(2, 1, 4), ratio(8, 4, 16)])
        self.assertAlmostEqual(mean["estimate"], 4)
        # Two errors of log 2, in quadrature, over two.
        self.assertAlmostEqual(mean["low"], 4 / 2 ** (1 / math.sqrt(2)))
        self.assertAlmostEqual(mean["high"], 4 * 2 ** (1 / math.sqrt(2)))
        self.assertIsNone(table.geometric_mean([]))

    def test_a_ratio_is_turned_with_its_ends(self):
        self.assertEqual(table.turned(ratio(0.25, 0.2, 0.5)), ratio(4, 2, 5))

    def test_a_program_s_time_is_without_outliers_and_added_time_is_ours(self):
        times = [100.0] * 18 + [1.0, 10000.0]
        self.assertAlmostEqual(table.trimmed_interval(times)["estimate"], 100)
        self.assertAlmostEqual(table.over(times, 15, 5)["estimate"], 5)

    def row(self, task, **ratios):
        return {"task": task, "over": {name.replace("_", " "): value for name, value in ratios.items()}}

    def test_figures_are_reached_missed_or_not_complete(self):
        rows = [self.row(task, baseline=ratio(6), best=ratio(3), sample=ratio(0.9, 0.8, 1.1), flashinfer=ratio(0.5)) for task in table.TASKS if task != table.MOE]
        rows.append(self.row(table.MOE, deprecated_baseline=ratio(4)))
        self.assertEqual([one["reached"] for one in table.figures(rows)], [True, True, False, True])
        self.assertAlmostEqual(table.figures(rows)[1]["value"]["estimate"], 0.9)
        self.assertEqual([one["reached"] for one in table.figures(rows[1:-1])], [None, None, None, None])
        rows[3]["over"]["sample"] = ratio(0.9, 0.85, 0.95)
        self.assertFalse(table.figures(rows)[1]["reached"])


class Draws(unittest.TestCase):
    """What an evaluation of gqa_paged_decode_h32_kv4 on `--seed 7` gives a kernel in slot 4 of its small workload."""

    def test_offsets_are_accelopt_s(self):
        seed = library_times.input_seed(7, "sequences_5", 4, "kv_indptr")
        self.assertEqual(library_times.drawn_indptr(seed, 6, 317), [0, 100, 160, 196, 249, 317])

    def test_pages_are_accelopt_s(self):
        pages = library_times.drawn_distinct(library_times.input_seed(7, "sequences_5", 4, "kv_indices"), 317, 0, 331)
        self.assertEqual(pages[:6] + pages[-4:], [227, 23, 291, 284, 230, 316, 103, 121, 161, 132])
        self.assertEqual(len(set(pages)), 317)

    def test_every_task_has_one_race_workload_whose_structure_is_drawn(self):
        for name in table.TASKS:
            task = library_times.Task(table.SUITE / name)
            for given in task.inputs:
                if given["name"].endswith("indptr"):
                    numbers = task.structure(given, 1, 0)
                    self.assertEqual((numbers[0], len(numbers)), (0, task.shape_of(given)[0]), name)
                    self.assertEqual(numbers, sorted(numbers))


class Sitting(unittest.TestCase):
    TASK = "gqa_paged_decode_h32_kv4"

    def checkout(self, folder):
        def put(place, definition, text, entry="run"):
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"definition": definition, "spec": {"entry_point": f"main.py::{entry}"}, "sources": [{"path": "main.py", "content": text}]}))
        name = table.TASKS[self.TASK]
        put(f"experiments/flb_optimize/solutions/gqa_paged/{name}/one.json", name, "def other(): pass", "other")
        put("experiments/flb_full_complete_local/results/12-21-17-05/one_solution.json", name, "WRONG = 1")
        put("samples/fib/one.json", name, "def run(): pass")
        put("samples/fib/two.json", name.replace("kv4", "kv8"), "def run(): pass")
        return folder

    def test_a_sitting_writes_what_passed_and_says_what_did_not(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "bin" / "accelopt").write_text(STAND_IN)
            (folder / "bin" / "accelopt").chmod(0o755)
            ours = folder / "ours.py"
            ours.write_text("OURS = 1\n")
            arguments = ["published_table.py", folder / "bin", self.checkout(folder / "checkout"), folder / "out", "--only", self.TASK,
                         "--ours", f"{self.TASK}={ours}", "--libraries"]
            # Its own function is not called where there is no PyTorch to call it with.
            with mock.patch.object(sys, "argv", [str(part) for part in arguments]), mock.patch.object(table, "TIMES", folder / "nothing.py"), \
                    mock.patch.dict(os.environ), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(table.main(), 0)
            found = json.loads((folder / "out" / "table.json").read_text())
            row = found["rows"][0]
            self.assertEqual(found["device"], "a device")
            self.assertEqual((row["ours_ns"], row["floor_ns"], row["share"]), (1000, 500, 0.5))
            self.assertEqual(row["over"], {"baseline": ratio(4, 2, 5), "sample": ratio(4, 2, 5)})
            self.assertTrue(any("best was not raced: INCORRECT_NUMERICAL: element 3" in note for note in row["notes"]), row["notes"])
            self.assertTrue(any("left out: the sample of gqa_paged_decode_h32_kv8" in note for note in row["notes"]), row["notes"])
            text = (folder / "out" / "table.md").read_text()
            self.assertIn("| gqa_paged_decode_h32_kv4 | 1.00 us | 0.50 us | 50.0 % | 4.00 us; 4x [2, 5] | 4.00 us; 4x [2, 5] |", text)
            self.assertIn("NOT COMPLETE", text)

    def test_folders_of_something_else_are_refused_before_anything_is_measured(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "bin" / "accelopt").write_text("")
            for programs, checkout, expected in ((folder, folder, "has no accelopt"), (folder / "bin", folder, "has no experiments/flb_optimize/solutions")):
                told = io.StringIO()
                with mock.patch.object(sys, "argv", ["published_table.py", str(programs), str(checkout), str(folder / "out")]), \
                        contextlib.redirect_stderr(told), self.assertRaises(SystemExit):
                    table.main()
                self.assertIn(expected, told.getvalue())
            self.assertFalse((folder / "out").exists())

    def test_a_task_s_copy_asks_for_what_published_kernels_take(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "ours.py").write_text("OURS = 1\n")
            read = {task: tomllib.loads((table.copy_of_task(task, folder / "ours.py", folder / task) / "task.toml").read_text()) for task in table.TASKS}
        self.assertEqual({(one["axes"]["N"], one["axes"]["K"]) for one in read["gemm"]["workloads"]}, {(28672, 4096)})
        for task in table.ATTENTION:
            visible = [given["name"] for given in read[task]["inputs"] if given.get("visible")]
            self.assertEqual(visible, [given["name"] for given in read[task]["inputs"] if given["name"].endswith("indptr")], task)
            for workload in read[task]["workloads"]:
                if "kv_indptr" in workload.get("inputs", {}):
                    parts = {name: [int(one) for one in text[7:-1].split(",")] for name, text in workload["inputs"].items()}
                    keys = [end - begin for begin, end in zip(parts["kv_indptr"], parts["kv_indptr"][1:])]
                    queries = parts.get("qo_indptr", range(len(keys) + 1))
                    self.assertTrue(all(1 <= count and queries[i + 1] - queries[i] <= count for i, count in enumerate(keys)), workload)
                    self.assertEqual(queries[-1], workload["axes"].get("total_q", len(keys)))

    def test_another_entry_is_made_available_as_run(self):
        with tempfile.TemporaryDirectory() as name:
            kernels, _ = table.published(self.checkout(pathlib.Path(name)), table.TASKS[self.TASK])
        self.assertEqual(kernels["baseline"].splitlines()[-1], "run = other")


if __name__ == "__main__":
    unittest.main()
