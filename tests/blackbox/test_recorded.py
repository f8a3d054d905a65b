# SPDX-License-Identifier: Apache-2.0
"""The runs under examples/recorded: a model's real answers and a device's real measurements, and no model and no device here. Prompts
or decisions that change make these fail: record the runs anew, or say why the old ones still hold."""

import json
import pathlib

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = sorted(path for path in (ROOT / "examples" / "recorded").glob("*/*") if (path / "measurements.json").exists())


class Recorded(support.TestCase):
    def replayed(self, run):
        measurements = run / "measurements.json"
        worker = support.program_folder() / "recorded_worker"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads(measurements.read_text(encoding="utf-8"))["settings"]
        return self.succeed("run", ROOT / "suites" / run.parent.name / run.name, "--workspace", self.workspace, "--json",
                            "--replay", run / "answers", "--worker", f"{worker} {measurements}", "--knowledge", "none",
                            *[word for name, value in settings.items() for word in (f"--{name}", value)])

    def test_runs_end_as_they_did(self):
        self.assertGreaterEqual(len(RUNS), 4)
        for run in RUNS:
            with self.subTest(run.name):
                self.workspace = self.folder / run.name
                result = self.replayed(run).last
                recorded = json.loads((run / "measurements.json").read_text(encoding="utf-8"))
                self.assertEqual({name: result[name] for name in recorded["result"]}, recorded["result"])
                # What was decided needs neither the answers nor the worker any more.
                replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
                self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))


if __name__ == "__main__":
    support.main()
