# SPDX-License-Identifier: Apache-2.0
"""A recorded run with a language model's answers, built and measured anew on a real device.

python3 tests/gpu/recorded_loop.py FOLDER-OF-ACCELOPT [unittest options]
"""

import json
import subprocess

import device
import support

# Made without hardware counters, so they stay off: the questions would differ. Two candidates are level after the first
# round, so what later rounds ask hangs on noise: one round has to do. Questions name the card: one run for each kind.
RECORDED = device.ROOT / "examples" / "recorded" / "nkibench-cuda"
RUNS = ("rmsnorm_matmul", "bmm")


def card():
    """Its name, as in NVIDIA H200; empty where nvidia-smi is not there."""
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return asked.stdout.partition("\n")[0].strip()


class RecordedLoop(support.TestCase):
    def test_the_answers_lead_to_a_confirmed_gain_again(self):
        self.environment.update(device.environment())
        self.environment["ACCELOPT_NCU"] = "off"
        device.capability(self)
        here = card()
        asked = {name: next((RECORDED / name / "answers").glob("planner-i0.b0-*")).read_text(encoding="utf-8") for name in RUNS}
        run = next((RECORDED / name for name in RUNS if here and f"{here}, compute" in asked[name]), None)
        if run is None:
            self.skipTest(f"no run was recorded on this card ({here or 'without nvidia-smi'})")
        settings = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["settings"]
        settings["iterations"] = 1
        result = self.succeed("run", device.TASK.parent / run.name, "--device", "cuda:0", "--replay", run / "answers", "--json",
                              "--knowledge", "none", *[word for name, value in settings.items() for word in (f"--{name}", value)]).last
        self.assertEqual(result["outcome"], "improved", result)
        self.assertGreater(result["speedup"]["low"], 1, result)


if __name__ == "__main__":
    support.main()
