# SPDX-License-Identifier: Apache-2.0
"""A budget of each kind on whole runs: kept to, and what was found is confirmed. (tests/search/budget_test.cpp has ten runs of each.)
Budgets of time are measured on this machine; those of tokens and dollars have the steady worker, which takes no time."""

import re

import chat_script
import support

PRICE = "price = { input = 1.0, cached_input = 0.1, output = 4.0 }"
USD_A_TOKEN = {"input": 1e-6, "output": 4e-6}

# Answers that are all different: each is built and measured.
MANY_KERNELS = [{"texts": [
    chat_script.fenced(chat_script.FASTER.replace("= row[j];", f"= row[j] * {factor}.0f / {factor}.0f;")) for factor in range(3, 800)]}]


class Budgets(support.TestCase):
    def configure(self, server, price=PRICE):
        self.workspace.mkdir(exist_ok=True)
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{server.url}"\nmodel = "{chat_script.MODEL}"\n{price}\n', encoding="utf-8")

    def run_with(self, server, *limits, price=PRICE):
        self.configure(server, price)
        self.tasks = getattr(self, "tasks", 0) + 1
        return self.accelopt("run", self.task(f"task{self.tasks}"), "--workspace", self.workspace, "--json", "--iterations", 100,
                             "--beam", 2, "--plans", 2, "--patience", 0, *limits)

    def check_end(self, finished, stopped_by):
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["stopped_by"]), ("improved", stopped_by), finished)
        self.assertGreater(result["speedup"]["low"], 1.5)
        replayed = self.succeed("replay", "--workspace", self.workspace, "--json").last["result"]
        self.assertEqual((replayed["evaluations"], replayed["counts"]), (result["evaluations"], result["counts"]), finished)
        return result

    def run_for(self, server, flag, seconds, stopped_by):
        """A run with a limit on time. On a machine on which nothing could be measured in it, the program says what would
        be enough, and is given that. The limit and the finished run."""
        for _ in range(4):
            finished = self.run_with(server, flag, f"{seconds}s")
            more = re.search(r"none was left for a candidate; give at least (\d+) s", finished.last["reason"])
            if not more:
                self.check_end(finished, stopped_by)
                return seconds, finished
            self.assertEqual((finished.code, finished.last["outcome"]), (4, "budget"), finished)
            self.assertGreater(int(more[1]), seconds)
            seconds = int(more[1])
        self.fail(f"{flag} {seconds}s was not enough, though it was said to be")

    @staticmethod
    def search_of(finished):
        """The events before the confirmation: how long that takes is the machine's affair."""
        types = [event.get("type") for event in finished.lines]
        return finished.lines[:types.index("confirming") + 1]

    def searched_for(self, finished):
        events = self.search_of(finished)
        return (events[-1]["at_ms"] - min(event["at_ms"] for event in events if "at_ms" in event)) / 1000

    @staticmethod
    def tokens(result):
        return result["usage"]["input_tokens"] + result["usage"]["output_tokens"]

    def test_tokens(self):
        server = self.server(chat_script.steady_script())
        result = self.check_end(self.run_with(server, "--max-tokens", 60_000, *support.steady_worker()), "max_tokens")
        self.assertLessEqual(self.tokens(result), 60_000)
        self.assertGreaterEqual(self.tokens(result), 30_000)

    def test_dollars(self):
        server = self.server(chat_script.steady_script())
        result = self.check_end(self.run_with(server, "--max-usd", 0.07, *support.steady_worker()), "max_usd")
        usage = result["usage"]
        self.assertLessEqual(usage["usd"], 0.07)
        self.assertAlmostEqual(usage["usd"], usage["input_tokens"] * USD_A_TOKEN["input"] +
                               usage["output_tokens"] * USD_A_TOKEN["output"], places=9)
        self.assertAlmostEqual(sum(role["usd"] for role in usage["roles"].values()), usage["usd"], places=9)
        self.assertAlmostEqual(usage["usd_a_plan"] * result["plans"], usage["usd"], places=9)
        self.assertAlmostEqual(usage["usd_a_gain"] * result["gains"], usage["usd"], places=9)

    def test_an_answer_whose_rest_the_budget_refuses_is_paid_for(self):
        cut = [{"text": "```cpp\nvoid ker", "finish": "length", "usage": {"prompt_tokens": 1000, "completion_tokens": 30_000}}]
        server = self.server(chat_script.steady_script(executor=cut))
        finished = self.run_with(server, "--max-tokens", 60_000, *support.steady_worker())
        self.assertEqual((finished.code, finished.last["stopped_by"]), (4, "max_tokens"), finished)
        answered = len(server.answered("executor"))
        self.assertEqual(finished.last["usage"]["calls"]["executor"], answered, finished)
        self.assertGreaterEqual(self.tokens(finished.last), 31_000 * answered)

    def test_evaluations(self):
        server = self.server(chat_script.script(executor=MANY_KERNELS))
        result = self.check_end(self.run_with(server, "--max-evaluations", 4), "max_evaluations")
        self.assertLessEqual(result["evaluations"], 4)

    def test_device_time(self):
        server = self.server(chat_script.script(executor=MANY_KERNELS))
        limit, finished = self.run_for(server, "--max-device-seconds", 4, "max_device_seconds")
        spent = [event["device_seconds"] for event in self.search_of(finished) if event.get("type") == "spending"]
        self.assertLess(max(spent), limit, finished)

    def test_time(self):
        server = self.server(chat_script.script(planner=[{"delay_seconds": 0.1, "text": chat_script.plan("Exchange loops ${answer}")}]))
        limit, finished = self.run_for(server, "--max-time", 6, "max_seconds")
        self.assertLess(self.searched_for(finished), limit)

    def test_a_time_in_which_nothing_could_be_measured_says_what_would_be_enough(self):
        server = self.server(chat_script.script())
        finished = self.run_with(server, "--max-time", "0.05s")
        self.assertEqual((finished.code, finished.last["outcome"]), (4, "budget"), finished)
        self.assertRegex(finished.last["reason"], r"none was left for a candidate; give at least \d+ s")

    def test_a_call_in_flight_is_broken_off_when_the_time_is_up(self):
        gate = self.folder / "never"
        held = [{"when": {"answer": 3}, "times": 1, "hold_until": str(gate), "text": chat_script.fenced(chat_script.UNROLLED)}]
        server = self.server(chat_script.script(executor=held))
        limit, finished = self.run_for(server, "--max-time", 8, "max_seconds")
        self.assertLess(self.searched_for(finished), limit)

    def test_a_budget_without_a_gain_ends_in_exit_code_4(self):
        wrong, still_wrong = [{"text": chat_script.steady_kernel("wrong speed=2")}], [{"text": chat_script.steady_kernel("wrong speed=2.1")}]
        server = self.server(chat_script.script(executor=wrong, fixer=still_wrong))
        finished = self.run_with(server, "--max-tokens", 40_000, *support.steady_worker())
        self.assertEqual(finished.code, 4, finished)
        self.assertEqual(finished.last["outcome"], "budget")
        self.assertRegex(finished.last["reason"], "the budget ended it: .* of 40000 tokens")

    def test_dollars_without_a_price_are_refused(self):
        server = self.server(chat_script.script())
        finished = self.run_with(server, "--max-usd", 1, price="")
        self.assert_says(finished, 2, "--max-usd", chat_script.MODEL, "price", "--max-tokens")
        self.assertEqual(server.requests, [])

    def test_half_a_price_is_refused(self):
        server = self.server(chat_script.script())
        self.assert_says(self.run_with(server, price="price = { input = 1.0 }"), 1, "price", "output")

    def test_a_limit_of_nothing_is_refused(self):
        server = self.server(chat_script.script())
        for limit in (("--max-tokens", 0), ("--max-usd", 0), ("--max-evaluations", 0), ("--max-device-seconds", 0)):
            self.assertEqual(self.run_with(server, *limit).code, 2, limit)
        self.assert_says(self.run_with(server, "--seed", "-3"), 2, "--seed", "0 or more")

    def test_a_resumed_run_goes_on_spending_where_it_was(self):
        server = self.server(chat_script.script())
        self.configure(server)
        running = self.start("run", self.task("killed"), "--workspace", self.workspace, "--json", "--iterations", 100, "--beam", 2,
                             "--plans", 2, "--patience", 0, "--max-tokens", 60_000)
        server.wait_for(lambda requests: len([r for r in requests if r["outcome"] == "answered"]) >= 10 or
                        running.process.poll() is not None)
        running.kill()
        finished = self.accelopt("resume", "--workspace", self.workspace, "--json")
        result = self.check_end(finished, "max_tokens")
        self.assertLessEqual(self.tokens(result), 60_000)
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual((replay["decision_hash"], replay["same"]), (result["decision_hash"], True))


if __name__ == "__main__":
    support.main()
