# SPDX-License-Identifier: Apache-2.0
"""Runs and suites under a real Slurm of one node: four srun workers, an array job by bundles, jobs that are cancelled, killed at their
limit, or meet a drained node. Nothing is lost, nothing is measured twice, and verdicts are those of one worker outside of Slurm."""

import json
import pathlib
import shlex
import unittest

import local_slurm
import lost_worker
import support

# Asked here: the option is gone when tests run.
STAGES = lost_worker.STAGES if support.takes_long() else ("triage",)
EXAMPLES = support.ROOT / "examples" / "slurm"


class Slurm(lost_worker.LostWorkerTestCase):
    def setUp(self):
        super().setUp()
        self.slurm = local_slurm.LocalSlurm(self.folder / "slurm")
        self.addCleanup(self.slurm.close)
        self.environment.update(self.slurm.environment)

    def command(self, name, *options):
        return [self.slurm.programs["srun"], "--quiet", f"--job-name={name}", *options, self.worker]

    def lose(self):
        """Cancels what runs under the name of the run in hand, as `scancel` in the middle does."""
        for job, state in self.slurm.jobs().items():
            if state == "RUNNING":
                self.slurm.call("scancel", job)

    def check_nothing_is_left(self):
        support.until(lambda: not self.slurm.jobs(), "every job has ended")

    def test_cancelled_in_mid_race(self):
        self.check_lost_in(STAGES, ("asked",))
        self.check_nothing_is_left()

    def test_a_suite_over_four_workers(self):
        suite = self.folder / "suite"
        suite.mkdir()
        for number, name in enumerate(("one", "two", "three")):
            self.task(f"suite/{name}", baseline=f"speed=1\nvoid kernel{number}() {{}}\n")
        base = ["--json", "--base-url", self.model.url, "--model", lost_worker.steady.MODEL, "--no-memory",
                *lost_worker.steady.SETTINGS]

        def results(lines):
            return sorted((line["decision_hash"], line["evaluations"], json.dumps(line["speedup"])) for line in lines if line["type"] == "result")

        ran = self.accelopt("bench", suite, *base, "--workspace", self.folder / "here", "--worker", self.worker)
        self.assertIn(ran.code, (0, 3), ran)
        self.assertEqual(len(results(ran.lines)), 3)

        # In the allocation `accelopt worker` is the steady one.
        programs = self.folder / "programs"
        programs.mkdir()
        program = programs / "accelopt"
        program.write_text(f'#!/bin/sh\n[ "$1" = worker ] && exec {self.worker} 20\nexec {support.program_folder()}/accelopt "$@"\n')
        program.chmod(0o755)
        environment = ",".join(["NONE", f"PATH={programs}:/usr/bin:/bin", f"HOME={self.folder / 'home'}", "ACCELOPT_KNOWLEDGE=none",
                                f"SLURM_CONF={self.slurm.configuration}"])
        self.slurm.call("sbatch", "--wait", "--ntasks=4", f"--chdir={self.folder}", f"--export={environment}", "--output=suite.out",
                        "--error=suite.err", EXAMPLES / "suite.sbatch", suite, *base, "--workspace", self.folder / "there", check=False, seconds=120)
        said = (self.folder / "suite.out").read_text(encoding="utf-8")
        complaint = said + (self.folder / "suite.err").read_text(encoding="utf-8")
        self.assertEqual(results(map(json.loads, said.splitlines())), results(ran.lines), complaint)
        measured = {worker for task in range(3) for worker in self.measured_by(self.folder / "there", task)}
        self.assertGreater(len(measured), 1, "several steps measured")
        self.assertLessEqual({worker.split("--job-name=")[1].split()[0] for worker in measured}, {f"worker{number}" for number in range(1, 5)})
        self.check_nothing_is_left()

    def measured_by(self, workspace, number):
        run = self.rows(workspace, "SELECT id FROM runs ORDER BY id")[number][0]
        shown = self.succeed("show", run, "--workspace", workspace, "--json").last
        return {step["worker"] for step in shown["steps"] if "worker" in step}

    def test_a_drained_node(self):
        """A job that is cancelled on a drained node is not started again before the run is over; the other worker does its work."""
        whole, questions = self.uninterrupted()
        first, log = self.watched("first", self.command("first"), "triage", "asked")
        second, other_log = self.watched("second", self.command("second"))

        def drain_and_cancel():
            self.slurm.call("scontrol", "update", f"NodeName={self.slurm.node}", "State=DRAIN", "Reason=test")
            for job in self.slurm.jobs("first"):
                self.slurm.call("scancel", job)

        self.lose = drain_and_cancel
        finished = self.succeed(*self.arguments_with("drained", first, second))
        self.assertTrue(log.with_name(log.name + ".cut").exists(), "the first one was lost")
        self.assertIn("drain", self.slurm.call("sinfo", "--noheader", "--format=%T").stdout)
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        answered = [line for file in (log, other_log) for line in file.read_text(encoding="utf-8").splitlines()]
        kept = lost_worker.without_opening(dict.fromkeys(answered))
        self.assertEqual(len(kept), len([line for line in answered if json.loads(line)["op"] != "open"]), "nothing twice")
        self.check_nothing_is_left()

    @unittest.skipUnless(support.takes_long(), "a limit is at least a minute, and is looked at every half minute: --long")
    def test_killed_at_its_limit(self):
        whole, questions = self.uninterrupted()
        self.model.hold_from(sum(questions.values()) // 2)
        worker, log = self.watched("limit", self.command("limit", "--time=1"))
        running = self.start(*self.arguments_with("limit", worker))
        support.until(self.model.holds, "half of its questions are asked", running)
        (job,) = self.slurm.jobs("limit")
        support.until(lambda: job not in self.slurm.jobs("limit"), "the job is killed", running, seconds=240)
        self.assertIn("JobState=TIMEOUT", self.slurm.call("scontrol", "show", "job", job).stdout)
        self.model.let_go()
        finished = running.finish()
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        answered = log.read_text(encoding="utf-8").splitlines()
        measured = [line for line in answered if json.loads(line)["op"] != "open"]
        self.assertEqual(len(set(measured)), len(measured), "nothing twice")


class ArrayJob(support.TestCase):
    """The array job of examples/slurm, each element executing the bundles of one task."""

    def test_a_suite_by_bundles(self):
        slurm = local_slurm.LocalSlurm(self.folder / "slurm")
        self.addCleanup(slurm.close)
        tasks = [self.task(name) for name in ("one", "two")]
        common = ["--agents", "recipes", "--iterations", 1, "--plans", 2, "--json"]
        resumed = {}
        for task in tasks:
            begun = self.accelopt("run", task, "--workspace", self.folder / f"workspace {task.name}", "--defer", self.folder / "bundles" / task.name, *common)
            self.assertEqual(begun.code, 6, begun)
            resumed[task.name] = begun
        for _ in range(8):
            waiting = [task.name for task in tasks if resumed[task.name].code == 6]
            if not waiting:
                break
            self.execute(slurm, waiting)
            for name in waiting:
                resumed[name] = self.accelopt("resume", "--workspace", self.folder / f"workspace {name}", "--json")
        for name, finished in resumed.items():
            self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), (name, finished))
            again = self.accelopt("replay", "--workspace", self.folder / f"workspace {name}", "--json")
            self.assertTrue(again.last["same"], again)

    def execute(self, slurm, names):
        """Submits the example as it stands, and waits until it has ended."""
        home = self.folder / "home"
        environment = ",".join(["NONE", f"PATH={support.program_folder()}:/usr/bin:/bin", f"HOME={home}", f"XDG_CACHE_HOME={support.CACHE}"])
        slurm.call("sbatch", "--wait", f"--array=0-{len(names) - 1}", f"--chdir={self.folder}", f"--export={environment}", EXAMPLES / "bundles.sbatch", "bundles", *names, seconds=120)
        said = " ".join(path.read_text(errors="replace") for path in pathlib.Path(self.folder).glob("slurm-*.out"))
        self.assertNotIn("error", said.lower())


if __name__ == "__main__":
    support.main()
