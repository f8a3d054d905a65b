#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelopt run --against, with the real program: how the winner stands beside other kernels and programs, and where that is kept."""

import pages
import steady
import support


class RunArms(steady.SteadyTestCase):
    def arguments(self, *more):
        fast, wrong = self.file("fast.cpp", "speed=1.25\nvoid kernel() {}\n"), self.file("wrong.cpp", "wrong speed=9\nvoid kernel() {}\n")
        return [*self.run_arguments(self.workspace), "--against", f"theirs={fast}", "--against", f"broken={wrong}",
                "--against", f"blas=!echo run >> {self.folder}/blas.log; for i in 1 2 3 4 5; do echo 2000; done", "--against", "absent=!echo no libblas; exit 1", *more]

    def test_the_winner_is_compared_and_the_comparison_kept(self):
        ran = self.accelopt(*self.arguments())
        self.assertEqual(ran.code, 0, ran)
        result = ran.last
        against = {one["name"]: one for one in result["against"]}
        self.assertEqual(list(against), ["theirs", "broken", "blas", "absent"])
        theirs = against["theirs"]
        self.assertEqual((theirs["status"], theirs["how"]), ("PASSED", "raced in pairs with the winner; verified"))
        # The worker's times are a function of the sources alone, so the pair race gives what both ratios over the baseline give.
        self.assertAlmostEqual(theirs["speed_over"]["estimate"], result["speedup"]["estimate"] / 1.25, delta=0.02 * result["speedup"]["estimate"])
        self.assertIsNone(against["broken"]["speed_over"])
        self.assertNotEqual(against["broken"]["status"], "PASSED")
        self.assertIn("neither raced nor verified", against["blas"]["how"])
        # The worker's confirmation times no single workload; where there is such a time, the ratio is that of command_arm_test.
        self.assertAlmostEqual(against["blas"]["time_ns"], 2000, places=6)
        self.assertTrue(against["blas"]["workload"])
        self.assertIn("no libblas", against["absent"]["reason"])

        again = self.succeed("resume", "last", "--workspace", self.workspace, "--json").last
        self.assertEqual(again["against"], result["against"])
        self.assertEqual((self.folder / "blas.log").read_text().split(), ["run"], "read from the record, not made again")

        page = self.folder / "report.html"
        self.succeed("report", "last", "--workspace", self.workspace, "-o", page)
        rows = pages.table(pages.read(page.read_text(encoding="utf-8")), "The winner beside other kernels and programs")
        self.assertEqual([row[0] for row in rows[1:]], ["theirs", "broken", "blas", "absent"])

    def test_people_see_it_and_mistakes_are_refused(self):
        words = [word for word in self.arguments() if word != "--json"]
        said = self.accelopt(*words)
        self.assertEqual(said.code, 0, said)
        table = said.out[said.out.index("the winner's speed over it"):]
        for name in ("theirs", "broken", "blas", "absent"):
            self.assertIn(name, table)
        before = self.rows(self.workspace, "SELECT id FROM runs")
        self.assert_says(self.accelopt(*self.arguments("--against", "theirs=!true")), 2, "names theirs twice")
        self.assert_says(self.accelopt(*self.arguments("--against", "nameless")), 2, "NAME=FILE")
        self.assert_says(self.accelopt(*self.arguments("--defer", self.folder / "bundles")), 2, "--defer")
        self.assertEqual(self.rows(self.workspace, "SELECT id FROM runs"), before)


if __name__ == "__main__":
    support.main()
