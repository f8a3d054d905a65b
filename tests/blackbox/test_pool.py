# SPDX-License-Identifier: Apache-2.0
"""Several workers: with steady ones, whose measurements are a function of the source alone, two decide as one does."""

import json
import shlex

import steady
import support


class Pool(steady.SteadyTestCase):
    def steady_worker(self, *arguments):
        """A steady worker that is busy long enough for the races of several attempts to meet."""
        return shlex.join(map(str, [self.worker, 20, *arguments]))

    def run_with(self, workers, name="workspace", more=()):
        workspace = self.folder / name
        arguments = ["run", self.steady_task, "--workspace", workspace, "--json", "--base-url", self.model.url, "--model", steady.MODEL,
                     *steady.SETTINGS, *more]
        for worker in workers:
            arguments += ["--worker", worker]
        finished = self.accelopt(*arguments)
        self.assertEqual(finished.code, 0, finished)
        return finished, workspace

    def measured_by(self, workspace):
        """Who made a measurement, as `show` tells it."""
        shown = self.succeed("show", "--workspace", workspace, "--json").last
        return {step["worker"] for step in shown["steps"] if "worker" in step}

    def notes(self, finished):
        return [line["text"] for line in finished.lines if line["type"] == "note"]

    def test_two_workers_decide_as_one(self):
        whole, questions = self.uninterrupted()
        first, second = self.steady_worker("fake"), self.steady_worker("fake", "none")
        finished, workspace = self.run_with([first, second])
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        self.assertEqual(self.measured_by(workspace), {first, second}, "both measured")
        self.assertIn(f'measures through 2 workers: "{first}", "{second}"', self.succeed("show", "--workspace", workspace).out)
        replayed = self.succeed("replay", "--workspace", workspace, "--json").last
        self.assertTrue(replayed["same"], replayed)

    def test_killed_one_after_the_other(self):
        """One dies at its second race, the other, which play-offs go to, at its second one."""
        whole, questions = self.uninterrupted()
        died = [self.folder / "died racing", self.folder / "died in a play-off"]
        finished, _ = self.run_with([self.steady_worker("fake", "playoff", died[1]), self.steady_worker("fake", "triage", died[0])])
        self.assertTrue(all(file.exists() for file in died), finished)
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        lost = [note for note in self.notes(finished) if "was lost" in note]
        self.assertEqual(len(lost), 2, lost)
        self.assertTrue(any(shlex.quote(str(died[0])) in note and "signal 9" in note for note in lost), lost)

    def test_another_device_is_refused_by_name(self):
        whole, _ = self.uninterrupted()
        first, other = self.steady_worker("fake"), self.steady_worker("another")
        finished, workspace = self.run_with([first, other])
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.measured_by(workspace), {first})
        (refused,) = [note for note in self.notes(finished) if "refused" in note]
        for expected in (f'the worker "{other}" is refused', 'its device is "another"', f'that of the worker "{first}" was "fake"', "1 of 2"):
            self.assertIn(expected, refused)

    def test_no_worker_is_left(self):
        finished = self.accelopt("run", self.steady_task, "--workspace", self.workspace, "--worker", "sh -c 'exit 3'", "--worker", "sh -c 'exit 4'")
        self.assert_says(finished, 1, "no worker is left", "exit code 3", "accelopt doctor --worker")
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").lines, [], "what never began is no run")

    def test_configured_workers(self):
        """[[workers]] measures where the command line says nothing, and a run stays with it."""
        self.workspace.mkdir()
        commands = [self.steady_worker("fake"), self.steady_worker("fake", "none")]
        config = self.workspace / "accelopt.toml"
        config.write_text("".join(f'[[workers]]\nname = "{name}"\ncommand = {json.dumps(command)}\n' for name, command in zip("ab", commands)),
                          encoding="utf-8")
        settings = self.succeed("config", "--workspace", self.workspace, "--json").last["settings"]
        told = [(setting["value"], setting["from"]) for setting in settings if setting["name"] == "worker"]
        self.assertEqual(told, [(f"{name}: {command}", str(config)) for name, command in zip("ab", commands)])
        for elsewhere in (["--device", "cpu"], ["--worker", "ssh host accelopt worker"]):
            settings = self.succeed("config", "--workspace", self.workspace, "--json", *elsewhere).last["settings"]
            told = [setting["value"] for setting in settings if setting["name"] == "worker"]
            self.assertEqual(told, elsewhere[1:] if elsewhere[0] == "--worker" else [])
        whole, _ = self.uninterrupted()
        finished, workspace = self.run_with([])
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.measured_by(workspace), {"a", "b"})
        config.unlink()
        self.assertIn('measures through 2 workers: "a", "b"', self.succeed("show", "--workspace", workspace).out)
        config.write_text("[[workers]]\ncommand = \"ssh 'host\"\n", encoding="utf-8")
        self.assert_says(self.accelopt("config", "--workspace", self.workspace), 1, r"accelopt.toml:2: workers\[0\].command", "not closed")

    def test_a_run_is_moved_to_two_workers(self):
        whole, questions = self.uninterrupted()
        self.model.hold_from(sum(questions.values()) // 2)
        running = self.start(*self.run_arguments(self.workspace))
        support.until(self.model.holds, "half of its questions are asked", running)
        running.kill()
        self.model.let_go()
        finished = self.succeed("resume", "--workspace", self.workspace, "--json", "--worker", self.steady_worker("fake"), "--worker",
                                self.steady_worker("fake", "none"))
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"])
        self.assertIn("through 2 workers", " ".join(self.notes(finished)))
        self.assertEqual(self.measured_by(self.workspace), {self.steady_worker("fake"), self.steady_worker("fake", "none")})

    def test_doctor_names_each(self):
        there = self.steady_worker("fake")
        told = self.accelopt("doctor", "--json", "--worker", there, "--worker", "sh -c 'exit 3'")
        lines = [(line["state"], line["detail"]) for line in told.lines if line["name"] == "worker"]
        self.assertEqual([state for state, _ in lines], ["degraded", "missing"], told)
        self.assertTrue(lines[0][1].startswith(f"{there}: accelopt steady"), lines)
        self.assertTrue(lines[1][1].startswith("sh -c 'exit 3': "), lines)
        self.assertEqual(told.code, 5)


class SideBySide(steady.SteadyTestCase):
    """`bench --jobs`: a suite of three tasks."""

    def setUp(self):
        super().setUp()
        self.suite = self.folder / "suite"
        self.suite.mkdir()
        for number, name in enumerate(("one", "two", "three")):
            self.task(f"suite/{name}", baseline=f"speed=1\nvoid kernel{number}() {{}}\n")

    def bench_arguments(self, name, *arguments):
        workers = [argument for device in ("fake", "fake") for argument in ("--worker", f"{self.worker} 2 {device}")]
        return ["bench", self.suite, "--workspace", self.folder / name, "--json", "--base-url", self.model.url, "--model", steady.MODEL,
                "--no-memory", *workers, *steady.SETTINGS, *arguments]

    def results(self, ran):
        self.assertIn(ran.code, (0, 3), ran)
        return sorted((line["decision_hash"], line["evaluations"], json.dumps(line["speedup"])) for line in ran.lines if line["type"] == "result")

    def test_two_jobs_give_the_results_of_one(self):
        one = self.accelopt(*self.bench_arguments("one"))
        self.assertFalse([line for line in one.lines if line["type"] == "iteration_started" and "suite_task" in line], "one task at a time needs no name")
        self.model.take()
        self.model.hold_from(0)
        running = self.start(*self.bench_arguments("two", "--jobs", 2))
        begun = lambda: len(self.rows(self.folder / "two", "SELECT task FROM suite_entries"))  # noqa: E731
        support.until(lambda: begun() == 2, "two tasks have begun while no question is answered", running)
        self.model.let_go()
        two = running.finish()
        self.assertEqual(self.results(two), self.results(one))
        self.assertEqual(len(self.results(two)), 3)
        self.assertEqual({key: two.last[key] for key in ("type", "tasks", "improved", "failed", "geometric_mean")},
                         {key: one.last[key] for key in ("type", "tasks", "improved", "failed", "geometric_mean")})
        events = [line for line in two.lines if line["type"] == "iteration_started"]
        self.assertEqual({event["suite_task"] for event in events}, {"one", "two", "three"}, "every event names its task")

    def test_each_task_is_opened_on_one_worker(self):
        """Two tasks at a time on two workers: as opening one takes long, each stays where it began."""
        opened = {name: self.folder / f"opened by {name}" for name in "ab"}
        worker = lambda name: shlex.join(["sh", "-c", 'echo >>"$1"; sleep 1; exec "$2" 2 fake', name, str(opened[name]), str(self.worker)])  # noqa: E731
        one = self.accelopt(*self.bench_arguments("one"))
        arguments = [argument for argument in self.bench_arguments("two", "--jobs", 2)]
        for place, name in zip((at + 1 for at, argument in enumerate(arguments) if argument == "--worker"), "ab"):
            arguments[place] = worker(name)
        two = self.accelopt(*arguments)
        self.assertEqual(self.results(two), self.results(one))
        times = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in opened.items()}
        self.assertEqual((sum(times.values()), min(times.values())), (3, 1), "three tasks, and neither worker idle")

    def test_lines_for_people_name_their_task(self):
        arguments = [argument for argument in self.bench_arguments("workspace", "--jobs", 3) if argument != "--json"]
        ran = self.accelopt(*arguments)
        self.assertIn(ran.code, (0, 3), ran)
        for task in ("one", "two", "three"):
            self.assertIn(f"{task}: iteration 1/3", ran.err)
        self.assertIn("0 of 3 tasks" if ran.code else "of 3 tasks improved", ran.out)

    def test_an_interrupt_ends_all(self):
        self.model.hold_from(0)
        running = self.start(*self.bench_arguments("workspace", "--jobs", 2))
        support.until(lambda: len(self.rows(self.folder / "workspace", "SELECT task FROM suite_entries")) == 2, "two tasks begin", running)
        running.interrupt()
        self.assertEqual(running.finish().code, 130)
        states = [line["status"] for line in self.succeed("runs", "--workspace", self.folder / "workspace", "--json").lines]
        self.assertEqual(states, ["interrupted"] * 2)

    def test_what_the_command_line_refuses(self):
        self.assert_says(self.accelopt(*self.bench_arguments("workspace", "--jobs", 0)), 2, "--jobs", "1 or more")


if __name__ == "__main__":
    support.main()
