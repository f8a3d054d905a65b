# SPDX-License-Identifier: Apache-2.0
"""`accelopt eval`: the verdict of every kind of kernel, honest and not."""

import re

import support
from support import BASELINE, FASTER

EVALUATION_FIELDS = {"type", "schema", "task", "status", "reason", "verdict", "ratio", "blocks", "decided_by", "workloads",
                     "mismatch", "profile", "stages", "environment", "trust", "source_id", "machine_code_id"}

FRAME = """\
#include "task.h"
#include <cstdlib>
#include <cstring>
#include <errno.h>
#include <sys/mman.h>
{before}
static inline void compute(const float* lhs, const float* rhs, float* y, int64_t M) {{
  for (int64_t i = 0; i < M; ++i) {{
    for (int64_t j = 0; j < N; ++j) {{
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) acc += lhs[i * K + k] * rhs[k * N + j];
      y[i * N + j] = acc;
    }}
  }}
}}
extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {{
{body}
}}
"""

# Gives back what the first call with this many rows computed. %s is where the block is kept between two calls.
REPLAYS = """\
  struct Kept { char magic[64]; int64_t rows; float y[64 * N]; };
  Kept* kept = nullptr;
  %s
  if (std::memcmp(kept->magic + 32, "kept from before", 16) == 0 && kept->rows == M) {
    std::memcpy(y, kept->y, sizeof(float) * M * N);
  } else {
    compute(lhs, rhs, y, M);
    std::memcpy(kept->magic + 32, "kept from before", 16);
    kept->rows = M;
    std::memcpy(kept->y, y, sizeof(float) * M * N);
  }
"""


def kernel(body, before=""):
    return FRAME.format(body=body, before=before)


TUNED = "//@ tune REPEAT in {4, 0, 2, 1, 8}\n//@ require REPEAT < 8\n" + kernel(
    "  for (int r = 0; r < REPEAT; ++r) compute(lhs, rhs, y, M);")


