# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor` for other goals than time: what is compared, what is claimed, in which words, and when nothing is."""

import json
import shutil
import subprocess

import support
from test_refactor import state_of
from test_refactor_search import MODEL, block, script

TASKS = support.ROOT / "exploits" / "refactor" / "tasks"
HONEST = support.ROOT / "exploits" / "refactor" / "honest"

READ_ALL = """\
    readings = []
    value = first
    for _ in range(count):
        value = (value * 1103515245 + 12345) % 2147483648
        readings.append(value)
    numbers = {}
    for reading in readings:
        key = str(reading % 100)
        numbers[key] = numbers.get(key, 0) + 1
    if not readings:
        raise ValueError("no readings")
    return {"least": min(readings), "greatest": max(readings), "numbers": sorted(numbers.items())}
"""


def body_of(change):
    """The body of the changed function of the self-test."""
    text = (HONEST / change).read_text()
    return text.split('on."""\n')[1]


class GoalCase(support.TestCase):
    TASK = ""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / self.TASK
        shutil.copytree(TASKS / self.TASK, self.repository, ignore=shutil.ignore_patterns("__pycache__"))
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "The task")
        self.task_folder = self.repository / "accelopt"

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.repository, *arguments], check=True, capture_output=True, text=True).stdout

    def changed(self, path, before, after):
        text = (self.repository / path).read_text()
        self.assertIn(before, text)
        return text.replace(before, after)

    def check(self, change, *options):
        file = self.folder / "change"
        file.write_text(change)
        result = self.start("refactor", "check", self.task_folder, file, "--knowledge", "none", "--seed", "7", "--workspace", self.workspace,
                            *options).finish()
        return result, json.loads(result.out) if "--json" in options else None


