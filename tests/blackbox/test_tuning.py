# SPDX-License-Identifier: Apache-2.0
"""A model leaves numbers open, the machine finds them: through a run, its record, and what is given back."""

import re

import chat_script
import support

# What a call costs beside its work, and memory that is not in a cache, do not repeat: they count for little here.
WARM = support.TASK.replace("M = 48", "M = 192").replace('cache = "cold"', 'cache = "warm"')
REPEATS = {4: 0.25, 2: 0.5}  # how fast a kernel is that does its work so many times over
OPEN = "//@ tune REPEAT in {4, 1, 2}  STRIP in {0, 16}\n//@ require STRIP > 0\n" + support.FASTER.replace(
    "    for (int64_t k = 0; k < K; ++k) {\n",
    "    for (int64_t r = 0; r < K * REPEAT; ++r) {\n      const int64_t k = r % K;\n      if (k == 0) {\n"
    "        for (int64_t j = 0; j < N; ++j) row[j] = 0.0f;\n      }\n")


class Tuning(support.TestCase):
    def run_with_open_kernels(self):
        script = {"model": chat_script.MODEL, "roles": {
            "planner": [{"text": chat_script.plan("Exchange the two inner loops ${answer}")}],
            "executor": [{"text": chat_script.fenced(OPEN)}],
            "summarizer": [{"text": "no optimization"}],
        }, "failures": []}
        server = self.server(script)
        finished = self.succeed("run", self.task(definition=WARM), "--workspace", self.workspace, "--json", "--base-url", server.url, "--model",
                                chat_script.MODEL, "--iterations", 2, "--beam", 1, "--plans", 1, "--attempts", 1, "--patience", 0)
        return server, finished

    def test_the_chosen_configuration_is_what_a_run_keeps_and_gives_back(self):
        server, finished = self.run_with_open_kernels()
        result = finished.last
        self.assertEqual(result["outcome"], "improved", finished)
        text = result["solution"]["sources"][0]["text"]
        self.assertTrue(text.startswith("//@ tune REPEAT in {1}  STRIP in {16}\n//@ require STRIP > 0\n"), text)
        self.assertEqual(result["evaluations"], 1, "the same open kernel is known in the second iteration")

        second = server.answered("planner")[-1]["body"]["messages"]
        question = "\n".join(message["content"] for message in second)
        self.assertIn("measuring 3 of the 3 configurations that REPEAT in {4, 1, 2}, STRIP in {0, 16} allowed. The chosen one: "
                      "REPEAT=1 STRIP=16.", question)
        for repeat, speed in REPEATS.items():
            told = float(re.search(rf"- REPEAT={repeat} STRIP=16: ([0-9.]+)\n", question)[1])
            self.assertLess(abs(told * speed - 1), 0.4, "times over the chosen one's")

        shown = self.succeed("show", "--workspace", self.workspace).out
        self.assertRegex(shown, r"REPEAT=1 STRIP=16, the fastest of 3 tried of 3 configurations, ")
        detail = self.succeed("show", "--workspace", self.workspace, "--json").last
        tuned = [step["tuning"] for step in detail["steps"] if "tuning" in step]
        self.assertEqual([tuning["chosen"] for tuning in tuned], [[1, 16]])
        self.assertEqual(self.succeed("show", "--workspace", self.workspace, "last", tuned[0]["source_id"][:12]).out, OPEN)

        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertEqual(replay["decision_hash"], result["decision_hash"])

        best = self.succeed("best", "--workspace", self.workspace).out
        self.assertTrue(best.startswith("#define REPEAT 1\n#define STRIP 16\n#include"), best)
        self.assertNotIn("//@", best)
        self.succeed("best", "--workspace", self.workspace, "--output", self.folder / "faster")
        self.succeed("lint", self.folder / "faster")


if __name__ == "__main__":
    support.main()
