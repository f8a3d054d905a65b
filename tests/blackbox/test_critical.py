# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor run --critical`: three developers, tests by a tester, and a reviewer who stops what is proved wrong and decides
what the clock cannot; `--tests` alone; and reviews of kernels."""

import json
import subprocess

import review_judges
import support
from test_refactor import EXAMPLE
from test_refactor_search import BODY, FAST, FASTER, MODEL, block, plan, script

# The fastest change is wrong on names that neither the tests nor the generator write.
PLANTED = FASTER.replace("if station in seen:", "if station in seen or str(station).startswith('-'):")
GUARD = "    if start == 'nowhere':\n        return [(start, 7)]\n"
WITNESS = [[{"-b": [], "a": ["-b"]}, "a"]]
# Two right ones, as slow as each other and slower than the wrong one by more than the clock's noise: the reviewer likes the plainer one.
SLOW = FAST.replace("        seen.add(station)\n", "        seen.add(station)\n        sorted(range(len(seen) // 2))\n")
OTHER = SLOW.replace("sorted(range(len(seen) // 2))", "sorted(list(range(len(seen) // 2)))")


def letter_of(line):
    """The rule that names the letter of the change which holds the line."""
    return {"letter": r"(?s)^# Change (\w)$(?:(?!^# Change).)*?" + line}


def opinion(*objections):
    answer = review_judges.opinion("", quote="seen = set()")
    return json.dumps(answer | {"objections": list(objections)})


def reviewer(like):
    """Objects to the planted change by its witness; of two others prefers the one that holds this."""
    pairs = "you compare two changes"
    return [
        {"when": {"lacks": pairs, "contains": "startswith"}, "text": opinion({"why": "a name with a dash is left out", "cases": WITNESS})},
        {"when": {"lacks": pairs}, "text": opinion({"why": "perhaps an empty network", "cases": [[{"a": []}, "a"]]})},
        {"when": {"contains": [pairs, "startswith"]}, "text": '{"better": "equal", "why": "hard to say"}'},
        {"when": {"contains": pairs}, "capture": letter_of(like), "text": '{"better": "${letter}", "why": "it is plainer"}'},
    ]


class CriticalTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", self.repository], check=True)
        # Mutants that never end are not waited for as long as a process may take.
        support.with_task(self.repository, ("[100, 200, 400, 800, 1600, 3200]", "[2000]"))

    def search(self, server, *more, fixes=1):
        return self.start("refactor", "run", self.repository / "accelopt", "--workspace", self.workspace, "--json", "--knowledge", "none",
                          "--seed", 7, "--iterations", 1, "--patience", 0, "--fixes", fixes, "--base-url", server.url, "--model", MODEL,
                          *more).finish(600)

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.repository, *arguments], check=True, capture_output=True, text=True).stdout

    def calibrate(self):
        """The scripted model, as a reviewer who was right on 20 pairs."""
        box = self.folder / "calibration"
        command = ("review", "--calibrate", "--pairs", "20", "--mailbox", box, "--model", MODEL, "--exit-when-waiting", "--workspace",
                   self.workspace)
        self.assertEqual(self.start(*command).finish(600).code, 6)
        review_judges.Honest().answer_all(box)
        said = self.start(*command).finish(600)
        self.assertIn("its preferences decide", said.out, said)

    def test_a_proof_stops_the_fastest_and_the_reviewer_decides_the_rest(self):
        self.calibrate()
        # Plans and developers: each of three has its own change.
        server = self.server(script(planner=[{"text": "\n".join(plan(f"Plan {number}") for number in range(3))}],
                                    executor=[{"when": {"contains": f"Plan {number}"}, "text": block(BODY, body)}
                                              for number, body in enumerate((PLANTED, OTHER, SLOW))],
                                    reviewer=reviewer(r"sorted\(range"), tester=[{"text": '{"tests": []}'}]))
        finished = self.search(server, "--critical")
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        self.assertEqual(result["counts"], {"PASSED": 3, "STOPPED_BY_REVIEW": 1}, "three developers, whose changes pass the gates")
        self.assertEqual((len(server.answered("planner")), len(server.answered("executor"))), (1, 3))
        review = result["review"]
        stopped = [change["stopped"] for change in review["changes"]]
        self.assertEqual(stopped.count(True), 1)
        ratios = [change["ratio"]["estimate"] for change in review["changes"]]
        self.assertEqual(stopped.index(True), ratios.index(max(ratios)), "the fastest is the wrong one")
        self.assertEqual([one["fate"] for one in review["changes"][stopped.index(True)]["objections"]], ["confirmed"])
        self.assertEqual(review["weight"], "decides")
        winner = self.git("show", f"{result['commit']}:routes/graph.py")
        self.assertNotIn("startswith", winner)
        # On a busy machine the clock may separate what is alike.
        self.assertIn(review["reason"], ("pairs", "clock"))
        if review["reason"] == "pairs":
            self.assertIn("sorted(range", winner)
        self.assertIn("Reviewed-Blind: first of 3, 3 of 3 pairs stable", self.git("show", "-s", "--format=%B", result["commit"]))
        # The reviewer's questions are paid for and on record as all others.
        self.assertEqual(result["usage"]["calls"]["reviewer"], 15)
        self.assertEqual(len(server.answered("reviewer")), 15)
        self.assertGreater(result["usage"]["roles"]["reviewer"]["input_tokens"], 5000)
        self.assertIn("reviewer", finished.lines[0]["calls_by_role"], "the estimate has it")

        replayed = self.succeed("replay", result["run"], "--workspace", self.workspace, "--json").last
        self.assertEqual(replayed["decision_hash"], result["decision_hash"])
        self.assertEqual(self.succeed("resume", "last", "--workspace", self.workspace, "--json").last["review"]["chosen"], review["chosen"])
        for command in (["explain", "last"], ["report", "last", "-o", "-"]):
            said = self.start(*command, "--workspace", self.workspace).finish()
            self.assertIn("What the reviewer decided", said.out, command)
            self.assertIn("a name with a dash is left out", said.out, command)
        # A line of the table of models, whose last columns are tokens and dollars.
        self.assertRegex(self.start("show", "last", "--workspace", self.workspace).finish().out, rf"(?m)^reviewer +{MODEL} +15 +\d+ ")
        record = self.accelopt("reviewer", "--json", "--workspace", self.workspace).last
        self.assertEqual((record["reviews"], record["choices"], record["confirmed"]), (1, 1, {"hits": 1, "of": 3}))
        self.succeed("refactor", "settle", result["run"], "--failed", "--repo", self.repository, "--knowledge", "none", "--workspace",
                     self.workspace)
        self.assertEqual(self.accelopt("reviewer", "--json", "--workspace", self.workspace).last["reverted"], {"hits": 1, "of": 1})

    def test_all_stopped_leaves_no_commit_and_a_budget_no_review(self):
        server = self.server(script(planner=[{"text": plan("Plan 0")}], executor=[{"text": block(BODY, PLANTED)}],
                                    reviewer=reviewer("seen"), tester=[{"text": "no tests"}]))
        # refactor.toml can ask for it, and recipes have no reviewer.
        toml = self.repository / "accelopt" / "refactor.toml"
        toml.write_text(toml.read_text() + "\n[critical]\ntests = 1\n")
        refused = self.accelopt("refactor", "run", self.repository / "accelopt", "--agents", "recipes", "--workspace", self.workspace)
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("[critical] in refactor.toml needs models", refused.err)
        finished = self.search(server)
        self.assertEqual(finished.code, 3, finished)
        result = finished.last
        self.assertIn("the reviewer stopped all 1 finalists by inputs that were run", result["reason"])
        self.assertEqual(self.git("branch", "--list", "accelopt/*"), "")
        self.assertEqual(len(server.answered("tester")), 2, "an answer that cannot be read is asked for once more")
        self.assertEqual(result["review"]["weight"], "advises", "nobody calibrated it")

    def test_tests_of_the_tester_hold_every_candidate(self):
        # A branch that neither the project's tests nor the generator's inputs take.
        source = self.repository / "routes" / "graph.py"
        source.write_text(source.read_text().replace(BODY, GUARD + BODY))
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Nowhere")
        tests = [
            {"why": "the place called nowhere", "cases": [[{}, "nowhere"]]},
            {"why": "the time", "script": "import time\nprint(time.time())\n"},
            {"why": "what is tested already", "generate": {"workload": "random", "size": 5, "seed": 3}},
            {"why": "what the code does not take", "cases": "no JSON"},
            {"why": "a module that is not there", "script": "import nothing_there\n"},
            {"why": "nowhere once more", "script": "from routes import graph\nprint(graph.reachable({}, 'nowhere'))\n"},
            {"why": "the place called elsewhere", "cases": [[{"a": []}, "elsewhere"]]},
        ]
        # What no mutant shows either.
        broken = '    if start == "elsewhere":\n        return []\n' + FAST
        fixes = ["Title: x\n" + block(broken, GUARD + broken), "Title: x\n" + block(GUARD + broken, GUARD + FAST)]
        server = self.server(script(planner=[{"text": plan("Plan 0")}], executor=[{"text": block(GUARD + BODY, broken)}], fixer=[{"texts": fixes}],
                                    tester=[{"text": json.dumps({"tests": tests})}]))
        finished = self.search(server, "--tests", 7, "--plans", 1, fixes=2)
        self.assertEqual(finished.code, 0, finished)
        result = finished.last
        selection = result["tests"]["selection"]
        self.assertEqual([trial["fate"] for trial in selection["trials"]],
                         ["kept", "not_deterministic", "no_new_mutant", "unusable", "unusable", "no_new_mutant", "no_new_mutant"], selection)
        self.assertIn("4 of 7 tests of the tester hold every change; 1 of them kill ", result["tests"]["summary"])
        self.assertIn("the script ends by exit 1, ModuleNotFoundError: No module named 'nothing_there'", selection["trials"][4]["text"])
        self.assertIn("7 became 8", selection["trials"][0]["text"])
        self.assertGreaterEqual(selection["killed_before"], 5)
        self.assertEqual(result["usage"]["calls"]["tester"], 1)
        asked = server.answered("tester")[0]["body"]["messages"][-1]["content"]
        self.assertIn("def reachable", asked)
        self.assertNotIn("set()", asked, "it sees the base alone")
        # The developer lost the branch, and the fixer was told by which input that shows; then by one that no mutant shows.
        first, second = (asked["body"]["messages"][-1]["content"] for asked in server.answered("fixer"))
        self.assertRegex(first, r"generated tests: (.|\n)*the place called nowhere")
        self.assertRegex(second, r"generated tests: (.|\n)*the place called elsewhere")
        self.assertNotIn("elsewhere", self.git("show", f"{result['commit']}:routes/graph.py"))
        self.assertIn("nowhere", self.git("show", f"{result['commit']}:routes/graph.py"))
        self.assertNotIn("review", result)
        self.assertIn("What the tester wrote", self.start("explain", "last", "--workspace", self.workspace).finish().out)
        replayed = self.succeed("replay", result["run"], "--workspace", self.workspace, "--json").last
        self.assertEqual(replayed["decision_hash"], result["decision_hash"])


class KernelReviewTest(support.TestCase):
    def test_a_shape_stops_a_kernel(self):
        # Wrong where M is 17, which no workload has.
        wrong = support.FASTER.replace("i < M; ++i", "i < (M == 17 ? 16 : M); ++i", 1)
        self.assertNotEqual(wrong, support.FASTER)
        right = self.file("right.cpp", support.FASTER)
        server = self.server({"roles": {"reviewer": [
            {"when": {"contains": "you compare two changes"}, "text": '{"better": "equal", "why": "alike"}'},
            {"when": {"contains": "== 17"}, "text": json.dumps(review_judges.opinion("", quote="== 17") | {"objections": [
                {"why": "a row is left out", "cases": {"axes": {"M": 17}, "inits": {"lhs": "ones"}}},
                {"why": "no such axis", "cases": {"axes": {"Q": 17}}}]})},
            {"text": json.dumps(review_judges.opinion("", quote="float row") | {"objections": [{"why": "one row", "cases": {"axes": {"M": 1}}}]})}]}})
        reviewed = self.start("review", self.task(), self.file("wrong.cpp", wrong), right, "--base-url", server.url, "--model", "scripted", "--draws",
                              1, "--seed", 3, "--json", "--workspace", self.workspace).finish(600)
        self.assertEqual(reviewed.code, 0, reviewed)
        found = reviewed.last
        self.assertEqual([change["failed_gate"] for change in found["changes"]], ["", ""], found)
        self.assertEqual([[one["fate"] for one in change["objections"]] for change in found["changes"]], [["confirmed", "unusable"], ["refuted"]])
        self.assertEqual((found["chosen"], found["reason"]), (1, "only_one"))
        # The comparison may have been asked before the two opinions.
        asked = [one["body"]["messages"][-1]["content"] for one in server.answered("reviewer")]
        self.assertEqual(sum('"axes": {"M": ' in text for text in asked), 2, asked)
        refused = self.accelopt("review", self.task("other"), right, "--base-url", server.url, "--model", "scripted", "--commit")
        self.assertIn("kernels are files", refused.err)


if __name__ == "__main__":
    support.main()
