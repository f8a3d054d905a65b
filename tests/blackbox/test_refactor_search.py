# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor run` with models: the search that kernels have, on the example repository, its commit, what it learns,
and that nothing else of the repository is touched by what the models write."""

import sqlite3
import subprocess
import time
import unittest

import support
from test_refactor import EXAMPLE, state_of

MODEL = "scripted"
BODY = """\
    waiting = [(start, 0)]
    seen = []
    found = []
    while waiting:
        station, distance = waiting.pop(0)
        if station in seen:
            continue
        seen.append(station)
        found.append((station, distance))
        for neighbour in neighbours(network, station):
            waiting.append((neighbour, distance + 1))
    return found
"""
FAST = BODY.replace("seen = []", "seen = set()").replace("seen.append", "seen.add")
FASTER = "    from collections import deque\n" + FAST.replace("[(start, 0)]", "deque([(start, 0)])").replace("pop(0)", "popleft()")
WRONG = FAST.replace("neighbours(network, station)", "network.get(station, [])")
SENTENCE = "In the past, we found that 'Hash Lookup' worked well for this type of task. Try to apply it."


def block(search, replace, path="routes/graph.py"):
    return f"{path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def plan(title):
    return f"Title: {title}\nRests on: none\nKeep the stations that were seen in a set."


def script(**roles):
    lesson = '{"change": %d, "title": "Hash Lookup", "strategy": "Keep what is looked up in a set.", "before": "b", "after": "a"}\n'
    return {"model": MODEL, "failures": [], "roles": {
        "planner": [{"text": plan("Hash Lookup")}],
        "executor": [{"text": block(BODY, FAST)}],
        "fixer": [{"text": "Title: Hash Lookup\n" + block(FAST, FAST)}],
        "summarizer": [{"text": lesson % 1 + lesson % 2}],
    } | roles}


class RefactorSearchTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", self.repository], check=True)
        self.task_folder = self.repository / "accelopt"
        support.with_task(self.repository, ("[100, 200, 400, 800, 1600, 3200]", "[1600]"))
        self.knowledge = self.folder / "knowledge.db"

    def arguments(self, *more, plans=1, iterations=1):
        return ["refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", self.knowledge,
                "--seed", 7, "--iterations", iterations, "--plans", plans, "--patience", 0, *more]

    def models(self, server):
        return ["--base-url", server.url, "--model", MODEL]

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.repository, *arguments], check=True, capture_output=True, text=True).stdout

    def question(self, request):
        return request["body"]["messages"][-1]["content"]

    def test_a_change_by_models_becomes_a_commit_and_is_remembered(self):
        before = state_of(self.repository)
        # The first change loses an error, and is mended.
        server = self.server(script(executor=[{"text": block(BODY, WRONG)}],
                                    fixer=[{"text": "Title: Hash Lookup\n" + block(WRONG, FAST)}]))
        finished = self.accelopt(*self.arguments(*self.models(server)))
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["counts"]), ("improved", {"PASSED": 1}), finished)
        self.assertGreater(result["speedup"]["low"], 1.5)
        self.assertEqual(finished.lines[0]["type"], "estimate")
        planner, fixer = server.answered("planner")[0], server.answered("fixer")[0]
        self.assertNotIn("In the past", self.question(planner), "nothing is known yet")
        self.assertIn("random n=1600: time = ", self.question(planner))
        self.assertNotIn("tree n=", self.question(planner), "what is held out is not told")
        self.assertRegex(self.question(fixer), r"tests: .*that passed on the base fail")

        commit = result["commit"]
        self.assertEqual(result["branch"], f"refs/heads/accelopt/reachable-{result['run']}")
        self.assertEqual(self.git("rev-parse", result["branch"]).strip(), commit)
        self.assertEqual(self.git("diff", "--name-only", "HEAD", commit).split(), ["routes/graph.py"])
        message = self.git("log", "-1", "--format=%B", commit)
        for line in ("Hash Lookup, in routes/graph.py#reachable", f"Accelopt-Run: {result['run']}", f"Assisted-By: {MODEL}"):
            self.assertIn(line, message)
        self.assertRegex(message, r"Speed-Up: [0-9.]+x \[[0-9.]+, [0-9.]+\] at random n=1600")
        after = {name: entry for name, entry in state_of(self.repository).items()
                 if not name.startswith((".git/objects/", ".git/refs/heads/accelopt/"))}
        self.assertEqual(after, {name: entry for name, entry in before.items() if not name.startswith(".git/objects/")})

        # The record answers what is asked of it, and a repetition from it decides alike.
        self.assertEqual(self.succeed("resume", "last", "--workspace", self.workspace, "--json").last["commit"], commit)
        self.assertEqual(self.succeed("replay", result["run"], "--workspace", self.workspace, "--json").last["decision_hash"],
                         result["decision_hash"])
        for command in (["show", "last"], ["explain", "last"], ["report", "last", "-o", "-"], ["diff", "last"], ["watch", "last"],
                        ["best", "last"], ["runs"]):
            # A report quotes how the failed test ended: no sign of a crash.
            shown = self.start(*command, "--workspace", self.workspace).finish()
            self.assertEqual(shown.code, 0, shown)
            self.assertIn("reachable" if command[0] != "diff" else "+    seen = set()", shown.out, command)

        # Another run's planner is told, in the mission's words and before anything else, until it is refuted.
        self.assertEqual(self.first_question("before")[:len(SENTENCE)], SENTENCE)
        settled = self.succeed("refactor", "settle", result["run"], "--repo", self.repository, "--failed", "--knowledge", self.knowledge)
        self.assertIn("the knowledge store was updated", settled.out)
        self.assertEqual(self.git("rev-parse", result["branch"] + "^{tree}"), self.git("rev-parse", "HEAD^{tree}"))
        self.assertNotIn("In the past", self.first_question("after"))

        # What has ended is only read, whatever became of the task.
        (self.repository / "accelopt" / "notes.txt").write_text("new\n")
        again = self.succeed("resume", result["run"], "--workspace", self.workspace, "--json").last
        self.assertEqual((again["outcome"], again["solution_id"]), (result["outcome"], result["solution_id"]))

    def test_a_run_whose_task_changed_names_the_files(self):
        task = self.repository / "accelopt"
        self.first_question("box")
        driver = task / "driver.py"
        driver.write_text(driver.read_text() + "\n# changed\n")
        (task / "notes.txt").write_text("new\n")
        (task / "cases.py").rename(self.folder / "cases.py")
        refused = self.accelopt("resume", "last", "--workspace", self.workspace)
        self.assertNotIn(refused.code, (0, 6), refused)
        self.assertIn("accelopt (cases.py is gone, driver.py is changed, notes.txt is new) has changed since the run began", refused.err)

    def first_question(self, name):
        """What a planner is asked whom nobody answers."""
        box = self.folder / name
        waiting = self.accelopt(*self.arguments("--mailbox", box, "--exit-when-waiting"))
        self.assertEqual(waiting.code, 6, waiting)
        text = next(box.glob("planner*.question.md")).read_text(encoding="utf-8")
        return text.split("======== user ========")[1].lstrip()

    @unittest.skipUnless(support.takes_long(), "takes minutes: --long")
    def test_killed_in_every_stage(self):
        server = self.server(script(executor=[{"text": block(BODY, WRONG)}], fixer=[{"text": "Title: x\n" + block(WRONG, FAST)}]))
        # Killed as soon as the journal holds another step: each stage has its turn.
        kills = 0
        arguments = self.arguments(*self.models(server))
        while True:
            known = self.steps()
            running = self.start(*arguments)
            while running.process.poll() is None and (self.steps() == known or self.last_step() in ("session", "chat")):
                time.sleep(0.02)
            if running.process.poll() is not None:
                finished = running.finish()
                break
            running.kill()
            kills += 1
            arguments = ["resume", "last", "--workspace", self.workspace, "--json"] if self.steps() else arguments
            self.assertLess(kills, 40)
        self.assertEqual(finished.code, 0, finished)
        self.assertGreater(kills, 6)
        self.assertEqual(finished.last["outcome"], "improved")
        self.assertLessEqual(len(server.answered("planner")), 2, "what is on record is not asked again, what was in flight may be")
        self.assertEqual(len(self.git("branch", "--list", "accelopt/*").split()), 1)
        self.assertEqual(self.git("rev-list", "--count", "HEAD.." + finished.last["branch"]).strip(), "1")
        replayed = self.succeed("replay", "last", "--workspace", self.workspace, "--json").last
        self.assertEqual(replayed["decision_hash"], finished.last["decision_hash"])

    def test_hostile_answers_leave_the_repository_alone(self):
        """Nine candidates, 45 with --long: out of the scope, out of the sandbox, and into the measurement."""
        before = state_of(self.repository)
        inside = [
            f"    open({str(self.repository / '.git' / 'hooks' / 'pre-commit')!r}, 'w').write('x')\n",
            f"    open({str(self.repository / 'routes' / 'graph.py')!r}, 'a').write('x')\n",
            "    __import__('subprocess').run(['git', 'commit', '--allow-empty', '-m', 'x'], check=True)\n",
            # What reaches nothing fails as well: how much slower it makes small sizes is up to the machine.
            "    __import__('shutil').rmtree('/', ignore_errors=True)\n    __import__('os').rmdir('/')\n",
            "    __import__('os').kill(__import__('os').getppid() or -1, 9)\n",
            "    __import__('socket').create_connection(('127.0.0.1', 1))\n",
            "    return []\n",
        ]
        answers = [block(BODY, body + FAST) for body in inside]
        answers += [block("class UnknownStation(Exception):\n", "import os; os.system('touch ../x')\n\n\nclass UnknownStation(Exception):\n"),
                    block("def reachable(network, start):\n", "def reachable(network, start, fast=True):\n")]
        many = 5 if support.takes_long() else 1
        answers *= many
        plans = len(answers)
        server = self.server(script(planner=[{"text": "\n".join(plan(f"Plan {number}") for number in range(plans))}],
                                    executor=[{"texts": [answer.replace(">>>>>>> REPLACE", f"    # {number}\n>>>>>>> REPLACE")
                                                         for number, answer in enumerate(answers)]}]))
        finished = self.accelopt(*self.arguments(*self.models(server), "--fixes", 0, "--schedule", "serial", plans=plans))
        self.assertEqual(finished.code, 3, finished)
        self.assertEqual(sum(finished.last["counts"].values()), plans)
        self.assertEqual(len(server.answered("executor")), plans)
        self.assertNotIn("PASSED", finished.last["counts"])
        self.assertEqual(state_of(self.repository), before)
        self.assertFalse((self.folder / "x").exists())

    def steps(self):
        return len(self.step_kinds())

    def last_step(self):
        return (self.step_kinds() or [""])[-1].split(":")[0]

    def step_kinds(self):
        database = self.workspace / "accelopt.db"
        if not database.exists():
            return []
        try:
            with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
                return [kind for (kind,) in connection.execute("SELECT kind FROM steps ORDER BY rowid")]
        except sqlite3.OperationalError:
            return []


if __name__ == "__main__":
    support.main()
