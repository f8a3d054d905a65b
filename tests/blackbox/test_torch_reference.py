# SPDX-License-Identifier: Apache-2.0
"""Tasks whose reference is Python over PyTorch, with a stand-in for PyTorch (tests/fakes/torch) and the real interpreter of
Triton: verified in double and single precision, whatever dtypes and devices the reference names; what it does wrong is told."""

import os
import pathlib
import shutil
import sys

import support

TASK = """\
schema = 1
name = "scaled"
op_type = "elementwise"
description = "z = exp(x) * scale + n"
target = "triton"

[axes]
N = "var"

[[inputs]]
name = "x"
shape = ["N"]
dtype = "float16"
init = "normal(0, 1)"

[[inputs]]
name = "n"
shape = ["N"]
dtype = "int32"
init = "integers(0, 5)"

[[inputs]]
name = "scale"
dtype = "float32"
init = "constant(0.3)"

[[outputs]]
name = "z"
shape = ["N"]
dtype = "float32"

[[workloads]]
name = "small"
axes = { N = 300 }
role = "race"
"""

BASELINE = """\
import triton
import triton.language as tl


@triton.jit
def scaled(x, n, scale, z, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    value = tl.exp(tl.load(x + at, mask=mask).to(tl.float32)) * scale + tl.load(n + at, mask=mask)
    tl.store(z + at, value, mask=mask)


def run(x, n, scale, z):
    scaled[(triton.cdiv(x.numel(), 128),)](x, n, scale, z, x.numel(), BLOCK=128)
"""

# It names types and a device, as published references do; computed in half precision no kernel would be right.
REFERENCE = """\
import torch

print("a reference may print")


def run(x, n, scale):
    where = torch.zeros([x.shape[0]], dtype=torch.float16, device="cuda")
    return {"z": torch.exp(x.half()) * scale + n.to(torch.bfloat16) + where.cuda()}
"""


class TorchReference(support.TestCase):
    def setUp(self):
        super().setUp()
        if "VIRTUAL_ENV" in os.environ:  # where the project's own Triton is
            self.environment["VIRTUAL_ENV"] = os.environ["VIRTUAL_ENV"]
        checks = {line["name"]: line for line in self.accelopt("doctor", "--json").lines if line["type"] == "check"}
        if checks["triton"]["state"] != "ok":
            self.skipTest("no Triton: " + checks["triton"]["advice"])
        self.python = self.environment_with(support.ROOT / "tests" / "fakes" / "torch" / "torch")
        self.environment["PATH"] = f"{self.python}/bin:" + self.environment["PATH"]
        self.task = self.folder / "scaled"
        self.task.mkdir()
        (self.task / "task.toml").write_text(TASK, encoding="utf-8")
        (self.task / "baseline.py").write_text(BASELINE, encoding="utf-8")
        self.write_reference(REFERENCE)

    def environment_with(self, package):
        """A virtual environment with this package alone."""
        place = self.folder / "environment"
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        (place / "pyvenv.cfg").write_text(f"home = {pathlib.Path(sys.executable).resolve().parent}\n", encoding="utf-8")
        packages = place / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        shutil.copytree(package, packages / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        return place

    def write_reference(self, text):
        (self.task / "reference.py").write_text(text, encoding="utf-8")

    def evaluated(self, *arguments, code):
        finished = self.accelopt("eval", self.task, *arguments, "--interpret", "--json")
        self.assertEqual(finished.code, code, finished)
        return finished.last

    def test_a_right_kernel_is_verified(self):
        self.assertIn("verified by the interpreter", self.evaluated(code=0)["reason"])

    def test_a_wrong_kernel_is_found(self):
        wrong = self.file("kernel.py", BASELINE.replace("* scale +", "* scale * 1.02 +"))
        self.assertTrue(self.evaluated(wrong, code=5)["status"].startswith("INCORRECT"))

    def test_what_a_reference_does_wrong_is_told(self):
        for text, message in (
                (REFERENCE.replace("torch.exp(", "torch.no_such("), "line 8"),
                (REFERENCE.replace("def run", "def other"), "reference.py has no function run"),
                (REFERENCE.replace('"z":', '"y":'), "it returned no z, but y"),
                (REFERENCE.replace("{\"z\": ", "(").replace("cuda()}", "cuda()).view(2, -1)"),
                 "output z has shape [2, 150]; the task says [300]"),
                (REFERENCE + "import socket; socket.create_connection(('127.0.0.1', 9))\n", "line 9")):
            with self.subTest(message):
                self.write_reference(text)
                finished = self.accelopt("eval", self.task, "--interpret")
                self.assertNotEqual(finished.code, 0, finished)
                self.assertIn(message, finished.said)

    def test_a_reference_writes_nothing_of_the_users(self):
        planted = self.folder / "planted"
        self.write_reference(REFERENCE.replace("import torch\n", f"import torch\ntry:\n    open({str(planted)!r}, 'w')\n"
                                               "except OSError:\n    pass\n"))
        self.accelopt("eval", self.task, "--interpret")
        if self.isolated():
            self.assertFalse(planted.exists())

    def isolated(self):
        checks = {line["name"]: line for line in self.accelopt("doctor", "--json").lines if line["type"] == "check"}
        return checks["landlock"]["state"] == "ok"

    def test_without_pytorch_the_reason_is_named(self):
        shutil.rmtree(next(self.python.glob("lib/*/site-packages")) / "torch")
        finished = self.accelopt("eval", self.task, "--interpret")
        self.assertNotEqual(finished.code, 0)
        self.assertIn("no Python with torch was found", finished.said)

    def test_a_host_run_needs_a_device(self):
        self.assertIn("give one of them", self.accelopt("eval", self.task, "--interpret", "--host").said)


if __name__ == "__main__":
    support.main()
