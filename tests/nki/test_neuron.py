#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python/accelopt_neuron: what a kernel's file may hold, and whose fault a failure of the vendor's package is. The package is this project's
front end here, which has the same modules."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python" / "accelopt_nki" / "standin")]
from accelopt_neuron import failures  # noqa: E402
from accelopt_neuron.inspection import Refused, inspect  # noqa: E402

IMPORTS = "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nfrom neuronxcc.nki.language import par_dim\n"


WHERE = {"def f():\n    import math as nl": 2, "try: pass\nexcept ValueError as nl: pass": 2}  # of these the second line


class Inspection(unittest.TestCase):
    def test_the_suites_kernels_pass(self):
        kernels = sorted((ROOT / "suites" / "nkibench").glob("*/baseline.py"))
        self.assertEqual(len(kernels), 14)
        for kernel in kernels:
            with self.subTest(kernel.parent.name):
                inspect(kernel.read_text(), str(kernel))

    def test_what_reaches_the_process_is_refused_with_its_line(self):
        for text in ("import os", "import sys, neuronxcc", "from time import sleep", "import neuronxcc.driver", "from neuronxcc.nki import baremetal",
                     "from neuronxcc.nki.language import *", "from . import other", "nki.benchmark(kernel)", "nki.baremetal = None", "nl.add = nl.subtract",
                     "del nl.add", "np.fromfile('x')", "np.load('x')", "open('x')", "eval('1')", "getattr(nl, 'load')", "__import__('os')", "globals()",
                     "nl.load.__globals__", "nl.load.__class__", "nl._private", "other = nl", "nl = 3", "print(np)", "'{0.x}'.format(1)", "(i for i in ()).gi_frame",
                     "class A: pass", "async def f(): pass", "def open(): pass", "def f(nl): pass", "(nl := 1)", "for np.pi in (1,): pass",
                     "np.full((2,), 1.0).tofile('x')", "np.add.reduce([1])", "nl.zeros((4, 4), nl.float32).storage", "def f(a: open('x')): pass",
                     "def f(*, a: np.zeros((1,)).tofile('x') = 1): pass", "f = lambda a: a.ctypes", "def f() -> np.zeros((1,)).dump('x'): pass",
                     "import math as np", "from numpy import float32 as nl", "def f():\n    import math as nl", "match np.pi:\n    case np.float32(tofile=f): pass",
                     "match 1:\n    case nl: pass", "try: pass\nexcept ValueError as nl: pass", "par_dim = 1"):
            with self.subTest(text), self.assertRaises(Refused) as caught:
                inspect(IMPORTS + text + "\n", "kernel.py")
            self.assertEqual(caught.exception.line - IMPORTS.count("\n"), WHERE.get(text, 1))

    def test_a_module_that_the_package_imports_is_no_way_out(self):
        import os

        import neuronxcc.nki.language as language
        language.os = os
        self.addCleanup(delattr, language, "os")
        for text in ("nl.os.system('true')", "from neuronxcc.nki.language import os"):
            with self.subTest(text), self.assertRaisesRegex(Refused, "is no part of NKI"):
                inspect(IMPORTS + text + "\n", "kernel.py")

    def test_what_kernels_do_is_not(self):
        for text in ("x = np.float32(0.5)", "from neuronxcc import nki", "import math\nmath.sqrt(2)", "par_dim(128)", "y = nl.ndarray((128, par_dim(4)), dtype=nl.float32)",
                     "t = nl.zeros((4, 4), nl.float32)\nt[0:4, 0:4] = 1\ny = t.reshape((2, 8)).shape", "p = nl.tile_size.pmax", "def f(a: nl.float32, b: 'whatever') -> None: return a.shape", "import numpy as np", "grid = nl.mgrid[0:4, 0:8]\nrows = grid.p",
                     "tiles = []\ntiles.append(1)", "y = np.zeros((2, 2)).astype(np.float32).dtype.type", "f'{1:x}'",
                     "from neuronxcc.nki import trace\n@trace\ndef kernel(a, b): return [one for one in (a, b)]"):
            with self.subTest(text):
                inspect(IMPORTS + text + "\n", "kernel.py")


class Failures(unittest.TestCase):
    def kind(self, text, compiled=True):
        found = failures.classified(RuntimeError(text), compiled, "kernel.py")
        return found["kind"], found.get("status")

    def test_statuses_of_the_runtime(self):
        self.assertEqual(self.kind("nrt_execute failed with status 1202"), ("lost", "NRT_EXEC_HW_ERR_NC_UE"))
        self.assertEqual(self.kind("NRT_EXEC_UNIT_UNRECOVERABLE in nrt_execute"), ("lost", "NRT_EXEC_UNIT_UNRECOVERABLE"))
        self.assertEqual(self.kind("nrt_load: status=9"), ("busy", "NRT_LOAD_NOT_ENOUGH_NC"))
        self.assertEqual(self.kind("nrt_execute failed with status 1006"), ("run", None))

    def test_numbers_that_are_no_statuses(self):
        self.assertEqual(self.kind("the tile has 1202 elements", compiled=False), ("compile", None))
        self.assertEqual(self.kind("neuronx-cc failed with exit code 6", compiled=False), ("compile", None))

    def test_what_fails_before_there_is_a_program_is_the_compilers(self):
        self.assertEqual(self.kind("[GCA046] no allocation", compiled=False), ("compile", None))

    def test_line_of_the_kernel(self):
        try:
            exec(compile("def f():\n    return 1 / 0\nf()\n", "kernel.py", "exec"), {})
        except ZeroDivisionError as problem:
            self.assertEqual(failures.failure("compile", problem, "kernel.py"),
                             {"kind": "compile", "message": "ZeroDivisionError: division by zero", "line": 2})


if __name__ == "__main__":
    unittest.main()
