# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed and interrupted, again and again, and go on where they were."""

import collections
import hashlib
import json
import pathlib
import shutil
import sqlite3

import chat_script
import support

PLANS, ATTEMPTS, BEAM = 2, 2, 2
MOST_IN_FLIGHT = BEAM * PLANS * ATTEMPTS
SPEAKERS = {"system": 0, "user": 1, "assistant": 2}


def question_hash(request):
    """The hash under which the journal keeps the answer to a request."""
    messages = [[SPEAKERS[m["role"]], m["content"]] for m in request["body"]["messages"]]
    return hashlib.sha256(json.dumps(messages, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


class Resume(support.TestCase):
    def run_arguments(self, server):
        return ["run", self.task(), "--workspace", self.workspace, "--json", "--base-url", server.url, "--model",
                chat_script.MODEL, "--iterations", 2, "--beam", BEAM, "--plans", PLANS, "--attempts", ATTEMPTS, "--patience", 0]

    def resume_arguments(self):
        return ["resume", "--workspace", self.workspace, "--json"]

    def committed(self):
        """How many answers to each question are in the journal; read from a copy, which recovers nothing in place."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.workspace, copy, ignore=shutil.ignore_patterns("objects"))
        connection = sqlite3.connect(copy / "accelopt.db")
        try:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            self.assertIn(problems, ([], ["ok"]))
            rows = connection.execute("SELECT input_hash FROM steps WHERE kind LIKE 'chat:%'").fetchall()
        finally:
            connection.close()
        return collections.Counter(row[0] for row in rows)

    def recorded_meanwhile(self, kind="chat:"):
        """How many answers, or steps of another kind, are in the journal of a run that goes on."""
        connection = sqlite3.connect(f"file:{self.workspace / 'accelopt.db'}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute("SELECT count(*) FROM steps WHERE kind LIKE ?", (kind + "%",)).fetchone()[0]
        finally:
            connection.close()

    @staticmethod
    def answers(requests):
        return collections.Counter(question_hash(r) for r in requests if r["outcome"] == "answered")

    def processes_left(self):
        """What a killed program left running: the processes with this test's home in their environment."""
        left = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (folder / "environ").read_bytes():
                    left.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue  # ended, or another user's
        return left

    def assert_nothing_left(self):
        support.until(lambda: not self.processes_left(), "everything that was started ends", seconds=20)

    def check_end(self, finished, server):
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["type"], result["outcome"]), ("result", "improved"), finished)
        calls = result["usage"]["calls"]
        self.assertEqual(sum(calls.values()), sum(self.committed().values()) + self.recorded_meanwhile("unanswered:"),
                         "a call is one answer on record, or a question on record that got none")
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))
        self.assertEqual(replay["steps_absent"], 0)
        listed = self.succeed("runs", "--workspace", self.workspace, "--json").lines
        self.assertEqual([line["status"] for line in listed], ["done"], "one run, however often it was resumed")

    def test_killed_again_and_again(self):
        server = self.server(chat_script.script())
        seen, before = 0, collections.Counter()
        arguments = self.run_arguments(server)
        last = 13
        for kill_after in (1, 3, 6, 8, 11, last):
            running = self.start(*arguments)
            server.wait_for(lambda requests, n=kill_after: self.reached(requests, n, running))
            if kill_after == last:
                support.until(lambda: running.process.poll() is not None or self.recorded_meanwhile() >= 3, "answers are on record")
            running.kill()
            self.assert_nothing_left()
            finished = running.finished()
            self.assertEqual(finished.code, -9, f"it ended before it was killed: {finished}")
            server.settle()
            requests = server.requests
            asked, after = self.answers(requests[seen:]), self.committed()
            self.check_segment(asked, before, after)
            seen, before = len(requests), after
            arguments = self.resume_arguments()
        self.assertGreaterEqual(sum(before.values()), 3, "answers that arrived before the last kill are on record")
        finished = self.accelopt(*arguments)
        asked = self.answers(server.requests[seen:])
        self.check_end(finished, server)
        # Nothing was lost in the last part: each of its answers is a new one on record, so none was there already.
        self.assertEqual(asked, self.committed() - before)
        repeated = len(server.answered()) - sum(self.committed().values())
        self.assertLessEqual(repeated, 6 * MOST_IN_FLIGHT)

    @staticmethod
    def reached(requests, number, running):
        return len([r for r in requests if r["outcome"] == "answered"]) >= number or running.process.poll() is not None

    def check_segment(self, asked, before, after):
        self.assertEqual(before - after, collections.Counter(), "nothing that was on record is lost")
        recorded = after - before
        self.assertEqual(recorded - asked, collections.Counter(), "what was recorded was answered in this part")
        self.assertLessEqual(sum((asked - recorded).values()), MOST_IN_FLIGHT, "only what was in flight is lost")

    def test_killed_while_it_measures_and_confirms(self):
        server = self.server(chat_script.script())
        running = self.start(*self.run_arguments(server))
        self.wait_for_event(running, '"measuring"')
        running.kill()
        running = self.start(*self.resume_arguments())
        self.wait_for_event(running, '"type":"confirming"')
        answered = len(server.answered())
        running.kill()
        self.assert_nothing_left()
        self.assertEqual(running.finished().code, -9)
        finished = self.accelopt(*self.resume_arguments())
        self.check_end(finished, server)
        self.assertEqual(len(server.answered()), answered, "every answer was on record: nothing is asked again")

    def wait_for_event(self, running, part, seconds=60):
        support.until(lambda: part in running.out_path.read_text(encoding="utf-8"), f"{part} comes", running, seconds)

    def test_interrupted_once(self):
        server = self.server(chat_script.script())
        running = self.start(*self.run_arguments(server))
        server.wait_for(lambda requests: self.reached(requests, 4, running))
        running.interrupt()
        finished = running.finish(60)
        self.assert_no_crash(finished)
        self.assertEqual(finished.code, 130, finished)
        result = finished.last
        self.assertEqual((result["type"], result["outcome"], result["stopped_by"]), ("result", "interrupted", "signal"), finished)
        self.assertIn("stopping", finished.err)
        self.assert_nothing_left()
        listed = self.succeed("runs", "--workspace", self.workspace, "--json").last
        self.assertEqual(listed["status"], "interrupted")
        server.settle()
        before, seen = self.committed(), len(server.requests)
        finished = self.accelopt(*self.resume_arguments())
        self.check_end(finished, server)
        self.assertEqual(self.answers(server.requests[seen:]), self.committed() - before)

    # Where it measures

    def logging_worker(self, name):
        """A worker on this machine that says in a file that it was started."""
        log = self.folder / (name + ".log")
        script = self.file(name + ".sh", f'echo started >> "{log}"\nexec "{support.program_folder() / "accelopt"}" worker\n')
        return f'sh "{script}"', log

    def answer_all(self, box):
        for question in box.glob("*.question.md"):
            text = chat_script.plan("Exchange the two inner loops") if "planner" in question.name else chat_script.fenced(support.FASTER)
            answer = pathlib.Path(str(question).replace(".question.md", ".answer.md"))
            if not answer.exists():
                answer.write_text(text, encoding="utf-8")

    def assert_measures(self, text):
        self.assertIn(f"\nmeasures {text}\n", self.succeed("show", "--workspace", self.workspace).out)

    def test_it_goes_on_where_it_measured_last(self):
        box, bundles = self.folder / "questions", self.folder / "bundles"
        begun = self.accelopt("run", self.task(), "--workspace", self.workspace, "--json", "--mailbox", box, "--exit-when-waiting",
                              "--iterations", 1, "--plans", 1, "--attempts", 1, "--no-memory")
        self.assertEqual(begun.code, 6, begun)
        self.assert_measures("on device cpu")

        # A worker, and the next session asks it again without being told.
        worker, log = self.logging_worker("first")
        self.assertEqual(self.accelopt(*self.resume_arguments(), "--worker", worker).code, 6)
        self.assertFalse(log.exists(), "nothing was to be measured")
        self.assert_measures(f'through the worker "{worker}"')
        self.answer_all(box)
        self.assertEqual(self.accelopt(*self.resume_arguments()).code, 6, "the executor was asked")
        self.answer_all(box)

        # Bundles instead, and they stay.
        waiting = self.accelopt(*self.resume_arguments(), "--defer", bundles)
        self.assertEqual((waiting.code, len(waiting.last["bundles"])), (6, 1), waiting)
        self.assert_measures(f"by bundles in {bundles}")
        again = self.accelopt(*self.resume_arguments())
        self.assertEqual((again.code, again.last["bundles"]), (6, waiting.last["bundles"]), again)
        self.assertFalse(log.exists())

        # A worker again, killed where it measures: the other part of the run uses it too.
        other, other_log = self.logging_worker("second")
        running = self.start(*self.resume_arguments(), "--worker", other)
        support.until(other_log.exists, "its worker is started", running)
        running.kill()
        self.assertEqual(running.finished().code, -9)
        self.assertEqual(other_log.read_text().count("started"), 1)
        finished = self.accelopt(*self.resume_arguments())
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)
        self.assertEqual(other_log.read_text().count("started"), 2)
        self.assertFalse(log.exists())
        shown = self.succeed("show", "--workspace", self.workspace, "--json").last
        self.assertEqual((shown["settings"]["device"]["worker"], shown["settings"]["device"]["defer"]), (other, ""))

        # A run that is done stays as it was.
        self.succeed(*self.resume_arguments(), "--device", "cpu:0")
        self.assert_measures(f'through the worker "{other}"')

    def test_back_to_this_machine(self):
        begun = self.accelopt("run", self.task(), "--workspace", self.workspace, "--json", "--agents", "recipes", "--iterations", 1,
                              "--plans", 1, "--defer", self.folder / "bundles")
        self.assertEqual(begun.code, 6, begun)
        self.assert_says(self.accelopt(*self.resume_arguments(), "--device", "cuda:x"), 2, '"cuda:x"')
        self.assert_measures(f"by bundles in {self.folder / 'bundles'}")
        finished = self.accelopt(*self.resume_arguments(), "--device", "cpu")
        self.assertEqual(finished.code, 0, finished)
        self.assertIn("from now on the run measures on device cpu", finished.said)
        self.assert_measures("on device cpu")

    def test_interrupted_twice(self):
        """The second Ctrl-C ends it at once, though an answer is still held back; the run can be resumed."""
        gate = self.folder / "gate"
        held = [{"when": {"answer": 3}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.server(chat_script.steady_script(executor=held))
        running = self.start(*self.run_arguments(server), *support.steady_worker())
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests) or running.process.poll() is not None)
        running.interrupt()
        running.interrupt()
        finished = running.finish(30)
        self.assert_no_crash(finished)
        self.assertEqual(finished.code, 130, finished)
        gate.touch()
        self.check_end(self.accelopt(*self.resume_arguments()), server)


if __name__ == "__main__":
    support.main()
