# SPDX-License-Identifier: Apache-2.0
"""Captured Triton kernels on a real device: replayed, verified, raced, and refused where they are wrong.

python3 tests/gpu/triton_replay.py FOLDER-OF-ACCELOPT [unittest options]     needs Triton (ACCELOPT_PYTHON, docs/triton.md)
"""

import os
import sys
import time

import device
import support

TASK = """\
schema = 1
name = "halves"
op_type = "add"
description = "z = x + y / 2, over rows"
target = "triton"

[axes]
M = "var"
N = "var"

[[inputs]]
name = "x"
shape = ["M", "N"]
dtype = "float32"
init = "normal(0, 1)"

[[inputs]]
name = "y"
shape = ["M", "N"]
dtype = "float32"
init = "normal(0, 1)"

[[outputs]]
name = "z"
shape = ["M", "N"]
dtype = "float32"

[[workloads]]
name = "large"
axes = { M = 2048, N = 2048 }
role = "race"

[[workloads]]
name = "odd"
axes = { M = 37, N = 64 }
role = "check"

[cost]
flops = "2*M*N"
bytes = "12*M*N"
"""

REFERENCE = """\
//@ launch reference grid=(cdiv(M*N, 256)) block=(256) args=(x, y, z, M, N)
extern "C" __global__ void reference(const real* x, const real* y, real* z, int64_t M, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < M * N) z[i] = x[i] + y[i] / 2;
}
"""

HEAD = """\
import torch
import triton
import triton.language as tl


@triton.jit
def combine(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask) * 0.5, mask=mask)


def combined(x, y, z):
    combine[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), BLOCK=256)

"""

BASELINE = HEAD + """
def run(x, y, z):
    combined(x, y, z)
"""

# Each goes through something else of a plan, and is right.
RIGHT = {
    "a returned tensor": HEAD + """
def run(x, y):
    z = torch.empty_like(x)
    combined(x, y, z)
    return z
""",
    "a fill, copies and a conversion of the host": HEAD + """
def run(x, y, z):
    z.fill_(3.0)
    rows = torch.empty(x.shape[1], x.shape[0], dtype=torch.float32, device=x.device)
    rows.copy_(y.t())
    combined(x.clone(), rows.t().contiguous(), z)
    z.to(torch.float16)
""",
    "a transposed view that is copied back": HEAD + """
def run(x, y, z):
    turned = torch.empty(x.shape[1], x.shape[0], device=x.device)
    combined(x.t().contiguous(), y.t().contiguous(), turned)
    z.copy_(turned.t())
""",
    "sums and the largest value, by the host": HEAD + """
@triton.jit
def divide(y, sums, largest, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    wrong = tl.load(sums + row) * 0.0 + tl.load(largest) * 0.0
    for begin in range(0, N, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(out + row * N + at, tl.load(y + row * N + at, mask=at < N) + wrong, mask=at < N)


def run(x, y, z):
    again = torch.empty_like(y)
    divide[(y.shape[0],)](y, y.sum(dim=1), x.abs().amax(), again, y.shape[1], BLOCK=64)
    combined(x, again, z)
""",
    "a tensor descriptor of the host": HEAD + """
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def by_boxes(x, y, z, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    z.store([row, column], x.load([row, column]) + y.load([row, column]) * 0.5)


def run(x, y, z):
    boxes = [TensorDescriptor.from_tensor(t, [16, 64]) for t in (x, y, z)]
    by_boxes[(triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 64))](*boxes, ROWS=16, COLUMNS=64)
""",
    "launches that overlap": HEAD.replace("    at = tl.program_id(0)", "    tl.extra.cuda.gdc_wait()\n    at = tl.program_id(0)").replace(
        "BLOCK=256)", "BLOCK=256, launch_pdl=True)") + """
def run(x, y, z):
    half = torch.empty_like(x)
    combined(x, y, half)
    combined(half, torch.zeros_like(y), z)
""",
    "a cooperative launch": HEAD.replace("(triton.cdiv(x.numel(), 256),)", "(132,)").replace("BLOCK=256)", "BLOCK=256, launch_cooperative_grid=True)").replace(
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    mask = at < n\n    tl.store",
        "  for begin in range(tl.program_id(0) * BLOCK, n, 132 * BLOCK):\n    at = begin + tl.arange(0, BLOCK)\n    mask = at < n\n    tl.store") + """
def run(x, y, z):
    combined(x, y, z)
""",
    "clusters": HEAD.replace("BLOCK=256)", "BLOCK=256, num_ctas=2)") + """
def run(x, y, z):
    combined(x, y, z)
""",
}