class MemoryTest(GoalCase):
    TASK = "readings"
    SOURCE = "readings/summary.py"

    def test_a_smaller_peak_becomes_a_commit_that_says_so(self):
        before = state_of(self.repository)
        change = self.changed(self.SOURCE, READ_ALL, body_of("one_reading_at_a_time.py"))
        pull_request = self.folder / "pr.md"
        result, found = self.check(change, "--json", "--commit", "--pr-text", pull_request)
        self.assertEqual((result.code, found["verdict"], found["goal"]), (0, "smaller", "memory"), json.dumps(found["gates"]))
        self.assertGreater(found["speedup"]["low"], 3)
        raced = next(one for one in found["workloads"] if (one["workload"], one["size"]) == ("random", 400000))
        # 400,000 whole numbers are 36 bytes each in a list, and start-up is in neither figure.
        self.assertAlmostEqual(raced["old_peak_bytes"] / 400000 / 36, 1, delta=0.25)
        self.assertLess(raced["new_peak_bytes"], 2 << 20)
        self.assertGreater(found["start_up_peak_bytes"]["old"], 4 << 20)
        self.assertLess(found["time"]["low"], 1.6, "less work as well, but it is not what is claimed")
        self.assertFalse(found["complexity"]["claimed"])
        message = self.git("log", "-1", "--format=%B", found["commit"])
        self.assertTrue(message.startswith("perf: Make summary need less memory\n"), message)
        self.assertRegex(message, r"\nMemory: 1/[0-9.]+x \[[0-9.]+, [0-9.]+\] at random n=400000 \(peak [0-9.]+ -> [0-9.]+ MiB\)\n")
        self.assertRegex(message, r"\nTime: [0-9.]+x \[[0-9.]+, [0-9.]+\], a guard\n")
        self.assertNotIn("Speed-Up", message)
        self.assertRegex(pull_request.read_text(), r"Peak of memory, old / new: \*\*[\s\S]*MiB \| [0-9.]+ MiB \|")
        report = self.succeed("report", found["run"], "-o", "-", "--workspace", self.workspace).out
        for words in ("needs", "less memory at its peak than before", "the old peak of memory / the new one: over 1 is smaller", "memory saved [95 %]",
                      "Processor time is a guard"):
            self.assertIn(words, report)
        self.assertNotIn("speed-up", report.lower())
        after = {name: entry for name, entry in state_of(self.repository).items() if not name.startswith((".git/objects/", ".git/refs/"))}
        self.assertEqual(after, {name: entry for name, entry in before.items() if not name.startswith((".git/objects/", ".git/refs/"))})

    def test_nothing_is_claimed_where_nothing_is_saved_or_time_is_lost(self):
        result, found = self.check(self.changed(self.SOURCE, READ_ALL, body_of("freed_too_late.py")), "--json")
        self.assertEqual((result.code, found["verdict"], found["failed_gate"]), (3, "not_smaller", ""), json.dumps(found["gates"]))
        # Half as much again: less than what pages and allocators hide is no difference.
        few = READ_ALL.replace("    numbers = {}\n", "    readings.extend(readings[:2000])\n    del readings[count:]\n    numbers = {}\n")
        result, found = self.check(self.changed(self.SOURCE, READ_ALL, few), "--json")
        self.assertEqual((found["verdict"], found["triage"]["estimate"]), ("not_smaller", 1), json.dumps(found["gates"]))
        said, _ = self.check(self.changed(self.SOURCE, READ_ALL, few))
        self.assertIn("not_smaller: 1.00x [1.00, 1.00]", said.out)

    def test_a_search_speaks_of_memory(self):
        server = self.server(script(executor=[{"text": block(READ_ALL, body_of("one_reading_at_a_time.py"), self.SOURCE)}]))
        finished = self.accelopt("refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", "none", "--seed", 7,
                                 "--iterations", 1, "--plans", 1, "--patience", 0, "--base-url", server.url, "--model", MODEL)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["goal"]), ("improved", "memory"), finished)
        self.assertGreater(result["speedup"]["low"], 3)
        raced = next(one for one in result["workloads"] if one["name"] == "random n=400000")
        self.assertGreater(raced["baseline_peak_bytes"], 3 * raced["best_peak_bytes"])
        asked = server.answered("planner")[0]["body"]["messages"]
        question = asked[-1]["content"]
        self.assertIn("What is to be made leaner in memory", question)
        self.assertRegex(question, r"random n=400000: a peak of 1[0-9.]+ MiB besides the start-up's")
        self.assertIn("peaks that are apart by less than 1 MiB or 2 % are alike", asked[0]["content"])
        self.assertNotIn("faster", question)
        message = self.git("log", "-1", "--format=%B", result["commit"])
        self.assertRegex(message, r"\nMemory: 1/[0-9.]+x ")
        for command, words in ((["show", "last"], "improved"), (["explain", "last"], "How readings became smaller"), (["runs"], "readings"),
                               (["explain", "last"], "less memory at its peak than the baseline"), (["report", "last", "-o", "-"], "memory saved [95 %]")):
            shown = self.succeed(*command, "--workspace", self.workspace)
            self.assertIn(words, shown.out, command)
            self.assertNotIn("faster", shown.out, command)

    def test_a_task_without_memory_to_compare_is_refused(self):
        toml = self.task_folder / "refactor.toml"
        text = toml.read_text()
        toml.write_text(text.replace("[50000, 400000]", "[100, 1000]").replace("[400000]", "[1000]"))
        self.fails(["refactor", "lint", self.task_folder], "random n=1000: the old code's peak memory is ", "too little to compare", "larger sizes")
        toml.write_text(text.replace('goal = "memory"', 'goal = "space"'))
        self.fails(["refactor", "lint", self.task_folder], 'refactor.toml:7', "memory")
        # A driver that keeps things elsewhere says so before anything is measured.
        toml.write_text(text)
        driver = self.task_folder / "driver.py"
        driver.write_text(driver.read_text() + "open(sys.argv[2] + '.more', 'w').close()\n")
        self.fails(["refactor", "lint", self.task_folder], "one process that writes nothing but its results")

    def fails(self, arguments, *words):
        failed = self.start(*arguments, "--workspace", self.workspace).finish()
        self.assertNotEqual(failed.code, 0, failed)
        for word in words:
            self.assertIn(word, failed.err + failed.out)


if __name__ == "__main__":
    support.main()
