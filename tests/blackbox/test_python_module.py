# SPDX-License-Identifier: Apache-2.0
"""The Python module on a real program: what it returns is what the program's JSON says."""

import json
import os
import pathlib
import signal
import sys

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "examples" / "recorded" / "nkibench-cuda" / "adamw"
sys.path.insert(0, str(ROOT / "python"))

import accelopt  # noqa: E402


class PythonModule(support.TestCase):
    def setUp(self):
        super().setUp()
        os.environ["ACCELOPT"] = str(support.program_folder() / "accelopt")
        self.addCleanup(os.environ.pop, "ACCELOPT")

    def recorded(self, **options):
        worker = support.program_folder() / "recorded_worker"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads((RUN / "measurements.json").read_text(encoding="utf-8"))["settings"]
        return accelopt.optimize(ROOT / "suites" / "nkibench-cuda" / "adamw", replay=RUN / "answers",
                                 worker=f"{worker} {RUN}/measurements.json", knowledge="none", **settings, **options)

    def test_a_run_and_its_winner(self):
        self.addCleanup(os.chdir, os.getcwd())
        (self.folder / "own" / "deep").mkdir(parents=True)
        (self.folder / "own" / ".accelopt").mkdir()
        os.chdir(self.folder / "own" / "deep")
        result = self.recorded()
        self.assertIn("//@ launch", accelopt.best())
        os.chdir("/")
        self.assertTrue(result.improved)
        self.assertEqual(str(result.speedup), "1.06x [1.05, 1.08]")
        self.assertIn("//@ launch", result.source)
        self.assertIn("//@ launch", accelopt.best(result.run, workspace=result.workspace))
        self.assertTrue((result.save(self.folder / "torch", "torch") / "adamw" / "__init__.py").exists())
        self.assertIn('<iframe sandbox srcdoc="<!', result._repr_html_())
        self.assertIn("adamw", result.report())

    def test_a_run_that_a_budget_or_a_stop_ends_is_a_result(self):
        told = {"type": "result", "run": "r", "outcome": "budget", "reason": "give more time", "speedup": None, "solution": None}
        program = self.folder / "accelopt"
        for code in (3, 4, 130):
            program.write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\nexit {code}\n", encoding="utf-8")
            program.chmod(0o755)
            os.environ["ACCELOPT"] = str(program)
            self.assertEqual(accelopt.optimize("task").reason, "give more time")
        program.write_text("#!/bin/sh\necho '{\"type\": \"note\"}'\nexit 130\n", encoding="utf-8")
        with self.assertRaisesRegex(accelopt.AcceloptError, "interrupted"):
            accelopt.optimize("task")

    def interrupted(self, script):
        """What `optimize` gives whose program is this script, which interrupts its caller."""
        program = self.folder / "accelopt"
        program.write_text("#!/bin/bash\n" + script, encoding="utf-8")
        program.chmod(0o755)
        os.environ["ACCELOPT"] = str(program)
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        return accelopt.optimize("task", workspace=self.folder / "work here")

    def test_an_interrupt_is_the_run_s_and_its_result_is_waited_for(self):
        told = {"type": "result", "run": "r", "outcome": "improved", "reason": "kept", "speedup": None, "solution": None}
        wait = "for i in {1..3000}; do sleep 0.01; done"  # bash carries a trap out when the command in the foreground has ended
        result = self.interrupted(f"trap 'sleep 0.5; echo '\\''{json.dumps(told)}'\\''; exit 130' INT\nsleep 0.1\nkill -INT $PPID\n{wait}\n")
        self.assertEqual((result.run, result.reason), ("r", "kept"))
        with self.assertRaisesRegex(accelopt.AcceloptError, "run 2026-x .*resume 2026-x --workspace '.*work here'") as raised:
            self.interrupted("""trap 'trap "exit 130" INT; kill -INT $PPID' INT\necho '{"type": "run_started", "run": "2026-x"}'\n"""
                             f"sleep 0.1\nkill -INT $PPID\n{wait}\n")
        self.assertEqual(raised.exception.code, 130)

    def test_a_verdict_beside_another_kernel_s(self):
        task = self.task()
        (task / "wrong.cpp").write_text(support.BASELINE.replace("acc +=", "acc -="), encoding="utf-8")
        verdict = accelopt.evaluate(task, task / "baseline.cpp", against=[f"same={task}/baseline.cpp", f"wrong={task}/wrong.cpp"], seed=1)
        self.assertEqual((verdict.status, verdict.json["against"][0]["status"]), ("PASSED", "PASSED"))
        self.assertEqual([arm["name"] for arm in verdict.json["against"]], ["same", "wrong"])
        self.assertNotEqual(verdict.json["against"][1]["status"], "PASSED")
        self.assertIsNone(verdict.json["against"][1]["speed_over"])
        same = verdict.json["against"][0]
        self.assertLess(same["speed_over"]["low"], same["speed_over"]["high"])

    def test_a_verdict_beside_programs(self):
        task = self.task()
        verdict = accelopt.evaluate(task, task / "baseline.cpp", seed=1,
                                    against=["blas=!for i in 1 2 3 4 5; do echo 1000000000; done", "broken=!echo no libblas; exit 1"])
        self.assertEqual(verdict.status, "PASSED")
        blas, broken = verdict.json["against"]
        self.assertEqual((blas["timed_by"], blas["failure"]), ("its own clock; neither raced nor verified", ""))
        raced = {one["name"]: one["time_ns"] for one in verdict.json["workloads"] if one["role"] == "race"}
        self.assertEqual({one["workload"] for one in blas["workloads"]}, set(raced))
        for one in blas["workloads"]:
            self.assertAlmostEqual(one["speed_over"]["estimate"] * raced[one["workload"]], 1e9, delta=1)
        self.assertIn("status 1: no libblas", broken["failure"])

    def test_what_the_program_says_is_raised(self):
        with self.assertRaisesRegex(accelopt.AcceloptError, "nothing_here"):
            accelopt.evaluate(self.folder / "nothing_here")
        with self.assertRaisesRegex(accelopt.AcceloptError, "NAME=FILE"):
            accelopt.evaluate(self.task(), against="nameless")


if __name__ == "__main__":
    support.main()