class Eval(support.TestCase):
    def evaluate(self, text, *options):
        finished = self.accelopt("eval", self.task(), self.file("candidate.cpp", text), "--json", *options)
        self.assertEqual(len(finished.lines), 1, finished)
        self.assertEqual(set(finished.last) & EVALUATION_FIELDS, EVALUATION_FIELDS, finished)
        return finished, finished.last

    def test_a_tuned_kernel_stands_with_its_fastest_correct_values(self):
        finished, evaluation = self.evaluate(TUNED)
        self.assertEqual(evaluation["status"], "PASSED", finished)
        tuning = evaluation["tuning"]
        self.assertEqual((tuning["names"], tuning["chosen"]), (["REPEAT"], [1]), finished)
        self.assertEqual((tuning["combinations"], tuning["configurations"]), (5, 4))
        fates = {one["values"][0]: (one["fate"], one["status"]) for one in tuning["field"]}
        self.assertEqual(fates[0], ("failed", "INCORRECT_NUMERICAL"))
        self.assertEqual(fates[4], ("slower", "PASSED"))
        self.assertNotIn("heats", tuning)

    def test_the_field_of_a_tuned_kernel_is_shown(self):
        shown = self.accelopt("eval", self.task(), self.file("candidate.cpp", TUNED))
        self.assertRegex(shown.out, r"tuned: REPEAT=1, the fastest of 4 tried of 4 configurations \(1 failed\)")
        self.assertRegex(shown.out, r"(?m)^REPEAT=4 .*slower$")

    def test_a_malformed_directive_is_a_compile_error_with_its_place(self):
        refused = self.assert_status(TUNED.replace("< 8", "< M0"), "COMPILE_ERROR")
        self.assertIn('kernel.cpp:2:22: error: "M0" is neither tuned nor a constant axis', refused["reason"])

    def assert_status(self, text, *statuses):
        """The status, exit code 5, no measurement, and a reason."""
        finished, evaluation = self.evaluate(text)
        self.assertIn(evaluation["status"], statuses, finished)
        self.assertEqual(finished.code, 5, finished)
        self.assertEqual(evaluation["verdict"], "NONE", finished)
        self.assertIsNone(evaluation["ratio"], finished)
        self.assertTrue(evaluation["reason"], finished)
        return evaluation

    def assert_kept_nothing(self, text):
        """It computed in every call, as it found nothing of the last one."""
        finished, evaluation = self.evaluate(text)
        self.assertEqual(evaluation["status"], "PASSED", finished)
        self.assertNotEqual(evaluation["verdict"], "FASTER", finished)

    def test_the_baseline_is_neither_faster_nor_slower_than_itself(self):
        task = self.task()
        verdicts = []
        for seed in (1, 2, 3):
            finished = self.succeed("eval", task, "--json", "--seed", seed)
            evaluation = finished.last
            self.assertEqual(evaluation["status"], "PASSED", finished)
            verdicts.append(evaluation["verdict"])
            ratio = evaluation["ratio"]
            self.assertLess(ratio["low"], 1.05, finished)
            self.assertGreater(ratio["high"], 0.95, finished)
        # Triage may be wrong now and then, and beside other programs it is more often: that is what confirmations are for.
        self.assertGreaterEqual(sum(verdict in ("TIE", "UNDECIDED") for verdict in verdicts), 2, verdicts)

    def test_a_faster_kernel_is_measured_with_everything_that_the_schema_names(self):
        finished, evaluation = self.evaluate(FASTER)
        self.assertEqual(finished.code, 0, finished)
        self.assertLessEqual(EVALUATION_FIELDS, set(evaluation))
        self.assertEqual((evaluation["type"], evaluation["schema"], evaluation["task"]), ("evaluation", 1, "small_matmul"))
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "FASTER"), finished)
        ratio = evaluation["ratio"]
        self.assertGreater(ratio["low"], 1, finished)
        self.assertTrue(ratio["low"] <= ratio["estimate"] <= ratio["high"], finished)
        self.assertGreaterEqual(evaluation["blocks"], 4, "even what is clearly faster takes four blocks")
        self.assertEqual(evaluation["decided_by"], "race")
        self.assertEqual(evaluation["trust"], "isolated")
        self.assertIsNone(evaluation["mismatch"])
        for stage in evaluation["stages"]:
            self.assertGreaterEqual(stage["seconds"], 0, stage)
        self.assertEqual([stage["name"] for stage in evaluation["stages"]], ["build", "verify", "triage"])
        raced = evaluation["workloads"][0]
        self.assertEqual((raced["name"], raced["role"]), ("raced", "race"))
        self.assertLess(raced["time_ns"], raced["reference_ns"])
        self.assertTrue(0 < raced["roofline"]["fraction"] <= 1, raced)
        self.assertLessEqual({"device", "compiler", "flags", "isolation", "noisy"}, set(evaluation["environment"]))
        for item in evaluation["profile"]["items"]:
            self.assertLessEqual({"name", "value", "unit", "meaning"}, set(item))

    def test_a_kernel_is_confirmed_as_a_winner_is(self):
        finished, evaluation = self.evaluate(FASTER, "--confirm")
        self.assertEqual((evaluation["kind"], evaluation["status"], evaluation["verdict"]), ("confirm", "PASSED", "FASTER"), finished)
        stages = [stage["name"] for stage in evaluation["stages"]]
        self.assertLessEqual({"build", "triage", "confirm"}, set(stages))
        self.assertEqual(stages.count("build"), 1, stages)
        self.assertTrue(evaluation["profile"]["items"], finished)

    def test_people_get_the_verdict_in_words(self):
        finished = self.succeed("eval", self.task(), self.file("candidate.cpp", FASTER))
        for word in ("small_matmul", "PASSED", "FASTER", "raced", "isolated"):
            self.assertIn(word, finished.out, finished)
        self.assertRegex(finished.out, r"\Asmall_matmul: PASSED, FASTER: [\d.]+x \[[\d., ]+\] of the baseline's speed; "
                                       r"the whole interval lies above 1 \(\d+ blocks\)\n")
        self.assertNotRegex(finished.out, r"\de[+-]?\d")
        self.assertRegex(finished.out, r"(?m)^  cold time: [\d.]+ [mu]s ")
        self.assertNotIn("\x1b", finished.said, "no escape codes when piped")

    def test_wrong_in_the_last_element(self):
        evaluation = self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  y[M * N - 1] += 1e-2f;"), "INCORRECT_NUMERICAL")
        mismatch = evaluation["mismatch"]
        self.assertEqual(mismatch["output"], "y")
        rows = {"raced": 48, "odd": 13}[mismatch["workload"]]
        index = mismatch["index"]
        last = index if isinstance(index, int) else int(re.findall(r"\d+", str(index))[-1]) if len(index) == 1 else index
        self.assertIn(last, (rows * 64 - 1, [rows - 1, 63]), mismatch)
        self.assertAlmostEqual(mismatch["actual"] - mismatch["expected"], 1e-2, delta=1e-3)

    def test_an_element_that_is_never_written(self):
        self.assert_status(kernel("""\
  float scratch[64 * N];
  compute(lhs, rhs, scratch, M);
  std::memcpy(y, scratch, sizeof(float) * (M * N - 1));"""), "INCORRECT_NUMERICAL")

    def test_the_last_calls_result_kept_at_a_fixed_address(self):
        self.assert_kept_nothing(kernel(REPLAYS % """
  void* wanted = reinterpret_cast<void*>(0x5a0000000000);
  void* got = mmap(wanted, sizeof(Kept), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  kept = static_cast<Kept*>(wanted);
  (void)got;"""))

    def test_the_last_calls_result_kept_behind_a_variable_of_the_c_library(self):
        self.assert_kept_nothing(kernel(REPLAYS % """
  if (std::memcmp(program_invocation_name, "kept", 4) != 0) {
    program_invocation_name = static_cast<char*>(std::calloc(1, sizeof(Kept)));
    std::memcpy(program_invocation_name, "kept", 4);
  }
  kept = reinterpret_cast<Kept*>(program_invocation_name);"""))

    def test_the_last_calls_result_found_again_in_freed_memory(self):
        self.assert_kept_nothing(kernel(REPLAYS % "kept = static_cast<Kept*>(std::malloc(sizeof(Kept)));" + """
  asm volatile("" : : "r"(kept) : "memory");  // or the compiler drops what is stored in memory that is freed
  std::free(kept);"""))

    def test_a_kernel_that_never_returns(self):
        self.assert_status(kernel("  for (volatile int turn = 0;; turn = turn + 1) {}"), "TIMEOUT")

    def test_a_kernel_that_crashes(self):
        evaluation = self.assert_status(kernel("  *reinterpret_cast<volatile int*>(lhs - lhs) = 1;"), "RUNTIME_ERROR")
        self.assertRegex(evaluation["reason"], "SIGSEGV|signal 11|segmentation|invalid memory|memory")

    def test_a_kernel_that_ends_its_process(self):
        self.assert_status(kernel("  std::_Exit(0);"), "RUNTIME_ERROR")

    def test_a_write_behind_the_output(self):
        self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  y[M * N] = 0.0f;"), "RUNTIME_ERROR")

    def test_a_write_before_the_output(self):
        self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  volatile float* p = y;\n  p[-1] = 0.0f;"), "RUNTIME_ERROR")

    def test_a_write_to_an_input(self):
        self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  const_cast<float*>(rhs)[0] = 0.0f;"), "RUNTIME_ERROR",
                           "INCORRECT_NUMERICAL", "REWARD_HACK")

    def test_state_in_a_static(self):
        evaluation = self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  calls = calls + 1;", "static volatile int calls;"),
                                        "COMPILE_ERROR")
        self.assertRegex(evaluation["reason"], "calls|static|writable")

    def test_state_in_a_thread_local(self):
        self.assert_status(kernel("  compute(lhs, rhs, y, M);\n  calls = calls + 1;", "thread_local volatile int calls;"),
                           "COMPILE_ERROR")

    def test_a_kernel_that_does_not_compile(self):
        broken = BASELINE.replace("float acc = 0.0f;", "float acc = nothing;")
        line = broken[:broken.index("nothing")].count("\n") + 1
        evaluation = self.assert_status(broken, "COMPILE_ERROR")
        self.assertIn("nothing", evaluation["reason"])
        self.assertRegex(evaluation["reason"], rf"\b{line}\b")
        self.assertNotIn(str(self.folder), evaluation["reason"], "diagnostics are free of paths")

    def test_a_kernel_without_the_function(self):
        self.assert_status('#include "task.h"\n', "COMPILE_ERROR")

    def test_flags_outside_the_list(self):
        for line, part in (("//@ flags -O3 -fplugin=x.so", "-fplugin=x.so"), ("//@ flgas -ffast-math", "flgas")):
            with self.subTest(line):
                finished = self.accelopt("eval", self.task(part.strip("-")[:5]),
                                         self.file("candidate.cpp", "// a comment\n" + line + "\n" + BASELINE), "--json")
                self.assertEqual(finished.code, 5, finished)
                self.assertEqual(finished.last["status"], "COMPILE_ERROR", finished)
                self.assertIn(part, finished.last["reason"])
                self.assertRegex(finished.last["reason"], r"\b2\b", "the line of the directive")

    def test_a_flag_of_the_list(self):
        task = self.task()
        ids = set()
        for name, directive in (("plain.cpp", ""), ("flags.cpp", "//@ flags -ffast-math -funroll-loops\n")):
            finished = self.succeed("eval", task, self.file(name, directive + FASTER), "--json")
            self.assertEqual(finished.last["status"], "PASSED", finished)
            ids.add(finished.last["machine_code_id"])
        self.assertEqual(len(ids), 2, "the flags changed the machine code")


if __name__ == "__main__":
    support.main()
