#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`accelopt verify FILE --measure` of CUDA winners: archives of the runs recorded on an H200, verified and measured again on this machine's device.

verify_winners.py FOLDER-OF-ACCELOPT [unittest options]

Each archive is made again from its record, without the device; then one line a run says what was claimed and what is found here. On the kind of
device that a run was recorded on its claim has to hold; on another one its gain has to be there.
"""

import contextlib
import json
import os

import device
import support

RUNS = sorted((device.ROOT / "examples" / "recorded").glob("nkibench-cuda/*/measurements.json"))
SLOWEST_LAST = "matmul"  # its baseline takes a thousand times as long as the others'
ONLY = os.environ.get("ACCELOPT_VERIFY_ONLY", "").split()  # names of runs; none: all


@contextlib.contextmanager
def said_at_once(name):
    """unittest says at the end why a subtest failed, which a time limit may cut off."""
    try:
        yield
    except Exception as problem:
        print(f"{name}: {problem!r}", flush=True)
        raise


class Winners(support.TestCase):
    def setUp(self):
        super().setUp()
        self.capability = device.capability(self)
        self.environment.update(device.environment())
        self.environment["ACCELOPT_NCU"] = "off"

    def archive(self, measurements):
        """The evidence of a recorded run."""
        recorded = support.program_folder() / "recorded_worker"
        if not recorded.exists():
            self.skipTest(f"{recorded} is not there; build the target recorded_worker")
        run = measurements.parent
        settings = json.loads(measurements.read_text(encoding="utf-8"))["settings"]
        workspace = self.folder / run.name
        self.succeed("run", device.ROOT / "suites" / run.parent.name / run.name, "--workspace", workspace, "--json", "--replay", run / "answers",
                     "--worker", f"{recorded} {measurements}", "--knowledge", "none",
                     *[word for name, value in settings.items() for word in (f"--{name}", value)])
        path = self.folder / f"{run.name}.evidence.tar"
        self.succeed("evidence", "last", "-o", path, "--workspace", workspace)
        return path

    def test_recorded_winners_are_measured_again(self):
        runs = [run for run in RUNS if not ONLY or run.parent.name in ONLY]
        self.assertTrue(runs, "no recorded run has such a name")
        for measurements in sorted(runs, key=lambda path: path.parent.name == SLOWEST_LAST):
            with self.subTest(measurements.parent.name), said_at_once(measurements.parent.name):
                path = self.archive(measurements)
                finished = self.accelopt("verify", path, "--json", "--measure", "--device", "cuda:0", seconds=200)
                self.assertTrue(finished.out, finished)
                verified = finished.last
                measured = next(check for check in verified["checks"] if check["name"] == "measurement")
                print(f"{measurements.parent.name}: {measured['state']}: {measured['text']}", flush=True)
                others = [(check["name"], check["state"]) for check in verified["checks"] if check is not measured]
                self.assertEqual({state for _, state in others}, {"passed"}, others)
                self.assertIsNotNone(verified["here"], finished)
                if verified["here"]["device"] == verified["device"]:
                    self.assertEqual((finished.code, measured["state"]), (0, "passed"), measured)
                self.assertGreater(verified["here"]["speedup"]["low"], 1, measured)


if __name__ == "__main__":
    support.main()
