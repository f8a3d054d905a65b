# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor` for other goals than time: what is compared, what is claimed, in which words, and when nothing is."""

import ctypes
import json
import re
import shutil
import subprocess
import unittest

import review_judges
import support
from test_refactor import state_of
from test_refactor_search import MODEL, block, script

TASKS = support.ROOT / "exploits" / "refactor" / "tasks"
BUSY_SECONDS = 400  # on a machine that others measure on as well, pairs wait for their turn
HONEST = support.ROOT / "exploits" / "refactor" / "honest"
ATTACKS = support.ROOT / "exploits" / "refactor" / "attacks"

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


def paid_for_with_time():
    """Less memory, and so many times slower that a busy machine does not hide it."""
    text = body_of("../attacks/memory_for_time.py")
    slower = text.replace("min(readings())", "min(min(readings()) for _ in range(9))")
    assert slower != text
    return slower


class GoalCase(support.TestCase):
    TASK = ""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / self.TASK
        shutil.copytree(TASKS / self.TASK, self.repository, ignore=shutil.ignore_patterns("__pycache__"))
        support.with_task(self.repository)
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
                            *options).finish(BUSY_SECONDS)
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
        raced = next(one for one in found["workloads"] if (one["workload"], one["size"]) == ("random", 200000))
        # 200,000 whole numbers are 36 bytes each in a list, and start-up is in neither figure.
        self.assertAlmostEqual(raced["old_peak_bytes"] / 200000 / 36, 1, delta=0.25)
        self.assertLess(raced["new_peak_bytes"], 2 << 20)
        self.assertGreater(found["start_up_peak_bytes"]["old"], 4 << 20)
        self.assertLess(found["time"]["low"], 1.6, "less work as well, but it is not what is claimed")
        self.assertFalse(found["complexity"]["claimed"])
        message = self.git("log", "-1", "--format=%B", found["commit"])
        self.assertTrue(message.startswith("perf: Make summary need less memory\n"), message)
        self.assertRegex(message, r"\nMemory: [0-9.]+x less \[[0-9.]+, [0-9.]+\] besides start-up at random n=200000 \(peak [0-9.]+ -> [0-9.]+ MiB\)\n")
        self.assertRegex(message, r"\nTime: [0-9.]+x \[[0-9.]+, [0-9.]+\], a guard(, with start-up)?\n")
        self.assertNotIn("Speed-Up", message)
        self.assertRegex(pull_request.read_text(), r"Peak of memory besides start-up, old / new: \*\*[\s\S]*MiB \| [0-9.]+ MiB \|")
        report = self.succeed("report", found["run"], "-o", "-", "--workspace", self.workspace).out
        for words in ("has a peak of memory besides its start-up", "as small as before", "the old peak of memory / the new one, both besides the start-up: over 1 is smaller", "memory saved [95 %]",
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
        self.assertEqual(said.code, 3, said)
        self.assertIn("not_smaller: 1.00x [1.00, 1.00]", said.out)

    def test_each_gate_is_told_as_it_ends_and_time_guards_the_race(self):
        slow = paid_for_with_time()
        file = self.folder / "change"
        file.write_text(self.changed(self.SOURCE, READ_ALL, slow))
        checking = self.start("refactor", "check", self.task_folder, file, "--knowledge", "none", "--seed", "7", "--workspace", self.workspace)
        support.until(lambda: "differential  passed" in checking.out_path.read_text(), "the comparison is told", running=checking, seconds=BUSY_SECONDS)
        self.assertIsNone(checking.process.poll(), "the race is to come")
        self.assertEqual([line.split()[0] for line in checking.out_path.read_text().splitlines()], ["scope", "build", "tests", "differential"])
        finished = checking.finish(BUSY_SECONDS)
        self.assertEqual(finished.code, 5, finished)
        self.assertRegex(finished.out, r"\ntriage        FAILED .*\n    random n=200000 became slower: old / new 0\.[0-9]+x \[0\.[0-9]+, 0\.[0-9]+\], and 5 % is allowed\n")
        self.assertEqual(finished.out.count("scope "), 1, "told once")
        self.assertIn("\nrefused", finished.out)

    @unittest.skipUnless(support.takes_long(), "takes minutes: --long")
    def test_what_is_slower_than_the_base_leaves_the_play_off(self):
        """A race against another change says nothing of the base's time; the play-off does."""
        packed = READ_ALL.replace("readings = []", 'readings = array("q")')
        packed = "    from array import array\n" + packed
        slow = paid_for_with_time()
        plans = ["Title: Packed\nRests on: none\nKeep the readings in an array.", "Title: Three passes\nRests on: none\nKeep none of them."]
        server = self.server(script(planner=[{"texts": plans}],
                                    executor=[{"texts": [block(READ_ALL, packed, self.SOURCE), block(packed, slow, self.SOURCE)]}]))
        finished = self.accelopt("refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", "none", "--seed", 7,
                                 "--iterations", 2, "--beam", 1, "--plans", 1, "--patience", 0, "--fixes", 0, "--base-url", server.url, "--model", MODEL,
                                 seconds=2 * BUSY_SECONDS)
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["counts"], {"PASSED": 2}, finished)
        self.assertEqual(finished.last["strategy"], "Packed")
        self.assertIn('array("q")', self.git("show", finished.last["commit"]))

    def test_a_search_speaks_of_memory(self):
        slow = block(READ_ALL, paid_for_with_time(), self.SOURCE)
        plans = "\n".join(f"Title: {title}\nRests on: none\nKeep no readings." for title in ("One at a time", "Three passes"))
        server = self.server(script(planner=[{"text": plans}],
                                    executor=[{"texts": [block(READ_ALL, body_of("one_reading_at_a_time.py"), self.SOURCE), slow]}]))
        finished = self.accelopt("refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", "none", "--seed", 7,
                                 "--iterations", 1, "--plans", 2, "--fixes", 0, "--schedule", "serial", "--patience", 0, "--base-url", server.url,
                                 "--model", MODEL, seconds=BUSY_SECONDS)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["goal"]), ("improved", "memory"), finished)
        self.assertEqual(result["counts"], {"PASSED": 1, "INCORRECT_NUMERICAL": 1}, "one is paid for with time")
        self.assertGreater(result["speedup"]["low"], 3)
        raced = next(one for one in result["workloads"] if one["name"] == "random n=200000")
        self.assertGreater(raced["baseline_peak_bytes"], 3 * raced["best_peak_bytes"])
        asked = server.answered("planner")[0]["body"]["messages"]
        question = asked[-1]["content"]
        self.assertIn("What is to be made leaner in memory", question)
        self.assertRegex(question, r"random n=200000: a peak of [678][0-9.]* MiB besides the start-up's")
        self.assertIn("peaks that are apart by less than 1 MiB or 2 % are alike", asked[0]["content"])
        self.assertNotIn("faster", question)
        message = self.git("log", "-1", "--format=%B", result["commit"])
        self.assertRegex(message, r"\nMemory: [0-9.]+x less ")
        for command, words in ((["show", "last"], "improved"), (["explain", "last"], "How readings became smaller"), (["runs"], "readings"),
                               (["explain", "last"], "as small as the baseline"), (["report", "last", "-o", "-"], "memory saved [95 %]")):
            shown = self.succeed(*command, "--workspace", self.workspace)
            self.assertIn(words, shown.out, command)
            # A page's marks have that for a class.
            self.assertNotIn("faster", re.sub(r"<style>[\s\S]*?</style>|<[^>]*>", " ", shown.out), command)

    def test_a_task_without_memory_to_compare_is_refused(self):
        toml = self.task_folder / "refactor.toml"
        text = toml.read_text()
        toml.write_text(text.replace("[20000, 200000]", "[100, 1000]").replace("[200000]", "[1000]"))
        self.fails(["refactor", "lint", self.task_folder], "random n=1000: the old code's peak memory is ", "too little to compare", "larger sizes")
        toml.write_text(text.replace('goal = "memory"', 'goal = "space"'))
        self.fails(["refactor", "lint", self.task_folder], 'refactor.toml:7', "memory")
        # A driver that keeps things elsewhere says so before anything is measured.
        toml.write_text(text)
        driver = self.task_folder / "driver.py"
        driver.write_text(driver.read_text() + "open(sys.argv[2] + '.more', 'w').close()\n")
        self.fails(["refactor", "lint", self.task_folder], "one process that writes nothing but its results")

    def test_a_driver_opens_its_results_to_write_alone(self):
        driver = self.task_folder / "driver.py"
        opened = 'with open(sys.argv[2], "w") as file:\n    json.dump(results, file)\n'
        text = driver.read_text()
        self.assertIn(opened, text)
        driver.write_text(text.replace(opened, opened.replace('"w"', '"w+"')))
        self.fails(["refactor", "lint", self.task_folder], "Permission denied", "write-only")
        driver.write_text(text.replace(opened, "try:\n    open(sys.argv[2], 'w+')\nexcept OSError:\n    pass\n"))
        self.fails(["refactor", "lint", self.task_folder], "driver.run writes no results on the old code", "write-only")

    def fails(self, arguments, *words):
        failed = self.start(*arguments, "--workspace", self.workspace).finish()
        self.assertNotEqual(failed.code, 0, failed)
        for word in words:
            self.assertIn(word, failed.err + failed.out)


