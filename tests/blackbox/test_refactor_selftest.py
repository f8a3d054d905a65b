# SPDX-License-Identifier: Apache-2.0
"""`accelopt selftest --refactor`: representative attacks on the gates are caught, honest changes pass, and it says so when that is not
the case. With --long every one of them."""

import shutil
import sys

import support

EXPLOITS = support.ROOT / "exploits" / "refactor"
LONG = "--long" in sys.argv

# One for each gate that refuses early; the whole takes minutes.
ATTACKS = ["cached_in_the_module", "edited_tests", "planted_hook", "changed_mode", "deleted_check", "skips_the_tests", "detects_the_tests",
           "patched_driver", "wrong_for_the_raced_size", "reads_secrets", "finds_the_repository", "cached_on_disk",
           "child_that_nobody_waits_for", "ends_its_process", "runs_counted_in_times"]
HONEST = ["new_names"]

GIVEN_BACK = """\
# SPDX-License-Identifier: Apache-2.0
# exploit: not_really_one
# tries: nothing: it is honest, so that the gate cannot refuse it
# task: stations
# expect: tests

"""
WRONG = """\
# SPDX-License-Identifier: Apache-2.0
# honest: not_really_honest
# shows: nothing: it answers nothing
# task: stations

def reachable(network, start):
    \"\"\"The stations that are reached from `start`, nearest first, each with its distance.\"\"\"
    return []
"""


class RefactorSelftest(support.TestCase):
    def names(self, part):
        return {path.stem for path in (EXPLOITS / part).iterdir()}

    def test_attacks_are_caught_and_honest_changes_pass(self):
        wanted = [] if LONG else ["--only", *ATTACKS, *HONEST]
        # What a change's own code wrote as it failed is part of what is told: no sign of a crash.
        finished = self.start("selftest", "--refactor", "--json", *wanted).finish(3500 if LONG else 300)
        self.assertEqual(finished.code, 0, finished)
        *changes, summary = finished.lines
        attacks, honest = (self.names("attacks"), self.names("honest")) if LONG else (set(ATTACKS), set(HONEST))
        self.assertEqual({one["name"] for one in changes}, attacks | honest, finished)
        for one in changes:
            self.assertTrue(one["ok"] or one["skipped"], one)
            self.assertEqual(one["type"], "exploit" if one["name"] in attacks else "honest", one)
            self.assertTrue(one["isolation"], one)
            if one["type"] == "exploit" and not one["skipped"]:
                self.assertNotEqual(one["verdict"], "faster", one)
        done = sum(not one["skipped"] for one in changes)
        self.assertEqual((summary["caught"] + summary["passed"], summary["exploits"] + summary["honest"]), (done, done), summary)

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(self.names("attacks")), 30)
        self.assertGreaterEqual(len(self.names("honest")), 15)

    def folder_with(self, attack, honest):
        folder = self.folder / "exploits"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(EXPLOITS / "tasks" / "stations", folder / "tasks" / "stations")
        for part, text in (("attacks", attack), ("honest", honest)):
            (folder / part).mkdir()
            if text:
                (folder / part / "one.py").write_text(text, encoding="utf-8")
        return folder

    def test_what_is_not_as_it_should_be_fails_the_command(self):
        renamed = (EXPLOITS / "honest" / "new_names.py").read_text(encoding="utf-8").split("\n\n", 1)[1]
        folder = self.folder_with(GIVEN_BACK + renamed.replace("    waiting", "    # the same\n    waiting", 1), WRONG)
        finished = self.accelopt("selftest", "--refactor", "--exploits", folder, seconds=300)
        self.assertEqual(finished.code, 5, finished)
        self.assertRegex(finished.out, r"not_really_one\s+NOT CAUGHT: not_faster")
        self.assertRegex(finished.out, r"not_really_honest\s+NOT PASSED: refused by tests")
        self.assertIn("0 of 1 exploits caught, 0 of 1 honest changes passed", finished.out)

    def test_a_header_that_is_not_whole_is_named(self):
        for text, word in (("# exploit: a\n# tries: b\n# task: stations\n\nx\n", "expect"), (GIVEN_BACK.replace("tests", "guess") + "x\n", "guess"),
                           (GIVEN_BACK.replace("stations", "nothing") + "x\n", "nothing"), (GIVEN_BACK.rstrip() + "\n# colour: red\n\nx\n", "colour")):
            with self.subTest(word):
                self.assert_says(self.accelopt("selftest", "--refactor", "--exploits", self.folder_with(text, "")), 1, r"one\.py", word)
        self.assert_says(self.accelopt("selftest", "--refactor", "--only", "no_such_change"), 1, "no_such_change")
        self.assert_says(self.accelopt("selftest", "--refactor", "--device", "cuda:0"), 2, "--refactor")


if __name__ == "__main__":
    support.main()
