# SPDX-License-Identifier: Apache-2.0
"""A user's own function, in a file of theirs and a repository of theirs: init, edit, run, best, git apply, and faster."""

import shutil
import subprocess
import time
import unittest

import support

PROGRAM = """\
// Mixes the channels of an image and prints the result.
#include <cstdio>
#include <vector>

namespace {

// Numbers that are the same every time.
void fill(std::vector<float>& values, unsigned state) {
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
}

float clamped(float value) { return value < -9.0f ? -9.0f : value > 9.0f ? 9.0f : value; }

}  // namespace

// out[rows][cols] = image[rows][depth] times weights[depth][cols]; the output stands first.
void mix(float* out, int rows, const float* image, const float* weights, int cols, int depth) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      float sum = 0.0f;
      for (int d = 0; d < depth; ++d) {
        sum += image[r * depth + d] * weights[d * cols + c];
      }
      out[r * cols + c] = sum;
    }
  }
}

int main(int argc, char**) {
  const int rows = 61, cols = 96, depth = 80, repeats = argc > 1 ? 600 : 1;
  std::vector<float> image(rows * depth), weights(depth * cols), out(rows * cols);
  fill(image, 1);
  fill(weights, 2);
  for (int i = 0; i < repeats; ++i) mix(out.data(), rows, image.data(), weights.data(), cols, depth);
  for (float value : out) std::printf("%.4f\\n", static_cast<double>(clamped(value)));
}
"""