TUNED = """\
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 16, "SKIP": 0}, num_warps=1), triton.Config({"BLOCK": 1024, "SKIP": 0}),
                          triton.Config({"BLOCK": 1024, "SKIP": 1})], key=["n"])
@triton.jit
def combine(x, y, z, n, BLOCK: tl.constexpr, SKIP: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    left = tl.load(x + at, mask=mask)
    tl.store(z + at, left if SKIP else left + tl.load(y + at, mask=mask) * 0.5, mask=mask)


def run(x, y, z):
    combine[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel())
"""


# Sequences of which the host reads the offsets, and a scalar that is drawn.
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
families = ["scaled", "heavy"]

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
name = "many"
axes = { P = 257, T = 65536, S = 256 }
role = "race"

[[workloads]]
name = "few"
axes = { P = 9, T = 400, S = 8 }
role = "check"

[cost]
flops = "T"
bytes = "4*T"
"""

SEGMENTS_REFERENCE = """\
//@ launch reference grid=(S) block=(32) args=(x, indptr, scale, y, S)
extern "C" __global__ void reference(const real* x, const int* indptr, real scale, real* y, int64_t S) {
  if (threadIdx.x != 0) return;
  real sum = 0;
  for (int j = indptr[blockIdx.x]; j < indptr[blockIdx.x + 1]; ++j) sum += x[j];
  y[blockIdx.x] = sum * scale;
}
"""

SEGMENTS_HEAD = """\
import torch
import triton
import triton.language as tl


@triton.jit
def segment(x, indptr, y, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
    at = begin + tl.arange(0, BLOCK)
    tl.store(y + i, tl.sum(tl.load(x + at, mask=at < end, other=0.0)) * scale)


def longest(indptr):
    return max((indptr[1:] - indptr[:-1]).max().item(), 1)

"""

SEGMENTS_RIGHT = {
    "a block as long as the longest sequence": SEGMENTS_HEAD + """
def run(x, indptr, scale, y):
    segment[(y.shape[0],)](x, indptr, y, scale, BLOCK=triton.next_power_of_2(longest(indptr)))
""",
    "no value of a tensor": SEGMENTS_HEAD + """
def run(x, indptr, scale, y):
    segment[(y.shape[0],)](x, indptr, y, scale, BLOCK=triton.next_power_of_2(x.numel()))
""",
    "pieces that the host lists": SEGMENTS_HEAD + """
@triton.jit
def pieces(x, rows, begins, ends, y, scale, BLOCK: tl.constexpr):
    piece = tl.program_id(0)
    at = tl.load(begins + piece) + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + at, mask=at < tl.load(ends + piece), other=0.0)) * scale
    tl.atomic_add(y + tl.load(rows + piece), part)


def run(x, indptr, scale, y):
    offsets = indptr.tolist()
    found = [(row, at, min(at + 1024, end)) for row, (begin, end) in enumerate(zip(offsets, offsets[1:])) for at in range(begin, end, 1024)]
    y.zero_()
    rows, begins, ends = (torch.tensor(column, dtype=torch.int32, device=x.device) for column in zip(*found))
    pieces[(len(found),)](x, rows, begins, ends, y, scale, BLOCK=1024)
