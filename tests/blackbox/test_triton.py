# SPDX-License-Identifier: Apache-2.0
"""Triton kernels on a machine without a device: captured and compiled, refused by name, verified by the interpreter."""

import json

import support

TASK = """\
schema = 1
name = "add"
op_type = "add"
description = "z = x + y"
target = "triton"

[axes]
N = "var"

[[inputs]]
name = "x"
shape = ["N"]
dtype = "float32"
init = "normal(0, 1)"

[[inputs]]
name = "y"
shape = ["N"]
dtype = "float32"
init = "normal(0, 1)"

[[outputs]]
name = "z"
shape = ["N"]
dtype = "float32"

[[workloads]]
name = "large"
axes = { N = 16777216 }
role = "race"

[[workloads]]
name = "odd"
axes = { N = 1003 }
role = "check"

[cost]
flops = "N"
bytes = "12*N"
"""

REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* x, const real* y, real* z, int64_t N) {
  for (int64_t i = 0; i < N; ++i) z[i] = x[i] + y[i];
}
"""

LARGEST = """\
#include <math.h>

#include "task.h"

extern "C" void reference(const real* x, real* y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    real largest = 0;
    for (int64_t j = 0; j < N; ++j) largest = fabs(x[i * N + j]) > largest ? fabs(x[i * N + j]) : largest;
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = x[i * N + j] / largest;
  }
}
"""

BASELINE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def run(x, y, z):
    n = x.numel()
    add_kernel[(triton.cdiv(n, 256),)](x, y, z, n, BLOCK=256)
"""


SEGMENTS = """\
schema = 3
name = "segments"
op_type = "segment_sum"
description = "y[i] = scale * the sum of sequence i"
target = "triton"

[axes]
P = "var"
T = "var"
S = "var"

[[inputs]]
name = "x"
shape = ["T"]
dtype = "float32"
init = "normal(0, 1)"

[[inputs]]
name = "indptr"
shape = ["P"]
dtype = "int32"
init = "indptr(T)"
visible = true

[[inputs]]
name = "scale"
dtype = "float32"
init = "uniform(0.5, 2)"

[[outputs]]
name = "y"
shape = ["S"]
dtype = "float32"

[[workloads]]
name = "three"
axes = { P = 4, T = 90, S = 3 }
role = "race"

[cost]
flops = "T"
bytes = "4*T"
"""

SEGMENTS_REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* x, const int32_t* indptr, real scale, real* y, int64_t P, int64_t T, int64_t S) {
  for (int64_t i = 0; i < S; ++i) {
    real sum = 0;
    for (int64_t j = indptr[i]; j < indptr[i + 1]; ++j) sum += x[j];
    y[i] = sum * scale;
  }
}
"""

SEGMENTS_BASELINE = """\
import triton
import triton.language as tl