class UserKernel(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "program"
        self.source = self.repository / "src" / "mix.cpp"
        self.source.parent.mkdir(parents=True)
        self.source.write_text(PROGRAM, encoding="utf-8")
        self.command("git", "init", "-q", ".")
        self.command("git", "add", "-A")
        self.command("git", "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-q", "-m", "Begin")

    def command(self, *arguments):
        done = subprocess.run([str(a) for a in arguments], cwd=self.repository, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build(self, name):
        program = self.folder / name
        self.command("g++", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror", "src/mix.cpp", "-o", program)
        return program

    def best_seconds(self, program):
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            self.command(program, "again")
            best = min(best, time.perf_counter() - start)
        return best

    def test_from_a_function_to_a_patch(self):
        before = self.build("before")
        task = self.repository / "mix_task"
        self.make_task(task)
        self.check_the_open_questions(task)
        self.run_it(task)
        best = self.repository / "best"
        self.check_the_users_build(task, best)
        self.check_the_patch(best / "winner.patch")
        after = self.build("after")
        self.check_the_answers(before, after)
        self.assertLess(self.best_seconds(after) * 1.5, self.best_seconds(before))

    def make_task(self, task):
        made = self.succeed("init", self.source, "--function", "mix", "--shape", "image=rows,depth", "--shape", "weights=depth,cols",
                            "--shape", "out=rows,cols", "--out", "out", "--axis", "rows=40", "--axis", "cols=64", "--axis", "depth=56",
                            "--output", task)
        self.assertIn("task.toml", made.said)
        text = (task / "task.toml").read_text()
        self.assertIn('args = ["out", "int rows", "image", "weights", "int cols", "int depth"]', text)
        self.assertIn('function = "mix"', text)

    def check_the_open_questions(self, task):
        """What init cannot know is refused by line, until the user has said it."""
        linted = self.accelopt("lint", task)
        self.assertEqual(linted.code, 5, linted)
        lines = (task / "task.toml").read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if line.startswith('init = "?"'):
                self.assertIn(f"task.toml:{number}:", linted.said)
        self.assertIn('init = "?"', "\n".join(lines))
        edited = "\n".join('init = "normal(0, 1)"' if line.startswith('init = "?"') else
                           'flops = "2*rows*cols*depth"' if line.startswith("# flops") else line for line in lines)
        (task / "task.toml").write_text(edited + "\n")
        self.succeed("lint", task)

    def run_it(self, task):
        finished = self.succeed("run", task, "--workspace", self.workspace, "--json", "--iterations", 1)
        result = finished.last
        self.assertEqual(result["outcome"], "improved", finished)
        self.assertGreater(result["speedup"]["low"], 2, finished)
        self.assertIs(result["derived_reference"], True, "equality was proven and not correctness")
        self.assertEqual({w["role"] for w in result["workloads"]}, {"race", "held_out"})

    def check_the_users_build(self, task, best):
        """A build command runs where --allow-build gives it, in a copy, and nowhere else."""
        text = (task / "task.toml").read_text()
        (task / "task.toml").write_text(text.replace("[entry]", '[entry]\nbuild = "touch ran"'))
        refused = self.accelopt("lint", task)
        self.assertEqual(refused.code, 5, refused)
        self.assertIn("build", refused.said)
        (task / "task.toml").write_text(text)
        plain = self.succeed("best", "-o", self.folder / "plain", "--workspace", self.workspace, "--no-measure")
        self.assertIn("is not known", plain.said)
        broken = self.succeed("best", "-o", self.folder / "broken", "--workspace", self.workspace, "--no-measure", "--allow-build",
                              "touch ran; g++ src/nowhere.cpp")
        self.assertRegex(broken.said, "without the patch too: .*nowhere.cpp")
        outside = self.accelopt("best", "-o", self.folder / "outside", "--workspace", self.workspace, "--no-measure", "--patch-form",
                                "own-file", "--allow-build", "g++ src/mix.cpp -o mix")
        self.assertIn("your build fails with the patch, and not without it", outside.said)
        command = "touch ran; g++ -O2 -march=native -Wall -Wextra -Werror src/mix.cpp -o mix"
        made = self.succeed("best", "-o", best, "--workspace", self.workspace, "--allow-build", command)
        self.assertIn(f"your program builds with the patch: {command}", made.said)
        self.assertRegex(made.said, r"mix: [\d.]+x .* as your build compiles it, both with -O2 -march=native \(touch ran;")
        self.assertFalse((self.repository / "ran").exists())

    def check_the_patch(self, patch):
        self.command("git", "apply", "--check", patch)
        self.command("git", "apply", patch)
        changed = self.command("git", "status", "--porcelain", "--untracked-files=no").split()
        self.assertEqual(changed, ["M", "src/mix.cpp"], "only the user's file is changed")
        text = self.source.read_text()
        for kept in ("// Numbers that are the same every time.", "void fill(", "float clamped(float value)", "int main(int argc, char**) {",
                     "void mix(float* out, int rows, const float* image, const float* weights, int cols, int depth)"):
            self.assertIn(kept, text)
        self.assertEqual(text[text.index("int main("):], PROGRAM[PROGRAM.index("int main("):])
        self.assertNotIn("task.h", text)

    def check_the_answers(self, before, after):
        old = [float(line) for line in self.command(before).split()]
        new = [float(line) for line in self.command(after).split()]
        self.assertEqual(len(old), 61 * 96)
        self.assertEqual(len(new), len(old))
        self.assertLess(max(abs(a - b) for a, b in zip(old, new)), 2e-4)
        self.assertGreater(max(abs(a) for a in old), 1, "the program computes something")

    def test_what_cannot_be_scaffolded_is_said(self):
        unknown = self.accelopt("init", self.source, "--function", "mixx", "--output", self.folder / "t")
        self.assertIn(unknown.code, (1, 2), unknown)
        self.assertRegex(unknown.err, "mixx")
        shapeless = self.accelopt("init", self.source, "--function", "mix", "--output", self.folder / "t")
        self.assertIn(shapeless.code, (0, 1, 2), shapeless)
        if shapeless.code == 0:  # then each missing shape is a question that lint asks
            linted = self.accelopt("lint", self.folder / "t")
            self.assertEqual(linted.code, 5, linted)
        missing = self.accelopt("init", "nosuch.cpp", "--function", "mix")
        self.assertEqual(missing.code, 1, missing)
        self.assertRegex(missing.err, "nosuch.cpp")


if __name__ == "__main__":
    if not (shutil.which("git") and shutil.which("g++")):
        raise unittest.SkipTest("git and g++ are needed")
    support.main()
