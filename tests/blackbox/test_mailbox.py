# SPDX-License-Identifier: Apache-2.0
"""A folder as a model: questions as files, answers as files, and runs that end while they wait. Most have the steady worker."""

import pathlib
import re
import time

import chat_script
import support

PLANS, ATTEMPTS = 2, 2


class Mailbox(support.TestCase):
    def setUp(self):
        super().setUp()
        self.box = self.folder / "questions"

    def arguments(self, *more):
        return ["run", self.task(), "--workspace", self.workspace, "--json", *support.steady_worker(), "--mailbox", self.box,
                "--iterations", 1, "--plans", PLANS, "--attempts", ATTEMPTS, "--fixes", 1, "--patience", 0, *more]

    def questions(self, role=""):
        return sorted(self.box.glob(role + "*.question.md"))

    def open_questions(self):
        return [q for q in self.questions() if not self.answer_file(q).exists()]

    @staticmethod
    def answer_file(question):
        return pathlib.Path(str(question).replace(".question.md", ".answer.md"))

    def answer(self, question):
        """As the scripted model would: a plan, a kernel, a lesson. Written under another name, then renamed."""
        role = question.name.split("-")[0]
        number = len(list(self.box.glob(role + "*.answer.md")))
        changes = re.findall(r"^Change (\d+)$", question.read_text(encoding="utf-8"), re.MULTILINE)
        lesson = '{"change": %s, "title": "Walk along rows", "strategy": "s", "before": "b", "after": "a"}\n'
        text = {"planner": "\n".join(chat_script.plan(f"Exchange the two inner loops {number} {plan}") for plan in range(PLANS)),
                "executor": chat_script.steady_kernel(f"speed={2 + number % 3}"),
                "fixer": chat_script.steady_kernel("speed=2"),
                "summarizer": "".join(lesson % change for change in changes)}[role]
        partial = self.box / (question.name + ".partial")
        partial.write_text(text, encoding="utf-8")
        partial.rename(self.answer_file(question))

    def resume(self):
        return self.accelopt("resume", "--workspace", self.workspace, "--json")

    def test_a_run_that_ends_while_it_waits(self):
        finished = self.accelopt(*self.arguments("--exit-when-waiting"))
        self.assertEqual(finished.code, 6, finished)
        self.assertEqual((finished.last["outcome"], finished.last["stopped_by"]), ("waiting", "waiting"))
        self.assertIn("1 question", finished.last["reason"])
        self.assertEqual(len(self.questions()), 1, "all plans are asked for at once")
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").last["status"], "waiting")
        text = self.questions()[0].read_text(encoding="utf-8")
        self.assertIn("======== system ========\n\nYou are the planner", text)
        self.assertIn("======== user ========", text)
        self.assertIn(self.answer_file(self.questions()[0]).name, text)

        # The answer: all that follows from it is asked.
        self.answer(self.questions()[0])
        self.assertEqual(self.resume().code, 6)
        self.assertEqual(len(self.questions("executor")), PLANS * ATTEMPTS)
        self.assertEqual(len(self.open_questions()), PLANS * ATTEMPTS)

        # An empty file is no answer yet, and is pointed at.
        empty = self.answer_file(self.open_questions()[0])
        for text in ("", " \n\n"):
            empty.write_text(text, encoding="utf-8")
            waiting = self.resume()
            self.assertEqual(waiting.code, 6, waiting)
            self.assertIn(f"{empty} is empty; write the answer", waiting.last["reason"])
            self.assertEqual(empty.read_text(encoding="utf-8"), text, "it is left as it is")
        empty.unlink()

        rounds = 0
        while True:
            for question in self.open_questions():
                self.answer(question)
            finished = self.resume()
            if finished.code != 6:
                break
            rounds += 1
            self.assertLess(rounds, 8, finished)
            self.assertTrue(self.open_questions(), "it waits for something that was asked")
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["outcome"], "improved")
        calls = finished.last["usage"]["calls"]
        self.assertEqual(sum(calls.values()), len(self.questions()), "every question was asked once, and answered once")
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertTrue(replay["same"], replay)

    def test_a_run_that_waits(self):
        """Without the flag the run goes on by itself as answers come."""
        running = self.start(*self.arguments())
        def answered_to_its_end():
            for question in self.open_questions():
                self.answer(question)
            return running.process.poll() is not None

        support.until(answered_to_its_end, "the run ends", seconds=120)
        finished = running.finish()
        self.assert_no_crash(finished)
        self.assertEqual(finished.code, 0, finished)

    def test_a_run_that_waits_points_at_an_empty_answer_and_takes_it_when_it_is_written(self):
        running = self.start("run", self.task(), "--workspace", self.workspace, "--json", *support.steady_worker(), "--mailbox", self.box,
                             "--iterations", 1, "--plans", 1, "--attempts", 1)
        support.until(lambda: self.open_questions(), "a planner asks", running)
        empty = self.answer_file(self.open_questions()[0])
        empty.touch()
        support.until(lambda: f"{empty} is empty; write the answer" in running.out_path.read_text(encoding="utf-8"),
                      "it is said", running)
        empty.write_text("skip", encoding="utf-8")
        support.until(lambda: self.open_questions(), "it is asked once more", running)
        self.answer_file(self.open_questions()[0]).write_text("skip", encoding="utf-8")
        finished = running.finish(60)
        self.assertEqual((finished.code, finished.last["outcome"]), (3, "no_gain"), finished)
        self.assertEqual(finished.last["counts"], {"NO_ANSWER": 1})

    def test_an_interrupt_ends_the_wait_within_a_second(self):
        running = self.start(*self.arguments())
        support.until(lambda: self.questions(), "the planner asks", running)
        before = time.monotonic()
        running.interrupt()
        finished = running.finish(20)
        self.assertLess(time.monotonic() - before, 1.0)
        self.assertEqual(finished.code, 130, finished)

    def test_by_configuration_and_in_one_role(self):
        server = self.server(chat_script.script())
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{server.url}"\nmodel = "scripted"\n'
            '[models.person]\napi = "mailbox"\ndir = "desk"\nmodel = "a person"\n[roles]\nplanner = "person"\n', encoding="utf-8")
        self.box = self.workspace / "desk"
        run = ["run", self.task(), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 1, "--attempts", 1,
               "--patience", 0, "--exit-when-waiting"]
        self.assertEqual(self.accelopt(*run).code, 6)
        self.assertEqual([q.name.split("-")[0] for q in self.questions()], ["planner"])
        self.assertEqual(server.requests, [])
        self.answer(self.questions()[0])
        finished = self.resume()
        self.assertEqual(finished.code, 0, finished)
        self.assertIn("a person", self.succeed("show", "--workspace", self.workspace).out)

    def test_a_folder_that_cannot_be_made(self):
        self.file("questions", "a file is in the way")
        finished = self.accelopt(*self.arguments("--exit-when-waiting"))
        self.assert_says(finished, 1, "mailbox", "questions")


if __name__ == "__main__":
    support.main()
