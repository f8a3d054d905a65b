#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Autotuned kernels become alternatives; heuristics are decided; what a configuration does not do is told."""

import json
import subprocess
import tempfile
import unittest

import support
from kernels import HEAD, TUNED
from support import tensor

# What eval --host leaves of a solution's configurations, with a stand-in for PyTorch.
FIX = """
import json, pathlib, sys
root, packages, folder, files, measured = sys.argv[1:]
sys.path[:0] = [root + "/tests/fakes/torch", root + "/python", packages]
from accelopt_torch.solution import Solution, autotuned
solution = Solution(pathlib.Path(folder), json.loads(files), "run")
solution.fix(json.loads(measured))
(kernel,) = autotuned(sys.modules[solution.function.__module__])
print(json.dumps([config.all_kwargs() for config in kernel.configs]))
"""

X, Y = tensor("x", 1000), tensor("y", 1000)


class Autotune(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def captured(self, source, **options):
        answer = self.server.capture(source, [X], [Y], **options)
        self.assertIn("ok", answer, answer.get("error"))
        return answer["ok"]

    def test_all_configurations_are_alternatives(self):
        ok = self.captured(TUNED)
        self.assertEqual(ok["choices"][0]["name"], "move")
        self.assertEqual(ok["choices"][0]["configurations"][1], {"BLOCK": 256, "num_warps": 8, "num_ctas": 1, "num_stages": 3})
        [choose] = ok["plans"][0]["ops"]
        launches = [alternative["ops"][0] for alternative in choose["alternatives"]]
        self.assertEqual([launch["grid"][0] for launch in launches], [8, 4, 2])
        self.assertEqual([launch["block"][0] for launch in launches], [128, 256, 128])
        self.assertEqual([launch["cubin"] for launch in launches], [0, 1, 2])

    def test_overridden_options_are_found(self):
        [finding] = self.captured(TUNED)["findings"]
        self.assertEqual((finding["file"], finding["line"]), ("main.py", 5))
        self.assertIn("num_warps inside a Config's dict has no effect", finding["message"])

    def test_first_and_one(self):
        for wanted, place in (("first", 0), ({"move": 1}, 1), ({"other": 2}, 0)):
            with self.subTest(wanted):
                [choose] = self.captured(TUNED, configurations=wanted)["plans"][0]["ops"]
                self.assertEqual([alternative["configuration"] for alternative in choose["alternatives"]], [place])
        self.assertEqual(self.server.capture(TUNED, [X], [Y], configurations={"move": 3})["error"]["kind"], "request")

    def test_configurations_that_do_not_compile_keep_their_error(self):
        source = TUNED.replace("    i = tl.pro", "    tl.static_assert(BLOCK < 512, 'too large')\n    i = tl.pro")
        [choose] = self.captured(source)["plans"][0]["ops"]
        self.assertEqual(["ops" in alternative for alternative in choose["alternatives"]], [True, True, False])
        error = choose["alternatives"][2]["error"]
        self.assertEqual((error["kind"], error["line"]), ("compile", 9))
        self.assertIn("too large", error["message"])
        answer = self.server.capture(source.replace("BLOCK < 512", "BLOCK < 1"), [X], [Y])
        self.assertEqual(answer["error"]["kind"], "compile")

    def test_a_configuration_that_compiles_forever_is_dropped(self):
        source = TUNED.replace("    tl.store(", "    for k in tl.static_range(30000 if BLOCK == 512 else 1):\n        n += k\n    tl.store(")
        begun = support.now()
        [choose] = self.captured(source, limits={"compile_s": 1})["plans"][0]["ops"]
        self.assertEqual(["ops" in alternative for alternative in choose["alternatives"]], [True, True, False])
        self.assertEqual((choose["alternatives"][2]["error"]["kind"], choose["alternatives"][2]["error"]["call"]), ("limit", "compile_s"))
        self.assertLess(support.now() - begun, 60)

    def test_what_is_compiled_in_time_is_kept(self):
        source = TUNED.replace("    tl.store(", "    for k in tl.static_range(30000 if BLOCK == 512 else 1):\n        n += k\n    tl.store(")
        [choose] = self.captured(source, limits={"compile_s": 100, "wall_s": 6})["plans"][0]["ops"]
        self.assertEqual(["ops" in alternative for alternative in choose["alternatives"]], [True, True, False])

    def test_pruning_hooks_and_reset(self):
        source = TUNED.replace('key=["n"])', 'key=["n"], prune_configs_by={"early_config_prune": lambda configs, named, **_: configs[1:2]},'
                               ' reset_to_zero=["y"])')
        [choose] = self.captured(source)["plans"][0]["ops"]
        self.assertEqual([alternative["configuration"] for alternative in choose["alternatives"]], [1])
        self.assertEqual([op["op"] for op in choose["alternatives"][0]["ops"]], ["launch"])
        hooked = TUNED.replace("num_warps=8)", 'num_warps=8, pre_hook=lambda named: named["y"].zero_())')
        [choose] = self.captured(hooked)["plans"][0]["ops"]
        self.assertEqual([[op["op"] for op in alternative["ops"]] for alternative in choose["alternatives"]],
                         [["launch"], ["fill", "launch"], ["launch"]])

    def test_what_acts_only_while_triton_measures_is_reported(self):
        named = {"reset_to_zero": '["y"]', "restore_value": '["y"]', "pre_hook": "lambda named, reset_only=False: named['y'].zero_()",
                 "post_hook": "lambda named, exception: None"}
        for name, value in named.items():
            ok = self.captured(TUNED.replace('key=["n"])', f'key=["n"], {name}={value})'))
            self.assertEqual([op["op"] for op in ok["plans"][0]["ops"]], ["choose"], name)
            messages = [finding["message"] for finding in ok["findings"] if finding["message"].startswith(f"{name} of triton.autotune")]
            self.assertEqual(len(messages), 1, ok["findings"])
        self.assertNotIn("triton.autotune", str(self.captured(TUNED)["findings"]))

    def test_the_measured_configuration_is_what_is_left_for_pytorch(self):
        (choice,) = self.captured(TUNED)["choices"]
        for measured in choice["configurations"]:  # the last one's number of warps is overridden
            with tempfile.TemporaryDirectory() as folder:
                ran = subprocess.run([support.python(), "-c", FIX, str(support.ROOT), str(support.site_packages()), folder,
                                      json.dumps([{"name": "main.py", "content": TUNED}]), json.dumps({choice["name"]: measured})],
                                     capture_output=True, text=True, check=True)
            self.assertEqual(json.loads(ran.stdout), [measured])

    def test_contents_come_before_the_alternatives(self):
        source = TUNED.replace("    n = x.numel()", "    n = x.numel()\n    x = x.to(torch.float16)")
        self.assertEqual([op["op"] for op in self.captured(source)["plans"][0]["ops"]], ["copy", "choose"])

    def test_descriptors_that_a_hook_completes(self):
        source = HEAD + """
from triton.tools.tensor_descriptor import TensorDescriptor
def shape(named):
    named["x"].block_shape = [named["M"], 64]
@triton.autotune(configs=[triton.Config({"M": m}, pre_hook=shape) for m in (32, 64)], key=[])
@triton.jit
def k(x, y, M: tl.constexpr):
    i = (tl.program_id(0) * M + tl.arange(0, M))[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(y + i, x.load([tl.program_id(0) * M, 0]))
def run(x, y):
    k[lambda meta: (128 // meta["M"],)](TensorDescriptor.from_tensor(x, [1, 1]), y)
"""
        answer = self.server.capture(source, [tensor("x", 128, 64, dtype="float16")], [tensor("y", 128, 64, dtype="float16")])
        [choose] = answer["ok"]["plans"][0]["ops"]
        self.assertEqual([a["ops"][0]["arguments"][0]["tensor_map"]["box"] for a in choose["alternatives"]], [[64, 32], [64, 64]])

    def test_heuristics(self):
        source = TUNED.replace('@triton.autotune(', '@triton.heuristics({"BLOCK": lambda named: triton.next_power_of_2(named["n"])})\n'
                               '@triton.jit\ndef other(x, y, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n'
                               '    tl.store(y + i, tl.load(x + i))\n\n@triton.autotune(')
        source += "    other[(1,)](x, y, n)\n"
        ops = self.captured(source, configurations="first")["plans"][0]["ops"]
        self.assertEqual([op["op"] for op in ops], ["choose", "launch"])

    def test_too_many_configurations(self):
        many = TUNED.replace("configs=[", "configs=[triton.Config({'BLOCK': 64}, num_stages=s + 1) for s in range(70)] + [")
        error = self.server.capture(many, [X], [Y])["error"]
        self.assertEqual((error["kind"], error["call"]), ("limit", "triton.autotune"))


if __name__ == "__main__":
    support.main(__name__)