@triton.jit
def segment(x, indptr, y, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
    at = begin + tl.arange(0, BLOCK)
    tl.store(y + i, tl.sum(tl.load(x + at, mask=at < end, other=0.0)) * scale)


def run(x, indptr, scale, y):
    longest = (indptr[1:] - indptr[:-1]).max().item()
    segment[(y.shape[0],)](x, indptr, y, scale, BLOCK=triton.next_power_of_2(max(longest, 1)))
"""


class TritonWithoutADevice(support.TestCase):
    def setUp(self):
        super().setUp()
        self.need_tools("triton")
        self.task = self.folder / "add"
        self.task.mkdir()
        for name, text in (("task.toml", TASK), ("reference.cpp", REFERENCE), ("baseline.py", BASELINE)):
            (self.task / name).write_text(text, encoding="utf-8")

    def evaluation(self, *arguments, code):
        finished = self.accelopt("eval", self.task, *arguments, "--json")
        self.assertEqual(finished.code, code, finished)
        return json.loads(finished.out.strip().splitlines()[-1])

    def kernel(self, text):
        path = self.folder / "kernel.py"
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_kernel_is_verified_and_never_timed(self):
        self.assertEqual(self.accelopt("lint", self.task).code, 0)
        evaluation = self.evaluation("--interpret", code=0)
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("NOT_MEASURED", "NONE"))
        self.assertIn("verified by the interpreter; nothing was timed", evaluation["reason"])
        self.assertEqual(evaluation["workloads"], [])
        self.assertEqual(evaluation["notes"], ["not interpreted, for their size: large"])
        self.assertIn("Triton 3.6.0", evaluation["environment"]["compiler"])

    def test_a_wrong_kernel_is_found(self):
        wrong = self.kernel(BASELINE.replace("mask = at < n", "mask = at < n - 1"))
        evaluation = self.evaluation(wrong, "--interpret", code=5)
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", evaluation)
        self.assertIn("index 1002", evaluation["reason"])

    def test_what_breaks_the_contract_says_where(self):
        refused = self.kernel("import torch\n\n\ndef run(x, y):\n    try:\n        return torch.add(x, y)\n    except Exception:\n        return x\n")
        for arguments in ([refused, "--interpret"], [refused, "--device", "cuda:0"]):
            evaluation = self.evaluation(*arguments, code=5)
            self.assertEqual(evaluation["status"], "COMPILE_ERROR", evaluation)
            self.assertRegex(evaluation["reason"], r"^kernel\.py:6: error: Tensor\.add")

    def test_a_device_is_wanted_for_times(self):
        self.need_tools(no_device=True)
        evaluation = self.evaluation("--device", "cuda:0", code=5)
        self.assertEqual(evaluation["status"], "NOT_MEASURED", evaluation)
        self.assertIn("no CUDA driver", evaluation["reason"])
        self.assertTrue(any("registers a thread" in remark for remark in evaluation["profile"]["remarks"]), evaluation)
        self.assertIn("times nothing", self.accelopt("eval", self.task, "--device", "triton").said)
        self.assertIn("choose --device cuda:0", self.accelopt("eval", self.task).said)
        self.assertIn("give one of them", self.accelopt("eval", self.task, "--interpret", "--confirm").said)

    def test_operations_of_the_host_are_kernels_of_the_plan(self):
        self.need_tools(no_device=True)
        kernel = self.kernel(BASELINE.replace("    add_kernel[", "    x = x.to(torch.float16).float().clone()\n    y.abs().amax(), y.sum()\n    add_kernel["))
        evaluation = self.evaluation(kernel, "--device", "cuda:0", code=5)
        self.assertNotEqual(evaluation["status"], "COMPILE_ERROR", evaluation)
        self.assertIn("it builds", evaluation["reason"])

    def segments(self, **files):
        files = {"task_toml": SEGMENTS, "reference_cpp": SEGMENTS_REFERENCE, "baseline_py": SEGMENTS_BASELINE, **files}
        for name, text in files.items():
            (self.task / name.replace("_", ".")).write_text(text, encoding="utf-8")

    def test_inputs_that_the_host_sees_and_drawn_scalars(self):
        self.segments()
        self.assertEqual(self.accelopt("lint", self.task).code, 0)
        evaluation = self.evaluation("--interpret", code=0)
        self.assertIn("verified by the interpreter", evaluation["reason"], evaluation)
        if self.tools["cuda driver"]["state"] != "ok":
            evaluation = self.evaluation("--device", "cuda:0", code=5)
            self.assertIn("it builds", evaluation["reason"], evaluation)
            self.assertIn("the host reads 6 elements of indptr", evaluation["profile"]["remarks"])
        short = self.kernel(SEGMENTS_BASELINE.replace("max(longest, 1)", "min(max(longest, 1), 16)"))
        self.assertEqual(self.evaluation(short, "--interpret", code=5)["status"], "INCORRECT_NUMERICAL")
        unseen = self.kernel(SEGMENTS_BASELINE.replace("longest = (", "x[0].item()\n    longest = ("))
        self.assertIn("Tensor.item", self.evaluation(unseen, "--interpret", code=5)["reason"])

    def test_outputs_of_what_the_host_knows_are_refused(self):
        self.segments(reference_cpp=SEGMENTS_REFERENCE.replace("sum += x[j]", "sum += 1"))
        said = self.accelopt("eval", self.task, "--interpret")
        self.assertNotEqual(said.code, 0)
        self.assertIn("the output y is the same for all data with which the host's own inputs (indptr, scale) come", said.said)
        self.segments()
        known = self.kernel(SEGMENTS_BASELINE.replace("(x, indptr, y, scale,", "(y, indptr, y, scale,", 2).replace("def segment(y,", "def segment(x,"))
        self.assertIn("made of what the host may see alone", self.evaluation(known, "--interpret", code=5)["reason"])

    def test_the_example_that_models_are_shown_is_right(self):
        example, other = (prompt.split("```{{fence}}\n")[1].split("```")[0] for prompt in (
            (support.ROOT / "prompts" / "triton" / f"{role}.system.txt").read_text(encoding="utf-8") for role in ("executor", "fixer")))
        self.assertEqual(example, other)
        task = TASK.replace('"x + y"', '"x / max |x|"').replace('shape = ["N"]', 'shape = ["M", "N"]').replace('N = "var"', 'M = "var"\nN = "var"')
        task = task.replace("N = 16777216", "M = 4, N = 1500").replace("N = 1003", "M = 2, N = 2500").replace("12*N", "8*M*N")
        x, _, rest = task.partition('[[inputs]]\nname = "y"')
        task = x + rest[rest.index("[[outputs]]"):].replace('name = "z"', 'name = "y"')
        self.task.joinpath("task.toml").write_text(task, encoding="utf-8")
        self.task.joinpath("reference.cpp").write_text(LARGEST, encoding="utf-8")
        self.task.joinpath("baseline.py").write_text(example, encoding="utf-8")
        evaluation = self.evaluation("--interpret", code=0)
        self.assertIn("verified by the interpreter", evaluation["reason"], evaluation)

    def test_without_triton_the_rest_works(self):
        self.environment["ACCELOPT_PYTHON"] = "/nowhere/python3"
        checks = {line["name"]: line for line in self.accelopt("doctor", "--json").lines if line["type"] == "check"}
        self.assertEqual(checks["triton"]["state"], "degraded")
        self.assertIn("pip install triton==3.6.0", checks["triton"]["advice"])
        finished = self.accelopt("eval", self.task, "--interpret")
        self.assertNotEqual(finished.code, 0)
        self.assertIn("/nowhere/python3", finished.said)
        self.succeed("lint", self.task)

    def test_other_targets_have_no_interpreter(self):
        self.assertIn("have no interpreter", self.accelopt("eval", support.SUITE / "silu", "--interpret").said)


if __name__ == "__main__":
    support.main()
