#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelopt init on operators of PyTorch: a Python file with Triton kernels, with a stand-in for PyTorch (tests/fakes/torch) and the real interpreter
of Triton, and the CUDA source of an extension."""

import os
import pathlib
import shlex
import shutil
import sys

import support

OPERATOR = '''\
"""Operators as people write them: kernels, helpers, a check at the end."""
import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def scaled_kernel(x, n, scale, z, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    value = tl.exp(tl.load(x + at, mask=mask).to(tl.float32)) * scale + tl.load(n + at, mask=mask)
    tl.store(z + at, value, mask=mask)


def scaled(
    x: torch.Tensor,
    n,  # whole numbers (not many)
    scale=0.5,
):
    z = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    scaled_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, n, scale, z, x.numel(), BLOCK=BLOCK)
    return z


def halved(x):
    return x.half()


def scaled_torch(x, n, scale=0.5):
    # The same by PyTorch.

    return torch.exp(halved(x)) * scale + n.to(torch.bfloat16)


if __name__ == "__main__":
    print(scaled(torch.ones(3), torch.ones(3)))
'''

EXAMPLE = "x: float16[N=300], n: int32[N], scale: float32 -> z: float32[N]"
INITS = ["--init", "n=integers(0, 5)", "--init", "scale=constant(0.3)"]

EXTENSION = """\
#include <torch/extension.h>

__global__ void doubled(const float* __restrict__ x, float* y, int64_t N) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}

torch::Tensor doubled_op(torch::Tensor x) {
  auto y = torch::empty_like(x);
  doubled<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("doubled", &doubled_op); }
