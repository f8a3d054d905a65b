# SPDX-License-Identifier: Apache-2.0
"""`accelopt lint --mutants`: a task that lets a wrong kernel pass is refused by the name of that kernel."""

import support
from support import TASK

MUTANTS = ["zeros", "constant", "copy of input", "last tile skipped", "1 % of the reduction skipped", "one row unwritten",
           "inputs mutated", "small constants dropped", "computed one precision lower", "computed in tf32"]

WEAK = TASK.replace('init = "normal(0, 1)"', 'init = "abs_normal(0, 1)"') + "\n[numerics]\nnormwise = 1e-2\n"

# A C baseline with a small type, a scalar, and two outputs, one of them of integers.
MIXED = """\
schema = 1
name = "mixed"
op_type = "scale"
description = "total = s * sum of x by row; above = whether x is over 0"
target = "cpu"

[axes]
M = "var"
K = 40

[[inputs]]
name = "x"
shape = ["M", "K"]
dtype = "bfloat16"
init = "normal(0, 1)"
[[inputs]]
name = "s"
dtype = "float32"
init = "uniform(1, 2)"

[[outputs]]
name = "total"
shape = ["M"]
dtype = "float32"
[[outputs]]
name = "above"
shape = ["M", "K"]
dtype = "int32"

[[workloads]]
name = "raced"
axes = { M = 48 }
role = "race"
"""

MIXED_REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* x, real s, real* total, int32_t* above, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    for (int64_t k = 0; k < K; ++k) {
      sum += x[i * K + k];
      above[i * K + k] = x[i * K + k] > 0;
    }
    total[i] = s * sum;
  }
}
"""

MIXED_BASELINE = """\
#include "task.h"

void kernel(const bf16_t* x, float s, float* total, int32_t* above, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < K; ++k) {
      const float value = bf16_to_float(x[i * K + k]);
      sum += value;
      above[i * K + k] = value > 0;
    }
    total[i] = s * sum;
  }
}
"""

IDENTITY = """\
schema = 1
name = "identity"
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
axes = { M = 1000 }
role = "race"
"""

IDENTITY_SOURCE = """\
#include "task.h"

extern "C" void %s(const %s* x, %s* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) y[i] = x[i];
}
"""


class Mutants(support.TestCase):
    def lint(self, folder, code):
        finished = self.accelopt("lint", "--mutants", folder, "--json", "--seed", 20261121)
        self.assertEqual(finished.code, code, finished)
        fates = {line["mutant"]: line for line in finished.lines if line["type"] == "mutant"}
        errors = [line for line in finished.lines if line["type"] == "problem" and line["severity"] == "error"]
        return finished, fates, errors

    def test_a_sound_task_refuses_every_mutant(self):
        finished, fates, errors = self.lint(self.task(), 0)
        self.assertEqual(list(fates), MUTANTS, finished)
        self.assertEqual(fates.pop("small constants dropped")["fate"], "skipped", finished)
        self.assertEqual({line["fate"] for line in fates.values()}, {"refused"}, finished)
        self.assertEqual(errors, [])
        self.assertIn("workload odd", fates["last tile skipped"]["reason"], finished)
        self.assertIn("wrote to the input", fates["inputs mutated"]["reason"], finished)
        self.assertNotIn("extremes", finished.out, "which is of integer inputs")

    def test_a_weak_copy_is_refused_by_the_name_of_the_mutant_that_fooled_it(self):
        finished = self.accelopt("lint", "--mutants", self.task(definition=WEAK))
        self.assertEqual(finished.code, 5, finished)
        self.assertRegex(finished.out, r'task\.toml: numerics\.normwise: accepts the mutant "computed one precision lower"')
        self.assertRegex(finished.out, r"rounded to bfloat16.*all workloads \(raced, odd, hidden\)")
        self.assertRegex(finished.out, r"normwise error 0\.000\d+, allowed 0\.01")
        self.assertRegex(finished.out, r"leave out numerics\.normwise")
        self.assertNotIn('accepts the mutant "zeros"', finished.out, finished)

    def test_inputs_that_hide_the_operator_are_named(self):
        hidden = TASK.replace('init = "normal(0, 1)"', 'init = "zeros"', 1)
        finished, fates, errors = self.lint(self.task(definition=hidden), 5)
        self.assertEqual(fates["zeros"]["fate"], "accepted", finished)
        self.assertEqual(fates["1 % of the reduction skipped"]["fate"], "accepted", finished)
        for problem in errors:
            self.assertEqual(problem["key"], "inputs", finished)
        self.assertTrue(any("widen init" in problem["message"] for problem in errors), finished)

    def test_a_mutant_that_is_right_on_this_operator_is_none(self):
        task = self.task(definition=IDENTITY, baseline=IDENTITY_SOURCE % ("kernel", "float", "float"),
                         reference=IDENTITY_SOURCE % ("reference", "real", "real"))
        finished, fates, errors = self.lint(task, 0)
        self.assertEqual(errors, [], finished)
        self.assertEqual(fates["copy of input"]["fate"], "equivalent", finished)
        for name in ("1 % of the reduction skipped", "one row unwritten"):
            self.assertEqual(fates[name]["fate"], "skipped", finished)
            self.assertTrue(fates[name]["reason"], finished)

    def test_small_types_c_and_several_outputs(self):
        task = self.task(definition=MIXED, baseline=MIXED_BASELINE, reference=MIXED_REFERENCE)
        (task / "baseline.cpp").rename(task / "baseline.c")
        finished, fates, errors = self.lint(task, 0)
        self.assertEqual(errors, [], finished)
        self.assertEqual(fates["zeros (output total)"]["fate"], "refused", finished)
        self.assertEqual(fates["one row unwritten (output above)"]["fate"], "refused", finished)
        self.assertEqual(fates["one row unwritten (output total)"]["fate"], "skipped", finished)
        self.assertIn("no input tensor has the type", fates["copy of input (output total)"]["reason"], finished)
        self.assertEqual(fates["computed one precision lower"]["fate"], "refused", finished)

    def test_a_baseline_that_is_wrong_says_so_instead(self):
        wrong = support.BASELINE.replace("y[i * N + j] = acc;", "y[i * N + j] = acc + 1;")
        finished, fates, errors = self.lint(self.task(baseline=wrong), 5)
        self.assertEqual(fates, {}, finished)
        self.assertIn("the baseline fails", errors[0]["message"], finished)

    def test_a_family_that_float_cannot_compute_is_named(self):
        overflowing = TASK.replace('init = "normal(0, 1)"', 'init = "normal(0, 1e17)"\nfamilies = ["scaled"]')
        task = self.task(definition=overflowing)
        self.assertRegex(self.succeed("lint", "--mutants", task).out, r"advice: .*family scaled_up is dropped on workload odd")
        self.assertRegex(self.succeed("eval", task).err, r"family scaled_up is dropped on workload odd: the reference computed in float")


if __name__ == "__main__":
    support.main()
