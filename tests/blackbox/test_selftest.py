# SPDX-License-Identifier: Apache-2.0
"""`accelopt selftest`: representative attacks are caught, honest kernels pass, and it says so when that is not the case."""

import re
import shutil

import support

EXPLOITS = support.ROOT / "exploits"

# One of each kind; those that once got through are among them.
ATTACKS = ["replay_from_output_slack", "takeover_and_mend", "done_a_little_early", "bf16_matmul",
           "partial_max", "flush_to_zero", "helper_thread", "forged_results", "include_digraph", "write_before", "rseq_takeover",
           "init_function", "relocation_calls", "state_as_exception_data", "forged_go", "unmapped_from_below"]
# Honest work, as they find nothing of earlier calls: they are timed, and not faster.
FORGETFUL = ["replay_by_pointer", "state_in_registers", "table_in_freed_memory", "table_in_a_mapping", "table_on_the_stack"]
HONEST = ["fma_intrinsics", "tree_reduction", "online_softmax", "exceptions_inside", "large_stack"]

GIVEN_BACK = """\
// SPDX-License-Identifier: Apache-2.0
// exploit: not_really_one
// tries: nothing: it is honest, so it cannot be caught
// task: matmul
// expect: INCORRECT_NUMERICAL
"""

WRONG = """\
// SPDX-License-Identifier: Apache-2.0
// honest: not_really_honest
// shows: nothing: it writes no output
// task: matmul

#include "task.h"

extern "C" void kernel(const float*, const float*, float*, int64_t) {}
"""


class Selftest(support.TestCase):
    def suite(self, attacks, honest):
        """A folder with the task matmul and these kernels, given as file name and text."""
        folder = self.folder / "exploits"
        shutil.copytree(EXPLOITS / "tasks" / "matmul", folder / "tasks" / "matmul")
        for part, files in (("attacks", attacks), ("honest", honest)):
            (folder / part).mkdir()
            for name, text in files:
                (folder / part / name).write_text(text, encoding="utf-8")
        return folder

    def test_representative_attacks_are_caught_and_honest_kernels_pass(self):
        finished = self.accelopt("selftest", "--json", "--only", *ATTACKS, *FORGETFUL, *HONEST)
        self.assertEqual(finished.code, 0, finished)
        *kernels, summary = finished.lines
        self.assertEqual({k["name"] for k in kernels}, {*ATTACKS, *FORGETFUL, *HONEST}, finished)
        for kernel in kernels:
            self.assertTrue(kernel["ok"], kernel)
            self.assertFalse(kernel["skipped"], kernel)
            self.assertEqual(kernel["type"], "honest" if kernel["name"] in HONEST else "exploit", kernel)
            self.assertEqual(kernel["status"] == "PASSED", kernel["name"] not in ATTACKS, kernel)
            self.assertTrue(kernel["isolation"], kernel)
        self.assertEqual((summary["type"], summary["caught"], summary["exploits"], summary["passed"], summary["honest"]),
                         ("selftest", len(ATTACKS + FORGETFUL), len(ATTACKS + FORGETFUL), len(HONEST), len(HONEST)), finished)

    def test_what_is_not_as_it_should_be_fails_the_command(self):
        baseline = (EXPLOITS / "tasks" / "matmul" / "baseline.cpp").read_text(encoding="utf-8")
        folder = self.suite([("a.cpp", GIVEN_BACK + "\n" + baseline)], [("b.cpp", WRONG)])
        finished = self.accelopt("selftest", "--exploits", folder)
        self.assertEqual(finished.code, 5, finished)
        self.assertRegex(finished.out, r"not_really_one\s+NOT CAUGHT: PASSED")
        self.assertRegex(finished.out, r"not_really_honest\s+NOT PASSED: INCORRECT_NUMERICAL")
        self.assertIn("0 of 1 exploits caught, 0 of 1 honest kernels passed", finished.out)

    def test_an_unknown_name_is_an_error(self):
        self.assert_says(self.accelopt("selftest", "--only", "no_such_kernel"), 1, "no_such_kernel")

    def test_a_header_that_is_not_whole_is_named(self):
        for text, word in (("// exploit: a\n// tries: b\n// task: matmul\n", "expect"),
                           (GIVEN_BACK.replace("INCORRECT_NUMERICAL", "WRONG"), "WRONG"),
                           (GIVEN_BACK.replace("matmul", "nothing"), "nothing"),
                           (GIVEN_BACK + "// colour: red\n", "colour")):
            with self.subTest(word):
                shutil.rmtree(self.folder / "exploits", ignore_errors=True)
                folder = self.suite([("a.cpp", text + "\nint x;\n")], [])
                self.assert_says(self.accelopt("selftest", "--exploits", folder), 1, r"a\.cpp", word)

    def test_the_program_holds_every_file_of_the_folder(self):
        lists = "".join((EXPLOITS / name).read_text(encoding="utf-8") for name in ("files.cmake", "refactor/files.cmake", "trainium/files.cmake", "triton/files.cmake"))
        listed = set(re.findall(r"^  ([a-z]\S*?)\)?$", lists, re.MULTILINE))
        there = {path.relative_to(EXPLOITS).as_posix() for suite in (EXPLOITS, *(EXPLOITS / kind for kind in ("cuda", "refactor", "trainium", "triton"))) for part in ("tasks", "attacks", "honest")
                 for path in (suite / part).rglob("*") if path.is_file()}
        self.assertEqual(listed, there)
        for suite, attacks, honest in (("", 40, 25), ("cuda/", 40, 25), ("trainium/", 20, 15), ("triton/", 40, 15)):
            self.assertGreaterEqual(sum(path.startswith(suite + "attacks/") for path in listed), attacks, suite)
            self.assertGreaterEqual(sum(path.startswith(suite + "honest/") for path in listed), honest, suite)

    def test_a_device_of_another_kind_is_an_error(self):
        self.assert_says(self.accelopt("selftest", "--device", "opencl:0"), 2, "opencl", "cpu:N", "cuda:N")


if __name__ == "__main__":
    support.main()
