# SPDX-License-Identifier: Apache-2.0
"""Every role at a model behind another API: chat completions, the Messages API, generateContent. What is asked and answered is tested,
so kernels are measured by the steady worker."""

import json
import sqlite3

import chat_script
import support

KEY = "sk-blackbox-77aa0f31"
ROLES = ("planner", "executor", "fixer", "summarizer")


class Providers(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment["BLACKBOX_KEY"] = KEY
        self.workspace.mkdir()

    def configure(self, text):
        (self.workspace / "accelopt.toml").write_text(text, encoding="utf-8")

    @staticmethod
    def model(name, api, server, more=""):
        version = "/v1beta" if api == "gemini" else "/v1"
        return (f'[models.{name}]\napi = "{api}"\nbase_url = "{server.url.removesuffix("/v1")}{version}"\n'
                f'model = "{server.model}"\nkey_env = "BLACKBOX_KEY"\n'
                f"retries = {{ tries = 4, first_wait = 0.01, longest_wait = 0.05 }}\n{more}\n")

    def named_server(self, name, **options):
        server = self.server(chat_script.steady_script(key=KEY, **options) | {"model": name}, name)
        server.model = name
        return server

    def run_task(self, *more):
        return self.accelopt("run", self.task(), "--workspace", self.workspace, "--json", *support.steady_worker(),
                             "--iterations", 1, "--plans", 2, "--attempts", 2, "--fixes", 2, "--patience", 0, *more)

    def steps(self, kind):
        connection = sqlite3.connect(self.workspace / "accelopt.db")
        try:
            rows = connection.execute("SELECT kind, output FROM steps WHERE kind LIKE ?", (kind + "%",)).fetchall()
        finally:
            connection.close()
        return rows

    def test_each_role_at_another_api(self):
        usage = {"prompt_tokens": 1000, "completion_tokens": 300, "prompt_tokens_details": {"cached_tokens": 600},
                 "completion_tokens_details": {"reasoning_tokens": 100}, "total_tokens": 1300}
        thinking = [{"times": 1, "text": chat_script.plan("Thought through"), "reasoning": "let me see",
                     "usage": usage}]
        planner = self.named_server("planning-model", planner=thinking)
        executor = self.named_server("coding-model")
        other = self.named_server("small-model")
        price = "price = { input = 1.0, cached_input = 0.1, output = 2.0 }\n"
        self.configure(self.model("default", "openai", other, price) +
                       self.model("thinker", "anthropic", planner, price + 'reasoning = "low"\n') +
                       self.model("coder", "gemini", executor, price + "reasoning = 4096\nmax_output_tokens = 9000\n") +
                       '[roles]\nplanner = "thinker"\nexecutor = "coder"\n')
        finished = self.run_task()
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual({r["role"] for r in planner.requests}, {"planner"})
        self.assertEqual({r["role"] for r in executor.requests}, {"executor"})
        self.assertLessEqual({r["role"] for r in other.requests}, {"fixer", "summarizer"})
        self.check_requests(planner, executor)
        self.check_usage(finished, planner)
        self.check_journal(finished)
        shown = self.succeed("show", "--workspace", self.workspace)
        for name in ("planning-model", "coding-model"):
            self.assertIn(name, shown.out)
        for path in [path for path in self.folder.rglob("*") if path.is_file() and "requests" not in path.name]:
            if path.name != "script.json":
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def check_requests(self, planner, executor):
        for request in planner.requests:
            self.assertEqual((request["api"], request["path"]), ("anthropic", "/v1/messages"))
            self.assertEqual(request["raw"]["thinking"], {"type": "enabled", "budget_tokens": 2048})
            self.assertTrue(request["raw"]["system"].startswith("You are the planner"))
        for request in executor.requests:
            self.assertEqual(request["path"], "/v1beta/models/coding-model:streamGenerateContent?alt=sse")
            self.assertEqual(request["raw"]["generationConfig"],
                             {"thinkingConfig": {"thinkingBudget": 4096}, "maxOutputTokens": 9000})
        self.assertEqual({r["authorization"] for r in planner.requests + executor.requests}, {f"Bearer {KEY}"})

    def check_usage(self, finished, planner):
        usage = finished.last["usage"]
        self.assertEqual(usage["calls"]["planner"], len(planner.answered("planner")))
        self.assertEqual(usage["calls"]["executor"], 4)
        self.assertGreaterEqual(usage["cached_input_tokens"], 600)
        self.assertGreater(usage["usd"], 0)

    def check_journal(self, finished):
        """The journal knows which model wrote what."""
        authors = {json.loads(output)["author"] for _, output in self.steps("plan")}
        self.assertEqual(authors, {"planning-model"})
        self.assertEqual({json.loads(output)["author"] for _, output in self.steps("execute")}, {"coding-model"})
        chats = {kind.removeprefix("chat:").split()[0]: json.loads(output)["model"] for kind, output in self.steps("chat:")}
        self.assertEqual((chats["planner"], chats["executor"]), ("planning-model", "coding-model"))

    def test_answers_that_are_cut_are_gone_on_with(self):
        """Half of a kernel, then the rest: what is built is the whole."""
        kernel = "// speed=2\n" + support.FASTER
        whole = chat_script.fenced(kernel)
        half = whole[:whole.index("float row[N]") + 9]
        for api in ("openai", "anthropic", "gemini"):
            with self.subTest(api):
                rest = [{"when": {"contains": "cut off at the limit"}, "text": whole[len(half):]},
                        {"text": half, "finish": "length"}]
                server = self.named_server("cut-" + api, executor=rest)
                self.configure(self.model("default", api, server))
                finished = self.accelopt("run", self.task("task-" + api), "--workspace", self.workspace, "--json",
                                         *support.steady_worker(), "--iterations", 1, "--plans", 1, "--attempts", 1, "--fixes", 0, "--patience", 0)
                self.assertEqual(finished.code, 0, finished)
                self.assertEqual(finished.last["solution"]["sources"][0]["text"], kernel)
                self.assertEqual(finished.last["usage"]["calls"]["executor"], 2, "both parts are paid for")
                parts = [r for r in server.answered("executor") if r["again"]]
                self.assertEqual(len(parts), 1)
                self.assertEqual(parts[0]["body"]["messages"][-2]["content"], half)

    def test_a_second_try_that_fails_does_not_hide_what_the_first_took(self):
        spoilt = [{"when": {"contains": "Your answer cannot be used"}, "fail": {"status": 503, "message": "gone"}},
                  {"when": {"answer": 1}, "times": 1, "text": "I would exchange the loops."}]
        server = self.named_server("half-there", executor=spoilt)
        self.configure(self.model("default", "openai", server, "price = { input = 1.0, output = 2.0 }"))
        finished = self.run_task()
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(len([r for r in server.requests if r["outcome"] == "status 503"]), 4, "the second try was tried")
        self.assertEqual(finished.last["usage"]["calls"]["executor"], len(server.answered("executor")))
        self.assertEqual(finished.last["counts"]["NO_ANSWER"], 1)

    def test_failures_of_every_api(self):
        for api in ("anthropic", "gemini"):
            failures = [{"when": {"request": 1}, "fail": {"status": 529 if api == "anthropic" else 503, "message": "overloaded"}},
                        {"when": {"request": 2}, "fail": {"drop": "middle"}},
                        {"when": {"request": 3}, "fail": {"status": 429, "message": "slow", "headers": {"Retry-After": "0"}}}]
            with self.subTest(api):
                server = self.named_server("failing-" + api, failures=failures)
                self.configure(self.model("default", api, server))
                finished = self.accelopt("run", self.task("task-" + api), "--workspace", self.workspace, "--json",
                                         *support.steady_worker(), "--iterations", 1, "--plans", 1, "--attempts", 1, "--fixes", 2, "--patience", 0)
                self.assertEqual(finished.code, 0, finished)
                self.assertEqual(finished.last["usage"]["transport_retries"], 3)

    def test_the_doctor_looks_every_api_over(self):
        for api in ("openai", "anthropic", "gemini"):
            with self.subTest(api):
                server = self.named_server("seen-" + api)
                self.configure(self.model("default", api, server))
                said = self.accelopt("doctor", "--workspace", self.workspace).out
                self.assertRegex(said, r"ok +.*model default", said)
                self.assertEqual(server.requests, [], "nothing was asked of the model")
                self.environment["BLACKBOX_KEY"] = "another"
                said = self.accelopt("doctor", "--workspace", self.workspace).out
                self.environment["BLACKBOX_KEY"] = KEY
                self.assertRegex(said, r"missing +.*model default")
                self.assertIn("BLACKBOX_KEY", said)


if __name__ == "__main__":
    support.main()
