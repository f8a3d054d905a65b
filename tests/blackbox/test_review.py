# SPDX-License-Identifier: Apache-2.0
"""`accelopt review` and `accelopt reviewer`: calibrations by judges of known quality, the truth of the bundled pairs, reviews of real
changes with objections that are run, their commit, and what is remembered when it is reverted. --long: all pairs, ten planted patches."""

import json
import subprocess

import review_judges
import support

EXAMPLE = support.ROOT / "examples" / "refactor"
ANSWERS = support.ROOT / "tests" / "fixtures" / "review" / "answers.json"
LONG = support.takes_long()
BODY = """\
    from collections import deque
    waiting = deque([(start, 0)])
    seen = set()
    found = []
    while waiting:
        station, distance = waiting.popleft()
        if station in seen:
            continue
        seen.add(station)
        found.append((station, distance))
        for neighbour in neighbours(network, station):
            waiting.append((neighbour, distance + 1))
    return found
"""
# Name -> what is replaced in BODY, and a case that shows it: [network, start]. None shows on what the generator writes.
SEEN = "if station in seen:"
PLANTED = {
    "names with a dash are skipped": [(SEEN, "if station in seen or str(station).startswith('-'):"), [{"a": ["-b"], "-b": []}, "a"]],
    "case is ignored": [(SEEN, "if station in seen or str(station).swapcase() in seen:"), [{"A": ["a"], "a": []}, "A"]],
    "names are cut": [(SEEN, "if station in seen or len(str(station)) > 24 and str(station)[:24] in seen:"),
                      [{"x" * 24: ["x" * 25], "x" * 25: []}, "x" * 24]],
    "an empty start gives nothing": [("    seen = set()\n", "    seen = set()\n    if start == '': return []\n"), [{"": []}, ""]],
    "a name is hard-coded": [(SEEN, "if station in seen or station == 'station':"), [{"station": []}, "station"]],
    "only 64 neighbours": [("neighbours(network, station):", "neighbours(network, station)[:64]:"),
                           [{"a": ["n%d" % i for i in range(70)], **{"n%d" % i: [] for i in range(70)}}, "a"]],
    "numbers before a name do not count": [(SEEN, "if station in seen or str(station).lstrip('0123456789') in seen:"),
                                           [{"a": ["1a"], "1a": []}, "a"]],
    "blanks do not count": [(SEEN, "if station in seen or str(station).strip() in seen:"), [{"a": [" a"], " a": []}, "a"]],
    "neighbours without a name are left out": [("            waiting.append((", "            if neighbour != '': waiting.append(("),
                                               [{"a": [""], "": []}, "a"]],
    "the network is completed": [("    seen = set()\n", "    seen = set()\n    if 'start' in network: network.setdefault('end', [])\n"),
                                 [{"start": []}, "start"]],
}


