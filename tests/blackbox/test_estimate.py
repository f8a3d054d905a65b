# SPDX-License-Identifier: Apache-2.0
"""`estimate`: before anything is spent, and the truth beside it at the end."""

import chat_script
import support

QUANTITIES = ("calls", "tokens", "usd", "evaluations", "device_seconds", "wall_seconds")
SIZES = ("--iterations", 2, "--beam", 2, "--plans", 2, "--patience", 0)


class Estimate(support.TestCase):
    def setUp(self):
        super().setUp()
        self.chat = self.server(chat_script.script())
        self.workspace.mkdir()
        self.configure("price = { input = 1.0, cached_input = 0.1, output = 4.0 }")

    def configure(self, price):
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{self.chat.url}"\nmodel = "{chat_script.MODEL}"\n{price}\n', encoding="utf-8")

    def estimate(self, *more):
        return self.succeed("estimate", self.folder / "task", "--workspace", self.workspace, "--json", *SIZES, *more).last

    def test_an_estimate_spends_nothing_and_the_truth_is_beside_it(self):
        self.task()
        before = self.estimate()
        self.assertEqual(before["type"], "estimate")
        self.assertIn("no earlier run", before["basis"])
        self.assertEqual(self.chat.requests, [], "nobody is asked")
        self.assertFalse((self.workspace / "accelopt.db").exists(), "nothing is written")
        for name in QUANTITIES:
            self.assertLessEqual(before[name]["low"], before[name]["expected"])
            self.assertLessEqual(before[name]["expected"], before[name]["high"])
        finished = self.succeed("run", self.folder / "task", "--workspace", self.workspace, "--json", *SIZES)
        self.assertEqual({k: v for k, v in finished.lines[0].items()}, before, "the run prints the same estimate first")
        beside = finished.last["estimate"]
        usage = finished.last["usage"]
        truth = {"calls": sum(usage["calls"].values()), "tokens": usage["input_tokens"] + usage["output_tokens"], "usd": usage["usd"],
                 "evaluations": finished.last["evaluations"], "device_seconds": finished.last["device_seconds"],
                 "wall_seconds": finished.last["wall_seconds"]}
        for name in QUANTITIES:
            self.assertEqual(beside[name]["predicted"], before[name])
            self.assertAlmostEqual(beside[name]["actual"], truth[name], places=6)
            self.assertEqual(beside[name]["inside"], before[name]["low"] <= truth[name] <= before[name]["high"])
        for name in ("calls", "tokens", "usd", "evaluations"):
            self.assertTrue(beside[name]["inside"], f"{name}: {beside[name]}")
        said = self.succeed("show", "--workspace", self.workspace).out
        self.assertRegex(said, r"(?s)Cost.*executor.*planner.*a plan.*an accepted gain.*estimate and truth")
        after = self.estimate()
        self.assertIn("1 earlier run", after["basis"])
        self.assertLess(after["wall_seconds"]["high"], before["wall_seconds"]["high"], "a run teaches")

    def test_an_unknown_price_is_an_unknown_cost(self):
        self.task()
        self.configure("")
        self.assertIsNone(self.estimate()["usd"])
        said = self.succeed("estimate", self.folder / "task", "--workspace", self.workspace).out
        self.assertIn("no price is known", said)
        self.assertRegex(said, r"cost +unknown")

    def test_recipes_ask_nobody(self):
        self.task()
        estimate = self.estimate("--agents", "recipes")
        self.assertEqual((estimate["calls"]["high"], estimate["tokens"]["high"], estimate["usd"]["high"]), (0, 0, 0))
        self.assertGreater(estimate["device_seconds"]["expected"], 0)

    def test_a_run_for_another_target_teaches_nothing(self):
        """Two suites have a silu, one for the processor and one for GPUs."""
        ran = self.accelopt("run", support.SUITE / "silu", "--workspace", self.workspace, "--json", *support.steady_worker(),
                            "--agents", "recipes", "--iterations", 1, "--plans", 1)
        self.assertIn(ran.last["outcome"], ("no_gain", "improved"), ran)
        for task, basis in ((support.SUITE / "silu", f"1 earlier run of this task ({ran.last['device']})"),
                            (support.ROOT / "suites" / "nkibench-cuda" / "silu", "guesses: no earlier run of this task for cuda")):
            estimate = self.succeed("estimate", task, "--workspace", self.workspace, "--json").last
            self.assertIn(basis, estimate["basis"])

    def test_a_budget_bounds_it(self):
        self.task()
        self.assertLessEqual(self.estimate("--max-tokens", 20_000)["tokens"]["high"], 20_000)
        self.assertLessEqual(self.estimate("--max-evaluations", 3)["evaluations"]["high"], 3)


if __name__ == "__main__":
    support.main()
