# SPDX-License-Identifier: Apache-2.0
"""A recorded run with a language model's answers, built and measured anew on a real device.

python3 tests/gpu/recorded_loop.py FOLDER-OF-ACCELOPT [unittest options]
"""

import json

import device
import support

# Made without hardware counters, so they stay off: the questions would differ. Two candidates are level after the first
# round, so what later rounds ask hangs on noise: one round has to do.
RUN = device.ROOT / "examples" / "recorded" / "nkibench-cuda" / "rmsnorm_matmul"


class RecordedLoop(support.TestCase):
    def test_the_answers_lead_to_a_confirmed_gain_again(self):
        self.environment.update(device.environment())
        self.environment["ACCELOPT_NCU"] = "off"
        device.capability(self)
        settings = json.loads((RUN / "measurements.json").read_text(encoding="utf-8"))["settings"]
        settings["iterations"] = 1
        result = self.succeed("run", device.TASK.parent / RUN.name, "--device", "cuda:0", "--replay", RUN / "answers", "--json",
                              "--knowledge", "none", *[word for name, value in settings.items() for word in (f"--{name}", value)]).last
        self.assertEqual(result["outcome"], "improved", result)
        self.assertGreater(result["speedup"]["low"], 1, result)


if __name__ == "__main__":
    support.main()