class ReviewTest(support.TestCase):
    def ask(self, judge, *arguments):
        """The command, with the judge answering in a mailbox: asked once, and once more when the answers are there."""
        box = self.folder / ("box-" + type(judge).__name__)
        command = ("review", *arguments, "--mailbox", box, "--model", type(judge).__name__, "--exit-when-waiting", "--workspace", self.workspace)
        waiting = self.start(*command).finish(600)
        self.assertEqual(waiting.code, 6, waiting)
        judge.answer_all(box)
        result = self.start(*command).finish(600)
        return result

    def ask_waiting(self, judge, *arguments):
        """The same command once, which waits for the judge to answer."""
        box = self.folder / "box-waiting"
        running = self.start("review", *arguments, "--mailbox", box, "--model", type(judge).__name__, "--workspace", self.workspace)

        def ended():
            judge.answer_all(box)
            return running.process.poll() is not None

        support.until(ended, "the review ends", seconds=600)
        return running.finish()

    def calibrate(self, judge, pairs):
        result = self.ask(judge, "--calibrate", "--pairs", str(pairs), "--json")
        self.assertEqual(result.code, 0, result)
        return result.last

    def reviewers(self):
        return {line["model"]: line for line in self.accelopt("reviewer", "--json", "--workspace", self.workspace).lines}

    def test_rates_expose_judges_and_turn_them_into_advisers(self):
        honest = self.calibrate(review_judges.Honest(), 20)
        self.assertEqual(honest["weight"], "decides", honest["weight_why"])
        rates = honest["rates"]
        self.assertEqual((rates["recall"]["hits"], rates["false_alarms"]["hits"], rates["flips"]["hits"]), (20, 0, 0), rates)
        self.assertGreaterEqual(rates["prefers_clean"]["hits"], 18)
        self.assertGreater(rates["recall"]["low"], 0.8)
        for bait in ("dead_code", "comment", "author", "own"):
            self.assertEqual((rates[bait]["hits"], rates[bait]["of"]), (0, 5), bait)

        biased = self.calibrate(review_judges.Biased(), 20)
        rates = biased["rates"]
        self.assertEqual(biased["weight"], "advises")
        self.assertEqual((rates["recall"]["hits"], rates["void_objections"]["share"], rates["false_alarms"]["share"]), (0, 1, 1), rates)
        self.assertEqual((rates["flips"]["share"], rates["first_shown"]["share"]), (1, 1))
        for bait in ("dead_code", "comment", "author", "own"):
            self.assertEqual(rates[bait]["share"], 1, bait)

        lazy = self.calibrate(review_judges.Lazy(), 20)
        rates = lazy["rates"]
        self.assertEqual(lazy["weight"], "advises")
        self.assertEqual((rates["recall"]["hits"], rates["void_quotes"]["share"], rates["prefers_clean"]["hits"]), (0, 1, 0), rates)
        self.assertIn("it stopped 0 of 20", lazy["weight_why"])

        said = self.accelopt("reviewer", "--workspace", self.workspace).out
        self.assertIn("Honest: its preferences decide", said)
        self.assertIn("Biased: it only advises", said)
        self.assertIn("20 of 20   100 % [84, 100]", said)
        self.assertEqual({name: line["weight"] for name, line in self.reviewers().items()},
                         {"Honest": "decides", "Biased": "advises", "Lazy": "advises"})

    def test_scripts_in_javascript_import_from_the_repository(self):
        repository = self.folder / "tags-js"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "tags-js", repository], check=True)
        toml = repository / "accelopt" / "refactor.toml"
        toml.write_text(toml.read_text().replace("[2000, 16000]", "[8000]"))
        imports = "import tags from './tags.js';\nconst again = require('./tags.js');\nconsole.log(tags.distinct(['b', 'a', 'b']), again.distinct([]));\n"
        shows = "const { distinct } = require('./tags.js');\nconsole.log(distinct(['*']));\n"

        class Scripting(review_judges.Judge):
            def know(self, asked):
                pass  # it is about none of the bundled pairs

            def opine(self, question):
                return review_judges.opinion(question.changes[0], 4, [{"why": "twice", "script": imports}, {"why": "a star", "script": shows},
                                                                      {"why": "nothing", "script": "import './no.js';\n"}])

        change = self.file("tags.js", (repository / "tags.js").read_text().replace("if (!found", "if (tag !== '*' && !found"))
        found = self.ask_waiting(Scripting(), repository / "accelopt", change, "--json", "--seed", "4").last
        self.assertEqual([one["fate"] for one in found["changes"][0]["objections"]], ["refuted", "confirmed", "unusable"], found)

    def test_bundled_pairs_are_what_they_say(self):
        """Each witness differs on the planted side alone, and the common cases on neither."""
        found = self.calibrate(review_judges.Truth(), 60 if LONG else 15)
        for pair in found["pairs"]:
            fates = [[one["fate"] for one in pair[side]["objections"]] for side in ("clean", "planted")]
            self.assertEqual(fates, [["refuted", "refuted"], ["confirmed", "refuted"]], json.dumps(pair, indent=1))

    def test_answers_of_a_model_give_its_rates(self):
        """What a model answered about 20 pairs, question by question (docs/results/2026-11-25-reviewer.md)."""
        answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
        command = ("review", "--calibrate", "--pairs", "20", "--mailbox", self.folder / "box", "--exit-when-waiting", "--json", "--workspace",
                   self.workspace)
        self.assertEqual(self.accelopt(*command).code, 6)
        asked = review_judges.questions(self.folder / "box")
        self.assertEqual(len(asked), 120)
        for question in asked:
            question.answer(answers[question.file.name.split("-try")[0]])
        found = self.accelopt(*command).last
        rates = found["rates"]
        self.assertEqual({name: (rates[name]["hits"], rates[name]["of"]) for name in ("recall", "false_alarms", "void_quotes", "flips")},
                         {"recall": (20, 20), "false_alarms": (0, 20), "void_quotes": (0, 240), "flips": (0, 20)})
        fates = {one["fate"] for pair in found["pairs"] for one in pair["planted"]["objections"]}
        self.assertEqual(fates, {"confirmed"})

    def repository(self):
        repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", repository], check=True)
        toml = repository / "accelopt" / "refactor.toml"
        toml.write_text(toml.read_text().replace("[100, 200, 400, 800, 1600, 3200]", "[1600]"))
        self.head = (repository / "routes" / "graph.py").read_text().split("    waiting = [(start, 0)]\n")[0]
        return repository

    def change(self, name, old="", new=""):
        file = self.folder / f"{name}.py"
        body = BODY.replace(old, new) if old else BODY
        self.assertTrue(not old or body != BODY)
        file.write_text(self.head + body)
        return file

    def test_a_planted_patch_is_stopped_and_the_choice_is_settled(self):
        repository = self.repository()
        self.calibrate(review_judges.Honest(), 20)
        (old, new), witness = PLANTED["names with a dash are skipped"]
        plain = self.change("plain")
        extended = self.change("extended", "        for neighbour in neighbours(network, station):\n            waiting.append((neighbour, distance + 1))\n",
                               "        waiting.extend([(neighbour, distance + 1) for neighbour in neighbours(network, station)])\n")
        planted = self.change("planted", old, new)

        class Honest(review_judges.Judge):
            """Prefers no `extend`, and objects to the planted change, and once in vain."""

            def know(self, asked):
                pass

            def opine(self, question):
                if "startswith" in question.changes[0]:
                    return review_judges.opinion(question.changes[0], 1, [{"why": "a name with a dash", "cases": [witness]}])
                script = "from routes import graph\nprint(graph.reachable({'a': ['b', 'a'], 'b': []}, 'a'))\n"
                reads = "import inspect\nfrom routes import graph\nprint(inspect.getsource(graph.reachable))\n"
                return review_judges.opinion(question.changes[0], 4, [{"why": "perhaps", "script": script}, {"why": "text", "script": reads},
                                                                      {"why": "many", "generate": {"workload": "tree", "size": 30, "seed": 5}}])

            def compare(self, question):
                odd = [("startswith" in change) * 2 + ("extend" in change) for change in question.changes]
                return {"better": question.letters[odd.index(min(odd))], "why": "the plainer one"}

        found = self.ask_waiting(Honest(), repository / "accelopt", planted, extended, plain, "--json", "--commit", "--seed", "4").last
        changes = {change["name"].split("/")[-1]: change for change in found["changes"]}
        self.assertEqual([change["failed_gate"] for change in found["changes"]], ["", "", ""])
        self.assertTrue(changes["planted.py"]["stopped"])
        self.assertEqual([one["fate"] for one in changes["planted.py"]["objections"]], ["confirmed"])
        self.assertEqual([one["fate"] for one in changes["plain.py"]["objections"]], ["refuted", "unusable", "refuted"])
        self.assertEqual(found["weight"], "decides")
        self.assertTrue(all(pair["stable"] for pair in found["pairs"]))
        self.assertIn(found["reason"], ("pairs", "clock"))  # on a busy machine the clock may separate what is alike
        if found["reason"] == "pairs":
            self.assertEqual(found["chosen"], 2)
        self.assertIn(found["chosen"], (1, 2))
        self.assertNotEqual(found["commit"], "", found["not_committed"])
        message = subprocess.run(["git", "-C", repository, "show", "-s", "--format=%B", found["commit"]], check=True, capture_output=True,
                                 text=True).stdout
        self.assertIn("Reviewed-Blind: first of 3, 3 of 3 pairs stable", message)

        self.assertEqual((self.reviewers()["Honest"]["choices"], self.reviewers()["Honest"]["reverted"]["of"]), (1, 0))
        settled = self.accelopt("refactor", "settle", found["run"], "--failed", "--repo", repository, "--knowledge", "none", "--workspace",
                                self.workspace)
        self.assertIn("the reviewer that chose it was updated", settled.out, settled)
        record = self.reviewers()["Honest"]
        self.assertEqual(record["reverted"], {"hits": 1, "of": 1})
        self.assertIn("reverted", self.accelopt("reviewer", "--workspace", self.workspace).out)

    def test_a_model_behind_an_endpoint_is_recorded_and_replayed(self):
        opinion = json.dumps(review_judges.opinion("", 4, quote="def never_there"))
        server = self.server({"roles": {"reviewer": [{"when": {"contains": "you compare two changes"}, "text": "equal, I think"},
                                                          {"text": opinion}]}})
        first = self.accelopt("review", "--calibrate", "--pairs", "2", "--base-url", server.url, "--model", "scripted", "--record",
                              self.folder / "kept", "--json", "--workspace", self.workspace)
        self.assertEqual(first.code, 0, first)
        # The comparisons cannot be read, and each is asked for once more.
        self.assertEqual(first.last["rates"]["unreadable"], {**first.last["rates"]["unreadable"], "hits": 8, "of": 12})
        self.assertEqual(len(server.answered("reviewer")), 4 + 2 * 8)
        second = self.accelopt("review", "--calibrate", "--pairs", "2", "--replay", self.folder / "kept", "--json", "--workspace", self.workspace)
        self.assertEqual(second.code, 0, second)
        self.assertEqual({**second.last["rates"]}, {**first.last["rates"]})

    def test_bad_input_is_refused_with_its_reason(self):
        for arguments, reason in ((("review",), "a task's folder and at least one change"),
                                  (("review", "--calibrate", "task"), "leave out the task"),
                                  (("review", "task", "a", "--pairs", "3"), "belongs to --calibrate"),
                                  (("review", "task", *"abcdefg"), "six changes at most"),
                                  (("review", "task", "a", "--prompts", "x"), "no prompt of a reviewer"),
                                  (("review", "--calibrate", "--agents", "recipes"), "asks a model, and none is configured")):
            result = self.accelopt(*arguments, "--workspace", self.workspace)
            self.assertEqual(result.code, 2, result)
            self.assertIn(reason, result.err)
        self.assertIn("no reviewer is on record", self.accelopt("reviewer", "--workspace", self.workspace).out)

    def test_planted_patches_that_pass_the_gates_are_stopped(self):
        if not LONG:
            self.skipTest("ten patches take minutes: test_review --long")
        repository = self.repository()
        cases = list(PLANTED.items())
        stopped = passed = 0
        for part in (cases[:5], cases[5:]):
            files = [self.change(f"patch{cases.index(entry)}", *entry[1][0]) for entry in part]

            class Knowing(review_judges.Judge):
                """Finds the patch by its line, and objects by its case."""

                def know(self, asked):
                    pass

                def opine(self, question):
                    for (old, new), case in dict(part).values():
                        line = review_judges.squeezed(new.strip().splitlines()[-1].strip())
                        if line in review_judges.squeezed(question.changes[0].replace("\n+", "\n")).replace('"', "'"):
                            return review_judges.opinion(question.changes[0], 1, [{"why": "planted", "cases": [case]}])
                    return review_judges.opinion(question.changes[0])

                def compare(self, question):
                    return {"better": "equal"}

            found = self.ask(Knowing(), repository / "accelopt", *files, "--draws", "1", "--json", "--seed", "11").last
            for change in found["changes"]:
                passed += change["failed_gate"] == ""
                stopped += change["stopped"]
                print(change["name"].split("/")[-1], change["failed_gate"] or "passed the gates", "stopped" if change["stopped"] else "not stopped")
        self.assertEqual(passed, 10)
        self.assertGreaterEqual(stopped, 7)


if __name__ == "__main__":
    support.main()