""",
    "another kernel for some values": SEGMENTS_HEAD + """
def run(x, indptr, scale, y):
    size = triton.next_power_of_2(longest(indptr))
    segment[(y.shape[0],)](x, indptr, y, scale, BLOCK=size, num_warps=1 if scale < 1 else 4)
""",
}

SEGMENTS_WRONG = {
    "the first part of a long sequence": SEGMENTS_HEAD + """
def run(x, indptr, scale, y):
    segment[(y.shape[0],)](x, indptr, y, scale, BLOCK=min(triton.next_power_of_2(longest(indptr)), 256))
""",
    "the scalar of the first set of inputs": SEGMENTS_HEAD + """
first = []


def run(x, indptr, scale, y):
    first.append(scale)
    segment[(y.shape[0],)](x, indptr, y, first[0], BLOCK=triton.next_power_of_2(x.numel()))
""",
}


class TritonReplay(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment.update(device.environment())
        if "ACCELOPT_PYTHON" in os.environ:
            self.environment["ACCELOPT_PYTHON"] = os.environ["ACCELOPT_PYTHON"]
        device.capability(self)
        self.need_tools("triton")
        self.environment["ACCELOPT_NCU"] = "off"  # a profiler that takes longer than all the rest; one test lets it in
        self.task = self.folder / "halves"
        self.task.mkdir()
        for name, text in (("task.toml", TASK), ("reference.cu", REFERENCE), ("baseline.py", BASELINE)):
            (self.task / name).write_text(text, encoding="utf-8")

    def evaluated(self, text, *options):
        begin = time.monotonic()
        finished = self.accelopt("eval", self.task, self.file("kernel.py", text), "--device", "cuda:0", "--json", *options, seconds=120)
        self.assertTrue(finished.out.strip(), finished)
        evaluation = finished.last
        stages = ", ".join(f"{stage['name']} {stage['seconds']:.1f}" for stage in evaluation.get("stages", []))
        print(f"    {time.monotonic() - begin:.1f} s ({stages}): {evaluation['status']} {evaluation.get('verdict', '')} "
              f"{evaluation.get('reason', '')[:200]}", file=sys.stderr, flush=True)
        return evaluation

    def test_the_baseline_is_no_faster_than_itself(self):
        del self.environment["ACCELOPT_NCU"]
        evaluation = self.evaluated(BASELINE)
        self.assertEqual(evaluation["status"], "PASSED", evaluation)
        self.assertNotEqual(evaluation["verdict"], "FASTER", evaluation)
        profile = evaluation["profile"]
        counted = any(item["name"].endswith("instructions") for item in profile["items"])
        without = any("hardware counters were not read" in note for note in profile.get("notes", []))
        self.assertTrue(counted or without, profile)

    def test_whatever_a_plan_may_hold_is_replayed(self):
        for name, text in RIGHT.items():
            with self.subTest(name):
                print(f"  {name}", file=sys.stderr)
                evaluation = self.evaluated(text)
                self.assertEqual(evaluation["status"], "PASSED", evaluation)

    def test_wrong_kernels_are_found(self):
        for name, text in {
                "a row is left out": BASELINE.replace("x.numel(), BLOCK", "x.numel() - x.shape[1], BLOCK"),
                "another factor": BASELINE.replace("* 0.5", "* 0.501"),
                "an operation of the host on the result": BASELINE + "    z[:1].fill_(0.0)\n",
        }.items():
            with self.subTest(name):
                evaluation = self.evaluated(text)
                self.assertTrue(evaluation["status"].startswith("INCORRECT"), evaluation)

    def test_a_write_to_an_input_is_found(self):
        evaluation = self.evaluated(BASELINE.replace("combined(x, y, z)\n", "combined(x, y, z)\n    combined(x, y, x)\n"))
        self.assertNotEqual(evaluation["status"], "PASSED", evaluation)

    def test_the_fastest_right_configuration_is_kept(self):
        evaluation = self.evaluated(TUNED)
        self.assertEqual(evaluation["status"], "PASSED", evaluation)
        tuning = evaluation["tuning"]
        self.assertEqual(dict(zip(tuning["names"], tuning["chosen"])), {"BLOCK": 1024, "SKIP": 0, "num_warps": 4}, tuning)
        fates = {tuple(one["values"]): one for one in tuning["field"]}
        wrong = next(one for values, one in fates.items() if dict(zip(tuning["names"], values))["SKIP"] == 1)
        self.assertEqual((wrong["fate"], wrong["status"][:9]), ("failed", "INCORRECT"), tuning)

    def test_the_host_function_computes_the_same(self):
        for name, text in (("a baseline", BASELINE), ("a returned tensor", RIGHT["a returned tensor"]), ("a tuned one", TUNED)):
            with self.subTest(name):
                evaluation = self.evaluated(text, "--host")
                self.assertIn("profile", evaluation, evaluation)
                profile = evaluation["profile"]
                notes = profile.get("notes", [])
                if any("no Python with torch" in note for note in notes):
                    self.skipTest(str(notes))
                same = [note for note in notes if note.endswith("computes the same bytes as the kernel that was measured")]
                self.assertEqual(len(same), 2, notes)
                self.assertGreater(next(item for item in profile["items"] if item["name"] == "large: host time")["value"], 5)

    def segments(self):
        for name, text in (("task.toml", SEGMENTS), ("reference.cu", SEGMENTS_REFERENCE),
                           ("baseline.py", SEGMENTS_RIGHT["a block as long as the longest sequence"])):
            (self.task / name).write_text(text, encoding="utf-8")

    def test_inputs_that_the_host_sees_and_drawn_scalars(self):
        self.segments()
        for name, text in SEGMENTS_RIGHT.items():
            with self.subTest(name):
                evaluation = self.evaluated(text)
                self.assertEqual(evaluation["status"], "PASSED", evaluation)
        for name, text in SEGMENTS_WRONG.items():
            with self.subTest(name):
                evaluation = self.evaluated(text)
                self.assertTrue(evaluation["status"].startswith("INCORRECT"), evaluation)

    def test_a_winner_with_plans_of_slots_is_confirmed(self):
        self.segments()
        slow = SEGMENTS_RIGHT["no value of a tensor"]
        (self.task / "baseline.py").write_text(slow, encoding="utf-8")
        evaluation = self.evaluated(SEGMENTS_RIGHT["a block as long as the longest sequence"], "--confirm")
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "FASTER"), evaluation)

    def test_a_plan_that_fails_for_some_values_is_wrong_there(self):
        self.segments()
        text = SEGMENTS_RIGHT["no value of a tensor"].replace("    segment[", "    if scale > 1.2:\n        raise ValueError('too large')\n    segment[")
        evaluation = self.evaluated(text)
        self.assertIn(evaluation["status"], ("RUNTIME_ERROR", "COMPILE_ERROR"), evaluation)
        self.assertIn("too large", evaluation["reason"])

    def test_an_output_that_the_host_knows_is_refused(self):
        self.segments()
        (self.task / "reference.cu").write_text(SEGMENTS_REFERENCE.replace("sum += x[j]", "sum += 1"), encoding="utf-8")
        finished = self.accelopt("eval", self.task, "--device", "cuda:0")
        self.assertNotEqual(finished.code, 0)
        self.assertIn("the output y is the same for all data", finished.said)

    def test_a_winner_is_confirmed(self):
        (self.task / "baseline.py").write_text(BASELINE.replace("256", "16"), encoding="utf-8")
        evaluation = self.evaluated(BASELINE.replace("256", "1024"), "--confirm")
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "FASTER"), evaluation)


if __name__ == "__main__":
    support.main()
