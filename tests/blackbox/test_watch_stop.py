# SPDX-License-Identifier: Apache-2.0
"""`watch` and `stop` from another terminal, and the events against their documentation. What is said of a run is tested, so most runs have
the steady worker; that `stop` has a real device race and confirm is tested, too."""

import contextlib
import json
import re
import sqlite3
import time

import chat_script
import support

DOCUMENT = support.ROOT / "docs" / "events.md"
ID = re.compile(r"^(baseline|i\d+(\.b\d+(\.p\d+(\.a\d+(\.f\d+)?)?)?)?)$")


def documented():
    """Fields and their types by event, as docs/events.md has them."""
    events, current = {}, None
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            current = events.setdefault(line[4:].strip("` "), {})
        elif current is not None and line.startswith("| `"):
            names, kind = [cell.strip() for cell in line.split("|")[1:3]]
            for name in re.findall(r"`([^`]+)`", names):
                current[name] = kind
    return events


SCHEMA = documented()


def problems_of(value, kind):
    """Why the value is not of the kind; empty when it is."""
    if kind.endswith(" or null"):
        return [] if value is None else problems_of(value, kind.removesuffix(" or null"))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "string": lambda: isinstance(value, str),
        "integer": lambda: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda: is_number,
        "list": lambda: isinstance(value, list),
        "object": lambda: isinstance(value, dict),
        "id": lambda: isinstance(value, str) and ID.match(value),
        "interval": lambda: set(value) == {"estimate", "low", "high"} and value["low"] <= value["high"],
        "range": lambda: value["low"] <= value["expected"] <= value["high"],
        "usage": lambda: not any(p for name, k in SCHEMA["usage"].items() for p in problems_of(value[name], k)),
    }
    return [] if fits[kind]() else [f"{value!r} is no {kind}"]