"""


def fill_in(made):
    """What `init` asks for in EXTENSION: the launch, device code alone, a reference."""
    baseline = (made / "baseline.cu").read_text(encoding="utf-8")
    lines = [line for line in baseline.splitlines() if "to be filled in" not in line]
    device = "\n".join(lines).replace("grid=(?) block=(?)", "grid=(cdiv(N, 256)) block=(256)")
    (made / "baseline.cu").write_text(device.split("torch::Tensor")[0], encoding="utf-8")
    (made / "reference.cpp").write_text('#include "task.h"\n\nvoid reference(const real* x, real* y, int64_t N) {\n'
                                        "  for (int64_t i = 0; i < N; ++i) y[i] = 2 * x[i];\n}\n", encoding="utf-8")


class InitOperator(support.TestCase):
    def setUp(self):
        super().setUp()
        self.operator = self.file("ops.py", OPERATOR)
        self.made = self.folder / "made"

    def init(self, *more):
        return self.accelopt("init", self.operator, "--function", "scaled", "-o", self.made, *more)

    def with_torch(self):
        """The stand-in for PyTorch beside the project's own Triton; skips without that."""
        self.need_tools("triton")
        place = self.folder / "environment"
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python3").symlink_to(pathlib.Path(sys.executable).resolve())
        (place / "pyvenv.cfg").write_text(f"home = {pathlib.Path(sys.executable).resolve().parent}\n", encoding="utf-8")
        packages = place / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        shutil.copytree(support.ROOT / "tests" / "fakes" / "torch" / "torch", packages / "torch", ignore=shutil.ignore_patterns("__pycache__"))
        self.environment["PATH"] = f"{place}/bin{os.pathsep}" + self.environment["PATH"]

    def test_an_operator_becomes_a_task_that_is_verified(self):
        made = self.init("--example", EXAMPLE, "--reference", "scaled_torch", *INITS)
        self.assertEqual(made.code, 0, made)
        self.assertNotIn("to be filled in", made.out)
        reference = (self.made / "reference.py").read_text(encoding="utf-8")
        self.assertIn("def halved", reference)
        for absent in ("triton", "scaled_kernel", "__main__"):
            self.assertNotIn(absent, reference)
        self.assertEqual(self.accelopt("lint", self.made).code, 0)
        self.with_torch()
        evaluated = self.accelopt("eval", self.made, "--interpret", "--json")
        self.assertEqual(evaluated.code, 0, evaluated)
        self.assertIn("verified by the interpreter", evaluated.last["reason"])
        baseline = (self.made / "baseline.py").read_text(encoding="utf-8")
        wrong = self.accelopt("eval", self.made, self.file("wrong.py", baseline.replace("* scale +", "* scale * 1.02 +")), "--interpret", "--json")
        self.assertTrue(wrong.last["status"].startswith("INCORRECT"), wrong)

    def test_what_is_not_said_is_asked_for_by_line(self):
        made = self.init()
        self.assertEqual(made.code, 0, made)
        task = (self.made / "task.toml").read_text(encoding="utf-8").splitlines()
        asked = [line.removeprefix("to be filled in: ") for line in made.out.splitlines() if line.startswith("to be filled in: ")]
        for place in ("inputs.x.shape", "inputs.x.dtype", "inputs.n.init", "outputs.output.shape", "reference.py:6"):
            self.assertTrue(any(place in line for line in asked), (place, asked))
        for line in asked:
            if line.startswith("task.toml:"):
                self.assertIn('"?"', task[int(line.split(":")[1]) - 1], line)
        told = self.accelopt("lint", self.made)
        self.assertNotEqual(told.code, 0)
        self.assertIn("reference.py:6: has to be filled in", told.said)
        for number, line in enumerate(task, 1):
            if '"?"' in line and not line.startswith("#"):
                self.assertIn(f"task.toml:{number}:", told.said)

    def test_mistakes_are_told(self):
        for more, said in ((["--example", "x: float16[N=300] -> z: float32[N]"], "does not say what n of scaled is"),
                           (["--example", EXAMPLE.replace("n:", "m:")], "m is no parameter of scaled, which takes: x, n, scale"),
                           (["--example", EXAMPLE.replace("float16", "float17")], "dtype"),
                           (["--example", EXAMPLE.replace("n: int32[N]", "n: int32[N=7]")], "a second extent"),
                           (["--example", EXAMPLE, "--reference", "scaled"], "it launches scaled_kernel"),
                           (["--example", EXAMPLE, "--reference", "absent"], "there are: scaled, halved, scaled_torch")):
            with self.subTest(said):
                refused = self.init(*more)
                self.assertNotEqual(refused.code, 0, refused)
                self.assertIn(said, refused.err)
                self.assertFalse(self.made.exists(), "nothing is left behind")
        kernel = self.accelopt("init", self.operator, "--function", "scaled_kernel", "-o", self.made)
        self.assertIn("name the Python function that launches it", kernel.err)
        inline = self.file("inline.py", "from torch.utils.cpp_extension import load_inline\n\n\ndef f(x):\n    return x\n")
        self.assertIn("accelopt init kernels.cu", self.accelopt("init", inline, "--function", "f", "-o", self.made).err)

    def test_a_kernel_of_an_extension(self):
        source = self.file("doubled.cu", EXTENSION)
        self.made = self.made.parent / "own task"
        made = self.accelopt("init", source, "--function", "doubled", "-o", self.made, "--example", "x: float32[N=1048576] -> y: float32[N]")
        self.assertEqual(made.code, 0, made)
        for asked in ("baseline.cu:2: grid and block", "take out the functions of the host", "reference.cpp:1:"):
            self.assertIn(asked, made.out)
        baseline = (self.made / "baseline.cu").read_text(encoding="utf-8")
        self.assertIn("your file launches it with <<<(x.numel() + 255) / 256, 256>>>", baseline)
        hint = made.out.split("next: fill these in, then accelopt ", 1)[1].split(" && ")[0]
        told = self.accelopt(*shlex.split(hint))
        self.assertIn("baseline.cu:2: has to be filled in", told.said)
        self.assertIn("reference.cpp:1: has to be filled in", told.said)
        fill_in(self.made)
        self.assertEqual(self.accelopt("lint", self.made).code, 0, self.accelopt("lint", self.made).said)


if __name__ == "__main__":
    support.main()
