# SPDX-License-Identifier: Apache-2.0
"""Many processes in one workspace: whatever they do there and however they end, nothing that was recorded is lost.

ACCELOPT_JOURNAL_SECONDS: how long ten processes go on (6). ACCELOPT_JOURNAL_ROUNDS: rounds of random commands with kill -9 among
them (6). ACCELOPT_JOURNAL_TRIPLES: how often one run ends and another begins beside a third (2). ACCELOPT_JOURNAL_SEED: of all of
it (printed). `make check-long` sets them higher."""

import json
import os
import random
import subprocess
import sys
import threading
import time

import steady
import support

PROCESSES = 10
DAMAGE = ("damaged", "malformed", "corrupt", "is no accelopt journal", "cut short", "there is no run", "disk I/O", "no such table",
          "was moved")
# What a run or its resumption may end with: a result, no gain, a spent budget, interrupted; killed.
ENDS_OF_RUNS = {0, 3, 4, 130, -9}
LONGEST_DELAY_SECONDS = 0.8


class OneJournal(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("ACCELOPT_JOURNAL_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"ACCELOPT_JOURNAL_SEED={self.seed}", file=sys.stderr)
        self.random = random.Random(self.seed)
        self.lock = threading.Lock()
        self.runs, self.steps = set(), {}  # that were reported so far: ids; rows of the journal by what names them

    # What is done -----------------------------------------------------------------------------------------------------

    def run_of(self, iterations, worker_ms=2):
        return ["run", self.steady_task, "--workspace", self.workspace, "--json", "--base-url", self.model.url, "--model", steady.MODEL,
                "--worker", f"{self.worker} {worker_ms}", "--seed", 11, "--iterations", iterations, "--beam", 2, "--plans", 2,
                "--attempts", 2, "--fixes", 1, "--patience", 0]

    def some_command(self, draw):
        """A command that a user could give at any time, and whether it is one that works on a run."""
        known = sorted(self.runs)
        run = draw.choice([*known[-6:], "last"]) if known else None
        kind = draw.choices(["run", "resume", "stop", "watch", "show", "runs", "best"], [5, 4, 2, 2, 2, 2, 1])[0]
        if kind == "run" or run is None:
            return self.run_of(draw.choice([1, 1, 2, 3]), draw.choice([2, 5, 20])), True
        more = {"resume": ["--json"], "stop": draw.choice([[], ["--now"]]), "watch": draw.choice([[], ["--json"]])}.get(kind, [])
        if kind == "best":
            more = ["--output", self.folder / f"best{draw.randrange(1 << 32)}"]
        named = [] if kind == "runs" else [run]
        return [kind, *named, "--workspace", self.workspace, *more], kind == "resume"

    def check_finished(self, finished, works):
        """That what the command said is no word of damage; keeps what it reported."""
        for word in DAMAGE:
            self.assertNotIn(word, finished.err, f"seed {self.seed}: {finished}")
        self.assertNotIn("Traceback", finished.said)
        # Another process may be at work on the run: that is said, and is no damage.
        if works and "goes on in process" not in finished.err:
            self.assertIn(finished.code, ENDS_OF_RUNS, f"seed {self.seed}: {finished}")
        whole = finished.out[:finished.out.rfind("\n") + 1].splitlines() if works else []
        for line in map(json.loads, whole):
            if line["type"] == "run_started":
                with self.lock:
                    self.runs.add(line["run"])

    # What must hold ---------------------------------------------------------------------------------------------------

    def check_journal(self):
        """While nobody writes: the database is whole, and every run and step that ever was there is there as it was."""
        self.assertEqual(self.rows(self.workspace, "PRAGMA integrity_check"), [("ok",)], f"seed {self.seed}")
        ids = {row[0] for row in self.rows(self.workspace, "SELECT id FROM runs")}
        self.assertEqual(self.runs - ids, set(), f"seed {self.seed}: runs that were reported and are lost")
        self.runs = ids
        names = "run, iteration, parent, plan, attempt, fix, kind"
        rows = self.rows(self.workspace, f"SELECT {names}, input_hash, output, output_object FROM steps")
        # What a run decided is written anew when it is resumed and decides more.
        steps = {row[:7]: None if row[6] in ("stop", "decisions") else row[7:] for row in rows}
        lost = {key for key, value in self.steps.items() if key not in steps or steps[key] != value}
        self.assertEqual(lost, set(), f"seed {self.seed}: steps that were recorded and are lost or changed")
        self.steps = steps

    def unfinished(self):
        return [row[0] for row in self.rows(self.workspace, "SELECT id FROM runs WHERE status <> 'done'")]

    def check_resumption(self, run):
        finished = self.accelopt("resume", run, "--workspace", self.workspace, "--json")
        self.assertIn(finished.code, {0, 3}, f"seed {self.seed}: {finished}")
        self.assertEqual(finished.last["type"], "result", finished)

    def check_every_run(self):
        """Each run that did not end is resumed to its end, and each is shown."""
        for run in self.unfinished():
            self.check_resumption(run)
        self.check_journal()
        self.assertEqual(self.unfinished(), [])
        for run in self.random.sample(sorted(self.runs), min(len(self.runs), 20)):
            self.succeed("show", run, "--workspace", self.workspace)

    # The tests --------------------------------------------------------------------------------------------------------

    def test_a_run_ends_and_another_begins_beside_a_third(self):
        for _ in range(int(os.environ.get("ACCELOPT_JOURNAL_TRIPLES", "2"))):
            self.model.hold_from(8)
            first = self.start(*self.run_of(3))
            support.until(self.model.holds, "the first run is in its middle", first)
            self.model.let_go()
            for _ in range(2):
                self.check_finished(self.accelopt(*self.run_of(1)), True)
            self.check_finished(first.finish(), True)
            self.check_journal()
        listed = self.succeed("runs", "--workspace", self.workspace, "--json").lines
        self.assertEqual({line["run"] for line in listed}, self.runs)
        self.assertTrue(all(line["status"] == "done" for line in listed), listed)

    def test_ten_processes_in_one_workspace(self):
        deadline = time.monotonic() + float(os.environ.get("ACCELOPT_JOURNAL_SECONDS", "6"))
        problems, given = [], []

        def work(draw):
            try:
                while time.monotonic() < deadline and not problems:
                    with self.lock:
                        command, works = self.some_command(draw)
                        running = self.start(*command)
                    given.append(command[0])
                    self.check_finished(running.finish(), works)
            except Exception as problem:  # of a thread: raised again below
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(random.Random(self.random.random()),)) for _ in range(PROCESSES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
        self.check_journal()
        self.check_every_run()
        print(f"{len(given)} commands, {len(self.runs)} runs, {len(self.steps)} steps", file=sys.stderr)

    def test_rounds_of_random_commands_and_kills(self):
        rounds = int(os.environ.get("ACCELOPT_JOURNAL_ROUNDS", "6"))
        done = killed = resumed = 0
        while done < rounds or not killed:
            done += 1
            started = []
            for _ in range(self.random.randrange(2, 6)):
                command, works = self.some_command(self.random)
                started.append((self.start(*command), works))
                try:
                    started[-1][0].process.wait(self.random.uniform(0, LONGEST_DELAY_SECONDS) / 4)
                except subprocess.TimeoutExpired:
                    pass
            for running, _ in started:
                if self.random.random() < 0.6:
                    try:
                        running.process.wait(self.random.uniform(0, LONGEST_DELAY_SECONDS) / 4)
                    except subprocess.TimeoutExpired:
                        running.kill()
                        killed += 1
            for running, works in started:
                self.check_finished(running.finish(), works)
            self.check_journal()
            left = self.unfinished()
            if left and self.random.random() < 0.5:
                self.check_resumption(self.random.choice(left))
                resumed += 1
        self.check_every_run()
        print(f"{done} rounds, {killed} killed, {resumed} resumed, {len(self.runs)} runs, {len(self.steps)} steps", file=sys.stderr)


if __name__ == "__main__":
    support.main()
