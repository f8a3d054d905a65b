# SPDX-License-Identifier: Apache-2.0
"""NKI kernels on neuron:0, where a stand-in for the vendor's package is installed (tests/fakes/neuron): what the command says of each way in which that
can go. No device is asked, so that nothing here is a time of one."""

import json
import pathlib
import shutil
import subprocess

import support
from test_trainium import FASTER, SUITE, VENDOR_FIGURES

CONSTANTS = support.ROOT / "scripts" / "neuron-constants.py"
# What the stand-in's device is made of (src/targets/trainium/chip.hpp), and how near a measurement of it has to come.
TRUE = {"tensor_ghz": (2.4, 0.02), "vector_ghz": (1.12, 0.02), "vector_start": (100, 0.1), "scalar_ghz": (1.4, 0.02), "scalar_start": (60, 0.15),
        "reciprocal": (1.3, 0.03), "descriptor_ns": (98, 0.1), "dma_bytes_per_ns": (27.2, 0.05), "dma_latency_ns": (2000, 0.1), "start_ns": (30000, 0.05)}


class Neuron(support.TestCase):
    def setUp(self):
        super().setUp()
        self.python = support.program_folder() / "neuron_standin" / "bin" / "python3"
        self.environment["ACCELOPT_PYTHON"] = str(self.python)
        self.silu = pathlib.Path(self.folder) / "silu"
        shutil.copytree(SUITE, self.silu)
        toml = self.silu / "task.toml"
        # One workload, and small: each call is a compilation.
        text = toml.read_text().replace("M = 4096, N = 7168", "M = 256, N = 2048")
        checked, costs = text.index('[[workloads]]\nname = "odd"'), text.index("[numerics]")
        toml.write_text(text[:checked] + text[costs:])
        self.baseline = (self.silu / "baseline.py").read_text()

    def evaluate(self, text):
        return self.accelopt("eval", self.silu, self.file("candidate.py", text), "--device", "neuron:0", "--json")

    def test_faster_kernel_is_faster_by_the_devices_trace(self):
        finished = self.evaluate(FASTER)
        evaluation = finished.lines[0]
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "FASTER"), finished)
        self.assertGreater(evaluation["blocks"], 2, "times of a device are sampled")
        self.assertEqual(evaluation["trust"], "inspected-python")
        self.assertTrue(evaluation["environment"]["device"].startswith("neuron:0"), evaluation["environment"])
        self.assertIn("neuronxcc 2.25.0+standin", evaluation["environment"]["compiler"])
        self.assertNotEqual(evaluation["environment"].get("clock"), "modelled")
        items = {item["name"] for item in evaluation["profile"]["items"]}
        self.assertLessEqual(VENDOR_FIGURES, items)

    def test_lost_device_is_no_verdict(self):
        finished = self.evaluate("STANDIN_FAILS = \"lost\"\n" + self.baseline)
        self.assertNotEqual(finished.code, 0)
        self.assertIn("the device neuron:0 was lost (NRT_EXEC_HW_ERR_NC_UE)", finished.said)

    def test_without_the_vendors_package(self):
        self.environment["ACCELOPT_PYTHON"] = "/usr/bin/true"
        finished = self.evaluate(FASTER)
        self.assertNotEqual(finished.code, 0)
        self.assertIn("no Python with neuronxcc was found", finished.said)

    def test_measured_constants_are_the_devices_and_move_the_model(self):
        constants = pathlib.Path(self.folder) / "constants.json"
        done = subprocess.run([self.python, CONSTANTS, "-o", constants, "--repeat", "1"], capture_output=True, text=True, check=False,
                              timeout=support.LONGEST_COMMAND_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = json.loads(constants.read_text())
        self.assertEqual(set(measured["constants"]), set(TRUE))
        for name, (true, near) in TRUE.items():
            with self.subTest(name):
                self.assertAlmostEqual(measured["constants"][name], true, delta=near * true)
        measured["constants"]["start_ns"] *= 10
        constants.write_text(json.dumps(measured))
        usual = self.accelopt("eval", self.silu, "--device", "trn1:model", "--json").lines[0]
        self.environment["ACCELOPT_TRAINIUM_CONSTANTS"] = str(constants)
        moved = self.accelopt("eval", self.silu, "--device", "trn1:model", "--json").lines[0]
        self.assertEqual(moved["environment"]["device"], "trn1 (modelled, by measured constants)")
        self.assertIn("constants of neuronxcc 2.25.0+standin", moved["environment"]["compiler"])
        self.assertGreater(moved["workloads"][0]["time_ns"], usual["workloads"][0]["time_ns"] + 200_000)
        measured["constants"]["tensor_ghz"] = -1
        constants.write_text(json.dumps(measured))
        refused = self.accelopt("eval", self.silu, "--device", "trn1:model", "--json")
        self.assertIn('"tensor_ghz" is -1, and has to be over 0', refused.said)


if __name__ == "__main__":
    support.main()
