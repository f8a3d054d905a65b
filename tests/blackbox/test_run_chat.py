# SPDX-License-Identifier: Apache-2.0
"""`accelopt run` with a model: all four roles against a scripted chat server, which also fails."""

import re

import chat_script
import support

KEY = "sk-blackbox-4f1d9c7e2a"
PLANS, ATTEMPTS = 2, 2


class RunChat(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment["BLACKBOX_KEY"] = KEY

    def arguments(self, url, task, model=chat_script.MODEL):
        return ["run", task, "--workspace", self.workspace, "--json", "--base-url", url, "--model", model, "--key-env",
                "BLACKBOX_KEY", "--iterations", 2, "--beam", 2, "--plans", PLANS, "--attempts", ATTEMPTS, "--fixes", 3,
                "--patience", 0]

    def run_with(self, server):
        finished = self.accelopt(*self.arguments(server.url, self.task()))
        self.assertEqual(finished.code, 0, finished)
        return finished

    def check_calls(self, server, finished):
        """The calls that the design counts, the ones that arrived, and the ones that the result tells are the same."""
        beams = [line["beam"] for line in finished.lines if line["type"] == "iteration_started"]
        lessons = [line for line in finished.lines if line["type"] == "learned"]
        self.assertEqual((len(beams), beams[0]), (2, 1), finished)
        expected = {
            "planner": sum(beams) + chat_script.ASKED_AGAIN,  # all plans of a kernel in one question
            "executor": sum(beams) * PLANS * ATTEMPTS,
            "fixer": chat_script.FIXER_CALLS,
            "summarizer": len(server.answered("summarizer")),
        }
        arrived = {role: len(server.answered(role)) for role in expected}
        self.assertEqual(arrived, expected)
        self.assertEqual(finished.last["usage"]["calls"], expected)
        self.assertGreaterEqual(expected["summarizer"], 1)
        changes = [len(re.findall(r"^Change \d+$", self.question(r), re.MULTILINE)) for r in server.answered("summarizer")]
        self.assertEqual(sum(changes), len(lessons), "all lessons on a kernel in one question")

    def check_outcome(self, finished):
        result = finished.last
        self.assertEqual((result["type"], result["outcome"]), ("result", "improved"), finished)
        self.assertGreater(result["speedup"]["low"], 1.5, finished)
        self.assertGreater(result["usage"]["input_tokens"], 0)
        self.assertGreater(result["usage"]["output_tokens"], 0)
        self.assertIsNone(result["usage"]["usd"], "no price is known")
        self.assertEqual(result["counts"].get("NO_ANSWER", 0), 0, result["counts"])

    def test_a_run_with_every_role(self):
        server = self.server(chat_script.script(key=KEY))
        finished = self.run_with(server)
        self.check_outcome(finished)
        self.check_calls(server, finished)
        self.assertEqual(finished.last["usage"]["transport_retries"], 0)
        self.check_lessons(server)
        self.check_fixes(server)
        self.check_question_asked_again(server)
        self.check_secrecy(server, finished)
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual(replay["decision_hash"], finished.last["decision_hash"])

    def check_lessons(self, server):
        planners = [r for r in server.answered("planner") if not r["again"]]
        first, second = planners[:1], planners[1:]
        for request in first:
            self.assertNotIn(chat_script.LESSON_TITLE, self.question(request))
        self.assertTrue(second)
        for request in second:
            self.assertIn(chat_script.LESSON_TITLE, self.question(request))
            self.assertIn("| for j for k sum += a[i][k] * b[k][j]\n", self.question(request), "its pseudo-code, as it was written")
        of_the_baseline = [r for r in second if "acc += lhs[i * K + k] * rhs[k * N + j];" in self.question(r)]
        for request in of_the_baseline:
            self.assertIn("Exchange the two inner loops", self.question(request), "what was tried on this kernel")

    def check_fixes(self, server):
        questions = [self.question(r) for r in server.answered("fixer")]
        broken_build = [q for q in questions if "rwo[N]" in q]
        self.assertTrue(broken_build)
        self.assertTrue(any("COMPILE_ERROR" in q and "row" in q for q in broken_build))
        wrong = [q for q in questions if "INCORRECT_NUMERICAL" in q]
        self.assertEqual(len(wrong), 2, "the executor's wrong result and the fixer's own")
        for question in questions:
            self.assertNotIn("hidden", question, "the fixer never hears of held-out workloads")
            self.assertNotIn(str(self.folder), question, "nothing of this machine's paths")

    def check_question_asked_again(self, server):
        again = [r for r in server.answered() if r["again"]]
        self.assertEqual([r["role"] for r in again], ["planner"])
        self.assertIn("I would exchange the loops.", str(again[0]["body"]["messages"]))
        self.assertIn("Title:", again[0]["body"]["messages"][-1]["content"])

    def check_secrecy(self, server, finished):
        self.assertEqual({r["authorization"] for r in server.requests}, {f"Bearer {KEY}"})
        self.assertNotIn(KEY, finished.said)
        self.assertNotIn(KEY, self.succeed("show", "--workspace", self.workspace, "--json").said)
        files = [path for path in self.workspace.rglob("*") if path.is_file()]
        # Questions and answers lie in the journal and in files beside it: both are looked through.
        self.assertGreater(len(files), 1)
        self.assertTrue(any(b"I would exchange the loops." in path.read_bytes() for path in files), "what was said is among them")
        for path in files:
            self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    @staticmethod
    def question(request):
        return "\n".join(message["content"] for message in request["body"]["messages"])

    def test_a_run_while_the_server_fails(self):
        failures = [
            {"when": {"request": 1}, "fail": {"status": 500, "message": "overloaded"}},
            {"when": {"request": 3}, "fail": {"drop": "before"}},
            {"when": {"request": 5}, "fail": {"status": 429, "message": "slow down", "headers": {"Retry-After": "1"}}},
            {"when": {"request": 8}, "fail": {"drop": "middle"}},
            {"when": {"request": 10}, "fail": {"status": 429, "message": "slow down", "headers": {"Retry-After": "0"}}},
            {"when": {"request": 12}, "fail": {"status": 503, "message": "restarting"}},
        ]
        server = self.server(chat_script.script(key=KEY, failures=failures))
        finished = self.run_with(server)
        self.check_outcome(finished)
        self.check_calls(server, finished)
        self.assertEqual(finished.last["usage"]["transport_retries"], len(failures), "counted apart from the calls")
        self.assertNotIn(KEY, finished.said)

    def test_a_wrong_key(self):
        server = self.server(chat_script.script(key="another key"))
        finished = self.accelopt(*self.arguments(server.url, self.task()))
        self.assert_says(finished, 1, "BLACKBOX_KEY", "401|key", "resume")
        self.assertNotIn(KEY, finished.said)
        self.assertTrue(all(r["outcome"] == "unauthorized" for r in server.requests))
        self.assertLessEqual(len(server.requests), PLANS, "a refused key is not tried again")

    def test_a_model_that_the_server_lacks(self):
        """The run goes on with another model, at the server's new address, and stays with both."""
        gone = self.server(chat_script.script(failures=[{"fail": {"status": 404, "message": "no such model"}}]), "gone")
        failed = self.accelopt(*self.arguments(gone.url, self.task(), "tpyo"), *support.steady_worker())
        self.assert_says(failed, 1, "no such model", "accelopt resume", "--model")
        server = self.server(chat_script.steady_script(key=KEY))
        resume = ["resume", "--workspace", self.workspace, "--json"]
        self.assert_says(self.accelopt(*resume, "--base-url", "no address"), 2, "address of the server")
        finished = self.accelopt(*resume, "--model", chat_script.MODEL, "--base-url", server.url, "--key-env", "BLACKBOX_KEY")
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)
        self.assertIn(f"from now on the run asks {chat_script.MODEL} at {server.url}, with the key in BLACKBOX_KEY", finished.said)
        agents = self.succeed("show", "--workspace", self.workspace, "--json").last["settings"]["agents"]
        self.assertEqual((agents["model"], agents["base_url"], agents["key_env"]), (chat_script.MODEL, server.url, "BLACKBOX_KEY"))
        self.assertFalse(agents["exit_when_waiting"])
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual(replay["decision_hash"], finished.last["decision_hash"])

    def test_a_key_that_is_not_set(self):
        server = self.server(chat_script.script())
        del self.environment["BLACKBOX_KEY"]
        finished = self.accelopt(*self.arguments(server.url, self.task()))
        self.assert_says(finished, 1, "BLACKBOX_KEY", "not set", "export")
        self.assertEqual(server.requests, [])


if __name__ == "__main__":
    support.main()
