#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of the real PyTorch become tasks (`accelopt init`), whose baselines are verified against PyTorch and raced on a device.

operator_to_task.py FOLDER-OF-ACCELOPT [unittest options]
"""

import subprocess
import sys

import device
import support
import test_init_operator as operators

LARGE = operators.EXAMPLE.replace("N=300", "N=1000000")


class OperatorToTask(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment.update(device.environment())
        device.capability(self)
        there = subprocess.run([sys.executable, "-c", "import torch, triton; print(torch.__version__, triton.__version__)"], capture_output=True,
                               text=True, check=False)
        if there.returncode != 0:
            self.skipTest("no CUDA device, PyTorch or Triton")
        print("PyTorch and Triton:", there.stdout.strip(), flush=True)
        self.made = self.folder / "made"

    def evaluated(self, *kernel):
        finished = self.accelopt("eval", self.made, *kernel, "--device", "cuda:0", "--json", seconds=200)
        print({key: finished.last.get(key) for key in ("status", "verdict", "reason", "ratio", "workloads")}, flush=True)
        return finished.last

    def test_an_operator_over_triton(self):
        made = self.accelopt("init", self.file("ops.py", operators.OPERATOR), "--function", "scaled", "-o", self.made, "--example", LARGE,
                             "--reference", "scaled_torch", *operators.INITS)
        self.assertEqual(made.code, 0, made)
        self.assertNotIn("to be filled in", made.out)
        self.assertEqual(self.evaluated()["status"], "PASSED")
        baseline = (self.made / "baseline.py").read_text(encoding="utf-8")
        wider = self.evaluated(self.file("wider.py", baseline.replace("BLOCK = 128", "BLOCK = 1024")))
        self.assertEqual(wider["status"], "PASSED", wider)
        wrong = self.evaluated(self.file("wrong.py", baseline.replace("* scale +", "* scale * 1.02 +")))
        self.assertTrue(wrong["status"].startswith("INCORRECT"), wrong)

    def test_a_kernel_of_an_extension(self):
        made = self.accelopt("init", self.file("doubled.cu", operators.EXTENSION), "--function", "doubled", "-o", self.made, "--example",
                             "x: float32[N=1048576] -> y: float32[N]")
        self.assertEqual(made.code, 0, made)
        operators.fill_in(self.made)
        self.assertEqual(self.evaluated()["status"], "PASSED")
        wrong = self.file("wrong.cu", (self.made / "baseline.cu").read_text(encoding="utf-8").replace("2 * x[i]", "3 * x[i]"))
        self.assertTrue(self.evaluated(wrong)["status"].startswith("INCORRECT"))


if __name__ == "__main__":
    support.main()
