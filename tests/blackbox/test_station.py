# SPDX-License-Identifier: Apache-2.0
"""A program with five hot functions, in namespaces and a class: made faster one by one, then patched all at once.

With --long all five are made faster, and the program's own gain must be within 10 % of the intervals that `best` reports for
the user's build before and after it is measured; without, two of them, with tasks on smaller tensors than the program has, and the
gain may not be missing.
"""

import math
import re
import shutil
import statistics
import subprocess
import sys
import unittest

import support

PROGRAM = support.ROOT / "tests" / "blackbox" / "programs" / "station"
NORMAL = "normal(0, 1)"
LONGEST_SECONDS = 400  # of a command
FEW = ("blend", "project")  # a free function and a member: what is made faster without --long

# What main.cpp calls each, its name as a user gives it, its whole name, what init has to be told, its inputs, its axes: as main.cpp
# has them, and as with "large", where a winner takes a tenth of a millisecond.
FUNCTIONS = [
    ("blend", "station::blend", "station::blend",
     ["--shape", "image=rows,depth", "--shape", "weights=depth,cols", "--out", "out=rows,cols"], ["image", "weights"],
     {"rows": (61, 122), "cols": (96, 192), "depth": (80, 160)}),
    ("column_sums", "station::column_sums", "station::v2::column_sums", ["--shape", "x=rows,cols", "--out", "sums=cols"], ["x"],
     {"rows": (200, 800), "cols": (128, 512)}),
    ("smooth", "filter::smooth", "station::filter::smooth",
     ["--shape", "in=kTaps,cols", "--shape", "taps=rows,kTaps", "--out", "out=rows,cols"], ["in", "taps"],
     {"rows": (60, 240), "cols": (96, 384)}),
    ("outer", "gathered", "station::gathered", ["--shape", "a=steps,n", "--shape", "b=steps,m", "--out", "out=n,m"], ["a", "b"],
     {"n": (64, 176), "m": (96, 208), "steps": (72, 144)}),
    ("project", "Projector::project", "station::Projector::project",
     ["--shape", "samples=count,size", "--shape", "basis=size,width", "--out", "out=count,width"], ["samples", "basis"],
     {"count": (48, 120), "width": (96, 192), "size": (64, 152)}),
]


class Station(support.TestCase):
    long = support.takes_long()

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "station"
        shutil.copytree(PROGRAM, self.repository)
        self.command("git", "init", "-q", ".")
        self.command("git", "add", "-A")
        self.command("git", "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-q", "-m", "Begin")
        self.source = self.repository / "src" / "signal.cpp"

    def command(self, *arguments):
        done = subprocess.run([str(a) for a in arguments], cwd=self.repository, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build(self):
        self.command("cmake", "-B", "build", ".")
        self.command("cmake", "--build", "build")
        return self.repository / "build" / "station"

    def said_by(self, program, *words):
        lines = self.command(program, *words, *(["large"] if self.long else [])).splitlines()
        return [(name, float(value)) for name, value in (line.split() for line in lines)]

    def gains(self, before, after):
        """Each function's ratio of times, the geometric mean of rounds in which the two programs run one after the other, each of them
        first in every second round: what else the machine does then meets both alike. Which pages a process gets moves its times by a
        tenth or two, so many short processes tell more than few long ones."""
        ratios = {}
        for turn in range(100 if self.long else 9):
            order = (before, after) if turn % 2 == 0 else (after, before)
            times = {program: dict(self.said_by(program, "time")) for program in order}
            for name, value in times[before].items():
                ratios.setdefault(name, []).append(value / times[after][name])
        return {name: statistics.geometric_mean(values) for name, values in ratios.items()}

    def make_tasks(self):
        """The folder of each function's task."""
        begun = []
        functions = [function for function in FUNCTIONS if self.long or function[0] in FEW]
        for name, given, _, options, inputs, axes in functions:
            drawn = [word for one in inputs for word in ("--init", f"{one}={NORMAL}")]
            extents = [word for axis, sizes in axes.items() for word in ("--axis", f"{axis}={sizes[1] if self.long else sizes[0] // 2}")]
            folder = self.folder / "tasks" / name
            begun.append((folder, self.start("init", self.source, "--function", given, *options, *extents, *drawn, "-o", folder)))
        for (folder, running), (_, _, whole, *_) in zip(begun, functions):
            made = running.finish(LONGEST_SECONDS)
            self.assertEqual(made.code, 0, made)
            self.assertNotIn("no patch of your file", made.said)
            self.assertNotIn("cannot be checked", made.said)
            self.assertIn(f'function = "{whole}"', (folder / "task.toml").read_text())
        return [folder for folder, _ in begun]

    def test_several_functions_one_patch(self):
        before = shutil.copy(self.build(), self.folder / "before")
        runs = []
        folders = self.make_tasks()
        for folder in folders:
            result = self.succeed("run", folder, "--workspace", self.workspace, "--json", "--iterations", 1, seconds=LONGEST_SECONDS).last
            self.assertEqual(result["outcome"], "improved", result)
            runs.append(result["run"])
        reports = [self.report(runs, "faster")]
        patch = self.folder / "faster" / "winner.patch"
        self.command("git", "apply", "--check", patch)
        self.command("git", "apply", patch)
        after = shutil.copy(self.build(), self.folder / "after")
        self.check_answers(self.said_by(before), self.said_by(after))
        gains = self.gains(before, after)
        if self.long:  # the program was measured between the two: a shared machine's memory is another one by the minute
            self.command("git", "apply", "-R", patch)
            reports.append(self.report(runs, "again"))
        self.check_gains(gains, reports)

    def report(self, runs, folder):
        """What `best` reports of each function, as the user's build compiles it: the lower and upper end of its interval."""
        made = self.succeed("best", *reversed(runs), "-o", self.folder / folder, "--workspace", self.workspace, seconds=LONGEST_SECONDS)
        said = re.findall(r"^(\S+): [\d.]+x \[([\d.]+), ([\d.]+)\] as your build compiles it, both with -march=x86-64 -O2", made.out,
                          re.MULTILINE)
        self.assertEqual(len(said), len(runs), made)
        return {whole: (float(low), float(high)) for whole, low, high in said}

    def check_answers(self, before, after):
        self.assertEqual([name for name, _ in before], [name for name, _ in after])
        self.assertLess(max(abs(a - b) for (_, a), (_, b) in zip(before, after)), 2e-4)
        self.assertEqual(len({name for name, value in before if abs(value) > 0.1}), 5, "the program computes something")

    def check_gains(self, gains, reports):
        for name, _, whole, *_ in [function for function in FUNCTIONS if self.long or function[0] in FEW]:
            low, high = (choose(ends) for choose, ends in zip((min, max), zip(*(report[whole] for report in reports))))
            print(f"{whole}: {gains[name]:.2f}x in the program, reported {[report[whole] for report in reports]}", file=sys.stderr)
            with self.subTest(whole):
                if self.long:
                    self.assertTrue(0.9 * low <= gains[name] <= 1.1 * high)
                else:
                    # A shared machine may be another one by the minute in which the program is measured.
                    self.assertGreater(gains[name], math.sqrt(low))


if __name__ == "__main__":
    if not (shutil.which("git") and shutil.which("g++") and shutil.which("cmake")):
        raise unittest.SkipTest("git, g++ and cmake are needed")
    support.main()