class WatchAndStop(support.TestCase):
    def check_events(self, lines):
        seen = set()
        for line in lines:
            if line["type"] == "result":
                continue
            fields = SCHEMA[line["type"]]
            extra = {"type", "schema", "at_ms"}
            required = {name for name, kind in fields.items() if not kind.endswith(", or missing")}
            self.assertLessEqual(required, set(line) - extra, line)
            self.assertLessEqual(set(line) - extra, set(fields), line)
            self.assertEqual(line["schema"], 1)
            for name in set(line) - extra:
                self.assertEqual(problems_of(line[name], fields[name].removesuffix(", or missing")), [], f"{name} of {line}")
            if line["type"] not in ("estimate", "dead"):
                self.assertGreater(line["at_ms"], 1_600_000_000_000)
            seen.add(line["type"])
        return seen

    def run_arguments(self, server, *more):
        self.tasks = getattr(self, "tasks", 0) + 1
        return ["run", self.task(f"task{self.tasks}"), "--workspace", self.workspace, "--json", "--base-url", server.url, "--model",
                chat_script.MODEL, "--iterations", 2, "--beam", 2, "--plans", 2, "--attempts", 2, "--patience", 0, *more]

    def held_run(self, name="chat", steady=True):
        """A run one of whose answers is held back, and the file that lets it go."""
        gate = self.folder / f"{name}.gate"
        text = chat_script.steady_kernel("speed=2.4") if steady else chat_script.fenced(chat_script.UNROLLED)
        held = [{"when": {"answer": 4}, "times": 1, "hold_until": str(gate), "text": text}]
        script = (chat_script.steady_script if steady else chat_script.script)(executor=held)
        server = self.server(script, name)
        running = self.start(*self.run_arguments(server, *(support.steady_worker() if steady else ())))
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests) or running.process.poll() is not None)
        self.assertIsNone(running.process.poll(), running.finished())
        return running, gate

    def until(self, running, text, seconds=60):
        support.until(lambda: text in running.out_path.read_text(encoding="utf-8"), f"{text!r} comes", seconds=seconds)

    def until_gain(self, running):
        """Until some candidate has been measured and found faster."""
        self.until(running, '"status":"PASSED"')

    def test_watching_a_run_from_its_middle_to_its_end(self):
        running, gate = self.held_run()
        plain = self.start("watch", "--workspace", self.workspace)
        lines = self.start("watch", "--workspace", self.workspace, "--json")
        self.until(plain, "iteration 1/2")
        self.until(lines, '"type":"iteration_started"')
        gate.touch()
        finished, plain, lines = running.finish(), plain.finish(30), lines.finish(30)
        self.assertEqual((finished.code, plain.code, lines.code), (0, 0, 0), f"{plain}{lines}")
        self.assertNotIn("\x1b", plain.out, "no escape codes when piped")
        self.assertRegex(plain.out, r"(?s)new best .*confirming .*improved, .* confirmed.*done; see: accelopt show")
        self.assertEqual(lines.last, finished.last, "the result is the run's")
        untimed = [{k: v for k, v in line.items() if k != "at_ms"} for line in finished.lines if line["type"] != "estimate"]
        watched = [{k: v for k, v in line.items() if k != "at_ms"} for line in lines.lines]
        self.assertEqual(watched, untimed, "what the run told, all of it and in its order")
        seen = self.check_events(finished.lines) | self.check_events(lines.lines)
        self.assertLessEqual({"estimate", "run_started", "iteration_started", "attempt", "learned", "selected", "confirming",
                              "spending", "run_finished"}, seen)
        again = self.accelopt("watch", "last", "--workspace", self.workspace)
        self.assertEqual(again.code, 0)
        self.assertIn("improved", again.out)

    def test_stop_confirms_what_there_is(self):
        running, _ = self.held_run(steady=False)
        self.until_gain(running)
        begin = time.monotonic()
        asked = self.succeed("stop", "--workspace", self.workspace)
        self.assertIn("what it has is raced and confirmed", asked.out)
        finished = running.finish(60)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual((finished.last["outcome"], finished.last["stopped_by"]), ("improved", "stop"), finished)
        self.assertIn("note", self.check_events(finished.lines))
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual((replay["decision_hash"], replay["same"]), (finished.last["decision_hash"], True))
        self.assertIn("has ended already", self.succeed("stop", "--workspace", self.workspace).out)

    def test_stop_now_ends_at_once_and_the_run_can_be_resumed(self):
        running, gate = self.held_run()
        self.succeed("stop", "--now", "--workspace", self.workspace)
        finished = running.finish(20)
        self.assertEqual(finished.code, 130, finished)
        self.assertEqual((finished.last["outcome"], finished.last["stopped_by"]), ("interrupted", "stop"))
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").last["status"], "interrupted")
        gate.touch()
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json")
        self.assertEqual((resumed.last["outcome"], resumed.last["stopped_by"]), ("improved", "iterations"))

    def test_two_runs_in_one_workspace(self):
        one, gate_of_one = self.held_run("one")
        two, _ = self.held_run("two")
        for command in ("stop", "watch"):
            self.assert_says(self.accelopt(command, "--workspace", self.workspace), 2, "2 runs go on here", "say which")
        ids = [json.loads(next(line for line in r.out_path.read_text().splitlines() if "run_started" in line))["run"]
               for r in (one, two)]
        self.succeed("stop", ids[1], "--now", "--workspace", self.workspace)
        self.assertEqual(two.finish(20).code, 130)
        self.assertIsNone(one.process.poll(), "the other one goes on")
        gate_of_one.touch()
        self.assertEqual(one.finish().last["stopped_by"], "iterations")

    def test_a_dead_run_is_said_to_be_dead(self):
        running, gate = self.held_run()
        watching = self.start("watch", "--workspace", self.workspace)
        self.until(watching, "iteration 1/2")
        running.kill()
        watched = watching.finish(30)
        self.assert_says(watched, 1, "is dead", "without reporting a result", "accelopt resume")
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").last["status"], "dead")
        self.assertEqual(self.succeed("show", "--workspace", self.workspace, "--json").last["status"], "dead")
        self.assertIn("(dead)", self.succeed("explain", "--workspace", self.workspace).out)
        for command in ("best", "diff"):
            self.assert_says(self.accelopt(command, "--workspace", self.workspace), 1, r"has not ended \(dead\)", "accelopt resume")
        self.assert_says(self.accelopt("stop", "--workspace", self.workspace), 1, "is dead", "accelopt resume")
        lines = self.accelopt("watch", "--workspace", self.workspace, "--json")
        self.assertIn("dead", self.check_events(lines.lines))
        gate.touch()
        self.assertEqual(self.succeed("resume", "--workspace", self.workspace, "--json").last["outcome"], "improved")

    def test_nobody_else_may_work_on_a_run_that_goes_on(self):
        running, gate = self.held_run()
        self.assert_says(self.accelopt("resume", "--workspace", self.workspace), 1, "goes on in process", "accelopt watch")
        # As another machine does where this process was paused, and gave no sign of life.
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db", timeout=30)) as journal, journal:
            journal.execute("INSERT INTO sessions(run, pid, host, born, started_ms, beat_ms, wall_ms, device_ms, ended) "
                            "SELECT run, 1, 'another machine', '1', 0, 0, 0, 0, 0 FROM sessions")
        self.assert_says(running.finish(), 1, "goes on in another process", "accelopt watch")
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db", timeout=30)) as journal:
            self.assertEqual(journal.execute("SELECT status FROM runs").fetchall(), [("running",)], "the other one says how it ends")
        gate.touch()
        self.assertEqual(self.succeed("resume", "--workspace", self.workspace, "--json").last["outcome"], "improved")

    def test_without_a_run_there_is_nothing_to_watch_or_stop(self):
        for command in ("watch", "stop"):
            self.assert_says(self.accelopt(command, "--workspace", self.workspace), 1, "no runs here", "accelopt run")


if __name__ == "__main__":
    support.main()
