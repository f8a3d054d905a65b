#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One run on two CUDA devices: a suite takes little more than half of the time that it takes on one, and recorded winners are
confirmed alike on either.

two_devices.py FOLDER-OF-ACCELOPT [unittest options]

The candidates are the tasks' baselines behind a wait, by a stand-in for a model that answers at once, so that the devices are what is
waited for. Printed are the seconds of the suite on one device and on two, how often each device opened a task, and for each recorded winner whether
the intervals of its two confirmations meet.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time

import device
import steady
import support

SUITE = device.ROOT / "suites" / "nkibench-cuda"
TASKS = ("adamw", "matmul", "rmsnorm_matmul", "silu", "swiglu", "transpose_matmul")
SEARCH = ("--beam", 2, "--plans", 4, "--attempts", 2, "--fixes", 0, "--patience", 0, "--near-roofline", 0, "--seed", 3)
ITERATIONS = 4  # so that what is measured is the search, and not the opening of its tasks alone
LONGEST_SHARE = 0.6  # of one device's time
ANSWER = steady.answer_to


def waiting(body):
    """Plans without content, and kernels that sleep for a while before they work."""
    system, user = body["messages"][0]["content"], body["messages"][1]["content"]
    if "You are the planner" in system or "You are the summarizer" in system:
        return ANSWER(body)
    source = re.findall(r"^```\w*\n(.*?//@ launch.*?)^```", user, re.DOTALL | re.MULTILINE)[0]
    nanoseconds = 1000 + int(1000 * steady.draw(steady.question_hash(body), "wait"))
    return "```cuda\n" + re.sub(r"(__global__ [^;{]*\{)", rf"\1 __nanosleep({nanoseconds});", source, count=1) + "```\n"


class TwoDevices(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment.update(device.environment())
        self.environment["ACCELOPT_NCU"] = "off"
        listed = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout.splitlines()
        if not listed or len(listed) < 2:
            self.skipTest("fewer than two devices")
        self.devices = ["cuda:0", "cuda:1"]

    def seconds_of_suite(self, model, name, devices, iterations):
        opened = {one: self.folder / f"{name} {one}" for one in devices}
        start = 'echo >>"$1"; exec "$2" worker --device "$3"'  # each start of a worker opens one task
        workers = [word for one in devices for word in ("--worker", shlex.join(
            ["sh", "-c", start, "worker", str(opened[one]), str(support.program_folder() / "accelopt"), one]))]
        only = [word for task in TASKS for word in ("--only", task)]
        began = time.monotonic()
        finished = self.accelopt("bench", SUITE, *only, "--jobs", 4, "--workspace", self.folder / name, "--json", "--base-url", model.url,
                                "--model", steady.MODEL, *workers, *SEARCH, "--iterations", iterations, seconds=280)
        seconds = time.monotonic() - began
        results = [line for line in finished.lines if line["type"] == "result"]
        self.assertEqual(len(results), len(TASKS), finished)
        openings = {one: len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0 for one, file in opened.items()}
        print(f"{name}: {seconds:.1f} s, openings {openings}, device seconds {sum(line['device_seconds'] for line in results):.1f}, "
              f"evaluations {sum(line['evaluations'] for line in results)}", flush=True)
        self.assertGreater(min(openings.values()), 0, "every device has measured")
        return seconds

    def test_a_suite_takes_little_more_than_half_of_the_time(self):
        model = steady.SteadyModel(seed=7)
        self.addCleanup(model.close)
        steady.answer_to = waiting
        self.addCleanup(setattr, steady, "answer_to", ANSWER)
        self.seconds_of_suite(model, "first", self.devices[:1], 1)  # compilers and files are read for the first time
        one = self.seconds_of_suite(model, "one device", self.devices[:1], ITERATIONS)
        two = self.seconds_of_suite(model, "two devices", self.devices, ITERATIONS)
        print(f"two devices take {two / one:.2f} of one device's time", flush=True)
        self.assertLessEqual(two / one, LONGEST_SHARE)

    def test_winners_are_confirmed_alike_on_either(self):
        script = device.ROOT / "scripts" / "measure-recorded.py"
        said = [subprocess.Popen([sys.executable, script, support.program_folder(), "--device", one, "--seconds", "120"],
                                 stdout=subprocess.PIPE, text=True, env=self.environment) for one in self.devices]
        lines = [[json.loads(line) for line in process.communicate()[0].splitlines()] for process in said]
        meet = lambda first, second: (max(first["ratio"]["low"], second["ratio"]["low"]) <=  # noqa: E731
                                      min(first["ratio"]["high"], second["ratio"]["high"]))
        pairs = list(zip(*lines, strict=True))
        for first, second in pairs:
            if "ratio" in first and "ratio" in second:
                intervals = ["{estimate:.3f} [{low:.3f}, {high:.3f}]".format(**line["ratio"]) for line in (first, second)]
                print(f"{first['run']}: {intervals[0]} and {intervals[1]}: {'agree' if meet(first, second) else 'differ'}", flush=True)
            else:
                print(json.dumps([first, second]), flush=True)
        for first, second in pairs:
            # On another kind of device than it was recorded on a winner may lose, and then does so on both.
            self.assertEqual([line.get("status") for line in (first, second)], ["PASSED", "PASSED"], (first, second))
            self.assertEqual(first["verdict"], second["verdict"], (first, second))
            self.assertTrue(meet(first, second), (first, second))


if __name__ == "__main__":
    support.main()