class Reader(review_judges.Judge):
    """Finds every change right, and of two texts the one easier to read that `chooses` names: "early", or "first" as shown."""

    def __init__(self, chooses):
        super().__init__()
        self.chooses = chooses
        self.asked = []

    def answer_all(self, folder):
        for file in sorted(folder.glob("*reviewer*.question.md")):
            question = review_judges.Question(file)
            if "-readable-" not in file.name:
                question.answer({"better": "equal", "why": "alike"} if question.is_pair else review_judges.opinion(question.changes[0]))
                continue
            letters = dict(re.findall(r"^# Version (\w) .*\n```\n([\s\S]*?)\n```", question.user, re.MULTILINE))
            self.asked.append(letters)
            early = next(letter for letter, text in letters.items() if "kind = " in text)
            question.answer({"better": early if self.chooses == "early" else next(iter(letters)), "why": "it returns early"})


def reads_code():
    try:
        ctypes.CDLL("libtree-sitter.so.0")
    except OSError:
        return False
    return (support.ROOT / "build" / "grammars" / "rust.so").exists()


@unittest.skipUnless(reads_code(), "there is no libtree-sitter0, or there are no grammars in build/grammars; scripts/fetch-grammars.sh")
class ReadabilityTest(GoalCase):
    TASK = "labels"
    SOURCE = "shop/labels.py"

    def setUp(self):
        super().setUp()
        toml = self.task_folder / "refactor.toml"
        toml.write_text(toml.read_text().replace("[1000, 20000]", "[4000]").replace("20000", "4000"))
        self.nested = (self.repository / self.SOURCE).read_text().split('whom."""\n')[1]
        self.early = (HONEST / "early_returns.py").read_text().split('whom."""\n')[1]

    def changed_to(self, body):
        return self.changed(self.SOURCE, self.nested, body)

    def test_simpler_code_becomes_a_commit_that_says_so_and_no_more(self):
        pull_request = self.folder / "pr.md"
        result, found = self.check(self.changed_to(self.early), "--json", "--commit", "--pr-text", pull_request)
        self.assertEqual((result.code, found["verdict"], found["goal"]), (0, "simpler", "readability"), json.dumps(found["gates"]))
        self.assertEqual([gate["name"] for gate in found["gates"]][:3], ["scope", "text", "build"])
        of_text = found["readability"]
        self.assertEqual((of_text["before"], of_text["after"]),
                         ({"cognitive": 19, "nesting": 4, "statements": 14, "longest": 16}, {"cognitive": 8, "nesting": 2, "statements": 10, "longest": 14}))
        self.assertEqual((of_text["simpler"], of_text["preference"], [one["name"] for one in of_text["functions"]]), (True, "unasked", ["shop/labels.py#label"]))
        for end in ("low", "estimate", "high"):
            self.assertAlmostEqual(found["speedup"][end], 20 / 9, places=6)
        message = self.git("log", "-1", "--format=%B", found["commit"])
        self.assertTrue(message.startswith("refactor: Make label simpler\n"), message)
        self.assertIn("\nCognitive-Complexity: 19 -> 8\nNesting: 4 -> 2\nStatements: 14 -> 10\nTime: ", message)
        for claim in ("Speed-Up", "More-Readable", "faster"):
            self.assertNotIn(claim, message)
        self.assertIn("| shop/labels.py#label | 19 -> 8 | 4 -> 2 | 14 -> 10 |", pull_request.read_text())
        report = self.succeed("report", found["run"], "-o", "-", "--workspace", self.workspace).out
        for words in ("is simpler: cognitive complexity 19 -&gt; 8", "no reviewer has said in both orders", "Figures of the text, by function", "Times, which are a guard"):
            self.assertIn(words, report)

    def test_what_only_looks_simpler_is_not_claimed(self):
        golf = (ATTACKS / "golf_on_one_line.py").read_text().split('whom."""\n')[1]
        result, found = self.check(self.changed_to(golf), "--json")
        self.assertEqual((result.code, found["verdict"], found["failed_gate"]), (3, "not_simpler", ""), json.dumps(found["gates"]))
        self.assertEqual(found["readability"]["reason"], "its longest statement has 105 tokens, and 16 before")
        said, _ = self.check(self.changed_to(self.nested.replace("result", "text")))
        self.assertEqual(said.code, 3, said)
        self.assertIn("not simpler: its cognitive complexity was 19 and is 19", said.out)
        hidden = (ATTACKS / "branches_in_a_string.py").read_text().split('whom."""\n')[1]
        result, found = self.check(self.changed_to(hidden), "--json")
        self.assertEqual((result.code, found["verdict"], found["failed_gate"]), (5, "refused", "text"))
        self.assertIn("runs text as code", found["gates"][-1]["facts"][0])

    def review(self, judge):
        change = self.folder / "early.py"
        change.write_text(self.changed_to(self.early))
        box = self.folder / f"box-{judge.chooses}"
        command = ("review", self.task_folder, change, "--commit", "--seed", "5", "--knowledge", "none", "--mailbox", box, "--model", "reader",
                   "--exit-when-waiting", "--json", "--workspace", self.workspace)
        for _ in range(2):  # opinions, and which of the two is easier to read
            waiting = self.start(*command).finish(BUSY_SECONDS)
            self.assertEqual(waiting.code, 6, waiting)
            judge.answer_all(box)
        done = self.succeed(*command, seconds=BUSY_SECONDS).last
        self.assertEqual(len(judge.asked), 2)
        first, second = ([text for text in letters.values()] for letters in judge.asked)
        self.assertEqual(sorted(first), sorted(second))
        self.assertNotEqual(first, second, "each is shown first once")
        return self.git("log", "-1", "--format=%B", done["commit"])

    def test_more_readable_is_what_a_reviewer_says_in_both_orders(self):
        self.assertIn("\nMore-Readable: preferred in both orders by reader (a reviewer who is not calibrated)\n", self.review(Reader("early")))

    @unittest.skipUnless(support.takes_long(), "takes a minute: --long")
    def test_a_reviewer_who_takes_the_first_one_proves_nothing(self):
        message = self.review(Reader("first"))
        self.assertIn("Cognitive-Complexity: 19 -> 8", message)
        self.assertNotIn("More-Readable", message)

    @unittest.skipUnless(support.takes_long(), "takes a minute: --long")
    def test_a_search_speaks_of_simpler_code(self):
        server = self.server(script(executor=[{"text": block(self.nested, self.early, self.SOURCE)}]))
        finished = self.accelopt("refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", "none", "--seed", 7,
                                 "--iterations", 1, "--plans", 1, "--patience", 0, "--base-url", server.url, "--model", MODEL, seconds=BUSY_SECONDS)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual((result["outcome"], result["goal"]), ("improved", "readability"), finished)
        self.assertIn("cognitive complexity 19 -> 8, deepest nesting 4 -> 2, 14 -> 10 statements", result["notes"])
        question = server.answered("planner")[0]["body"]["messages"][-1]["content"]
        self.assertIn("What is to be made simpler to read", question)
        self.assertIn("shop/labels.py#label: cognitive complexity = 19", question)
        explained = self.succeed("explain", "last", "--workspace", self.workspace).out
        self.assertIn("How labels became simpler", explained)
        self.assertIn("as low as the baseline", explained)

    @unittest.skipUnless(support.takes_long(), "takes a minute: --long")
    def test_a_critical_search_waits_for_a_mailbox_to_say_what_is_easier_to_read(self):
        reader, box = Reader("early"), self.folder / "box"
        answers = {role: answer[0]["text"] for role, answer in script(executor=[{"text": block(self.nested, self.early, self.SOURCE)}])["roles"].items()}
        answers["tester"] = json.dumps({"tests": []})
        finished = self.start("refactor", "run", self.task_folder, "--workspace", self.workspace, "--json", "--knowledge", "none", "--seed", 7, "--iterations", 1,
                              "--patience", 0, "--critical", "--mailbox", box, "--model", MODEL, "--exit-when-waiting").finish(BUSY_SECONDS)
        for _ in range(12):
            if finished.code != 6:
                break
            self.assertEqual(self.git("branch", "--list", "accelopt/*"), "", "nothing is committed while somebody may still say what is easier to read")
            reader.answer_all(box)
            for file in sorted(box.glob("*.question.md")):
                role = next((role for role in answers if role in file.name), None)
                if role is not None:
                    file.with_name(file.name.replace(".question.md", ".answer.md")).write_text(answers[role])
            finished = self.start("resume", "last", "--workspace", self.workspace, "--json", "--exit-when-waiting").finish(BUSY_SECONDS)
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(len(reader.asked), 2, "both orders")
        message = self.git("log", "-1", "--format=%B", finished.last["commit"])
        self.assertIn("\nMore-Readable: preferred in both orders by", message)
        for command in (["explain", "last"], ["report", "last", "-o", "-"]):
            self.assertIn("prefers the new code in both orders", self.succeed(*command, "--workspace", self.workspace).out, command)


if __name__ == "__main__":
    support.main()
