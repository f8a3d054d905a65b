# SPDX-License-Identifier: Apache-2.0
"""Functions of other kinds than float pointers: indices with ties, bytes, in place, half precision, spans. From init to one patch."""

import shutil
import subprocess
import sys
import unittest

import support

PROGRAM = support.ROOT / "tests" / "blackbox" / "programs" / "kinds" / "kinds.cpp"
NORMAL = "normal(0, 1)"

FUNCTIONS = {
    "nearest": ["--shape", "queries=rows,kSize", "--shape", "points=count,kSize", "--out", "places=rows", "--ties", "places=distances",
                "--shape", "distances=rows,count", "--axis", "rows=24", "--axis", "count=120", "--init", f"queries={NORMAL}", "--init", f"points={NORMAL}"],
    "encode": ["--shape", "bytes=groups,three", "--out", "letters=groups,four", "--axis", "groups=2000", "--axis", "three=3", "--axis",
               "four=4", "--init", "bytes=integers(0, 256)"],
    "scale": ["--inout", "x=rows,cols", "--axis", "rows=32", "--axis", "cols=300", "--init", f"x={NORMAL}"],
    "half_shares": ["--shape", "x=rows,kCols", "--shape", "totals=rows", "--out", "out=rows,kCols", "--axis", "rows=32", "--init",
                    f"x={NORMAL}", "--init", "totals=uniform(1, 2)", "--init", "unit=uniform(1, 2)"],
    "column_sums": ["--shape", "x=rows,cols", "--out", "sums=cols", "--axis", "rows=120", "--axis", "cols=96", "--init", f"x={NORMAL}"],
}

# What a user writes for nearest: a reference that computes the values that its indices name, too.
REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* queries, const real* points, int32_t* places, real* distances, int64_t rows, int64_t count) {
  for (int64_t q = 0; q < rows; ++q) {
    places[q] = 0;
    for (int64_t p = 0; p < count; ++p) {
      real sum = 0;
      for (int64_t d = 0; d < kSize; ++d) {
        const real difference = queries[q * kSize + d] - points[p * kSize + d];
        sum += difference * difference;
      }
      distances[q * count + p] = sum;
      if (sum < distances[q * count + places[q]]) places[q] = static_cast<int32_t>(p);
    }
  }
}
"""


class Kinds(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "program"
        self.repository.mkdir()
        self.source = self.repository / "kinds.cpp"
        shutil.copy(PROGRAM, self.source)
        self.command("git", "init", "-q", ".")
        self.command("git", "add", "-A")
        self.command("git", "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-q", "-m", "Begin")

    def command(self, *arguments):
        done = subprocess.run([str(a) for a in arguments], cwd=self.repository, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def answers(self):
        program = self.folder / "kinds"
        self.command("g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", self.source.name, "-o", program)
        return [line.split() for line in self.command(program).splitlines()]

    def make(self, name):
        folder = self.folder / "tasks" / name
        made = self.succeed("init", self.source, "--function", name, *FUNCTIONS[name], "-o", folder)
        self.assertNotIn("warning", made.said)
        self.assertNotIn("mend it", made.said)
        text = (folder / "task.toml").read_text()
        self.assertIn(f'op_type = "{name}"', text)
        self.assertIn("description = ", text)
        self.assertIn("schema = 4", text)  # with the hash of the code that it was made from
        if name == "nearest":
            self.assertIn("to be filled in: reference.cpp: what is to be written to distances", made.said)
            unfinished = self.accelopt("lint", folder)
            self.assertNotEqual(unfinished.code, 0)
            self.assertIn("write to distances every value", unfinished.said)
            (folder / "reference.cpp").write_text(REFERENCE)
        self.succeed("lint", folder)
        return folder

    def test_from_init_to_one_patch(self):
        before = self.answers()
        runs = []
        for name in FUNCTIONS:
            folder = self.make(name)
            result = self.accelopt("run", folder, "--workspace", self.workspace, "--json", "--iterations", 1).last
            print(name, result["outcome"], round(result["wall_seconds"]), "s", file=sys.stderr)
            # What recipes gain on bytes is little, and not seen on every machine.
            self.assertIn(result["outcome"], ("improved", "no_gain") if name == "encode" else ("improved",), result)
            if result["outcome"] == "improved":
                runs.append(result["run"])
        self.succeed("best", *runs, "-o", self.folder / "faster", "--workspace", self.workspace, "--no-measure")
        self.command("git", "apply", self.folder / "faster" / "winner.patch")
        self.check_answers(before, self.answers())

    def check_answers(self, before, after):
        self.assertEqual(len(before), len(after))
        for old, new in zip(before, after):
            self.assertEqual(old[0], new[0])
            if old[0] in ("nearest", "encode"):
                self.assertEqual(old, new)
            else:
                self.assertLess(abs(float(old[1]) - float(new[1])), 2e-2, old)


if __name__ == "__main__":
    if not (shutil.which("git") and shutil.which("g++")):
        raise unittest.SkipTest("git and g++ are needed")
    support.main()
