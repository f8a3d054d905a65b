# SPDX-License-Identifier: Apache-2.0
"""`run --defer`, `worker --bundle`, `resume`: a run whose evaluations travel, to its end. (test_bundles_hostile.py: and all that can
happen to a bundle on its way.)"""

import json
import shutil

import chat_script
import support
from bundles import MOST_BUNDLES, SMALL, BundleTestCase

KEY = "sk-blackbox-bundles-81c2"


class Bundles(BundleTestCase):
    # The whole way

    def test_a_run_through_bundles_ends_as_a_connected_one(self):
        task = self.task()
        guessed = self.begin(task=task).lines[0]
        self.assertIn("guesses: no earlier run of this task for cpu in this workspace; bundles", guessed["basis"])
        first = self.manifest(next(self.bundles.iterdir()))
        self.assertEqual([item["request"]["op"] for item in first["items"]], ["open"], "the baseline's own evaluation")
        self.assertEqual((first["target"], first["device"], first["expected_device"]), ("cpu", "cpu", ""))
        deferred, bundles = self.to_the_end()
        self.assertEqual(deferred.code, 0, deferred)
        self.assertLessEqual(bundles, 5, "one for the baseline, one for all attempts, play-off, confirmation")
        connected = self.accelopt("run", task, "--workspace", self.folder / "other", "--json", *SMALL)
        self.assertEqual(connected.code, 0, connected)
        self.check_same_kind(deferred.last, connected.last)
        self.check_samples()
        self.check_environment_of_answers()
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertIs(replay["same"], True)
        self.assertEqual(replay["decision_hash"], deferred.last["decision_hash"])
        self.check_estimates(deferred.last)

    def check_estimates(self, deferred):
        """What a further run is told rests on what the bundles' device took."""
        wall = deferred["estimate"]["wall_seconds"]
        self.assertTrue(wall["inside"], wall)
        second = self.begin(*SMALL, task=self.folder / "task").lines[0]
        self.assertIn(f"1 earlier run of this task ({deferred['device']}), 1 of them by the same agents", second["basis"])
        self.assertIn("bundles are executed elsewhere", second["basis"])
        took = deferred["device_seconds"]
        self.assertTrue(second["device_seconds"]["low"] <= took <= second["device_seconds"]["high"], (second["device_seconds"], took))
        self.assertGreater(second["device_seconds"]["low"], 0.02 * took, "device time is known")

    def check_same_kind(self, deferred, connected):
        self.assertEqual(set(deferred), set(connected))
        for result in (deferred, connected):
            self.assertEqual((result["outcome"], result["reason"], result["bundles"]), ("improved", "", []))
            self.assertGreater(result["speedup"]["low"], 1.5)
            self.assertLessEqual(result["speedup"]["low"], result["speedup"]["estimate"])
        for field in ("task", "device", "trust", "iterations", "stopped_by", "usage"):
            self.assertEqual(deferred[field], connected[field], field)
        self.assertEqual([(w["name"], w["role"]) for w in deferred["workloads"]], [(w["name"], w["role"]) for w in connected["workloads"]])
        self.assertEqual(sum(deferred["counts"].values()), sum(connected["counts"].values()))

    def check_samples(self):
        """Every race and the confirmation have their samples, which give the verdicts again."""
        steps = self.steps()
        raced = [step for step in steps if step["kind"].split(":")[0] in ("triage", "confirm") and step.get("samples")]
        self.assertTrue(any(step["kind"].startswith("confirm") and len(step["samples"]) >= 32 for step in raced))
        self.assertTrue(any(step["kind"].startswith("triage") for step in raced))
        told = self.succeed("show", "--workspace", self.workspace, "--samples").out
        verdicts = [line for line in told.splitlines() if "from these samples" in line]
        self.assertTrue(verdicts)
        for line in verdicts:
            self.assertIn("as recorded", line)

    def check_environment_of_answers(self):
        kinds = [step["kind"] for step in self.steps()]
        self.assertEqual(len([k for k in kinds if k.startswith("bundle:")]), len([k for k in kinds if k.startswith("bundle_taken:")]))
        for bundle in self.bundles.iterdir():
            session = json.loads((bundle / "results" / "session-1.json").read_text(encoding="utf-8"))
            for field in ("device", "compiler", "flags", "isolation", "started", "program_version"):
                self.assertTrue(session[field], field)
            self.assertTrue(session["machine"]["system"])
            self.assertGreaterEqual(session["machine"]["cores"], 1)

    def test_bundles_travel(self):
        """Executed from a copy, without the run's folders in reach, and taken in from another place."""
        bundle = self.waiting_bundle(self.begin())
        away = self.folder / "away"
        shutil.copytree(bundle, away / "some name")
        shutil.move(self.workspace, self.folder / "hidden")
        self.succeed("worker", "--bundle", away / "some name")
        shutil.move(self.folder / "hidden", self.workspace)
        waits = self.resume()
        self.assertEqual(self.waiting_bundle(waits), bundle, "where it was written there are no results")
        finished = self.resume("--bundle", away)
        self.check_waits(finished)
        self.assertNotEqual(self.waiting_bundle(finished), bundle)
        self.assertIn("took in bundle", finished.out)
        again = self.resume("--bundle", away)
        self.check_waits(again)
        self.assertIn("taken in already", again.out)
        self.assertEqual(again.last["bundles"], finished.last["bundles"])

    def test_a_bundle_that_is_lost_is_written_again(self):
        bundle = self.waiting_bundle(self.begin())
        shutil.rmtree(self.bundles)
        lost = self.accelopt("resume", "--workspace", self.workspace, "--json")
        self.assertEqual(lost.code, 6, lost)
        self.assertIn("is not there", lost.out)
        self.assertIn("--defer", lost.out)
        again = self.resume("--defer", self.bundles)
        self.check_waits(again)
        fresh = self.waiting_bundle(again)
        self.assertNotEqual(fresh, bundle)
        self.assertEqual(len(self.items(fresh, "open")), 1, "it holds what the lost one held")
        self.assertEqual(self.execute().code, 0)
        finished = self.resume()
        self.check_waits(finished)
        self.assertTrue(self.items(self.waiting_bundle(finished), "build"), "the run goes on to its attempts")

    def test_a_model_is_asked_all_that_can_be_asked_before_the_run_stops(self):
        server = self.server(chat_script.script(key=KEY))
        self.environment["BLACKBOX_KEY"] = KEY
        arguments = ["--base-url", server.url, "--model", chat_script.MODEL, "--key-env", "BLACKBOX_KEY", "--iterations", 1, "--plans", 2,
                     "--attempts", 2, "--fixes", 3]
        self.begin(*arguments)
        self.assertEqual(server.requests, [], "no question before the baseline is known")
        self.execute()
        finished = self.resume()
        self.check_waits(finished)
        attempts = self.waiting_bundle(finished)
        self.assertEqual(len(server.answered("planner")), 1 + chat_script.ASKED_AGAIN)
        self.assertEqual(len(server.answered("executor")), 4)
        sources = {json.dumps(item["request"]) for item in self.items(attempts, "build")}
        self.assertEqual(len(sources), len(self.items(attempts, "triage")))
        self.assertGreaterEqual(len(sources), 3, "all attempts of the iteration, the failing ones included")
        asked = len(server.requests)
        waits = self.resume()
        self.assertEqual(waits.last["bundles"], finished.last["bundles"], "nothing new: nothing is asked, no bundle is written")
        self.assertEqual(len(server.requests), asked)
        self.execute()
        fixes = self.resume()
        self.check_waits(fixes)
        self.assertGreaterEqual(len(server.answered("fixer")), 2, "what failed went to the fixer")
        self.assertTrue(self.items(self.waiting_bundle(fixes), "playoff"), "and what the fixes are, programs that are known by now, races in the next bundle")
        for bundle in (attempts, self.waiting_bundle(fixes)):
            self.assertNotIn("rwo", "".join(path.read_text(encoding="utf-8") for path in bundle.rglob("*.json")), "what does not compile stays here")
        finished, _ = self.to_the_end()
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)
        self.assertEqual(len(server.answered("executor")), 4, "no answer is paid for twice")
        for path in self.bundles.rglob("*.json"):
            self.assertNotIn(KEY, path.read_text(encoding="utf-8"))

    def test_a_mailbox_and_bundles_together(self):
        """A person plays the model, and the device is elsewhere: each resume goes as far as what has come allows."""
        mailbox = self.folder / "mailbox"
        self.begin("--mailbox", mailbox, "--exit-when-waiting", "--iterations", 1, "--plans", 2, "--attempts", 1, "--fixes", 0)
        self.assertFalse(list(mailbox.glob("*.question.md")), "no question before the baseline is known")
        self.execute()
        asked = self.resume()
        self.assertEqual((asked.code, asked.last["outcome"], asked.last["bundles"]), (6, "waiting", []), asked)
        self.assertRegex(asked.last["reason"], "1 question is put off .*mailbox")
        self.answer(mailbox, [chat_script.plan("Exchange the loops") + "\n" + chat_script.plan("Unroll")])
        self.assertEqual(self.resume().last["bundles"], [])
        self.answer(mailbox, [chat_script.fenced(support.FASTER)])
        both = self.resume()
        self.check_waits(both)
        self.assertRegex(both.last["reason"], "worker --bundle .*; 1 question is put off")
        first = self.waiting_bundle(both)
        self.assertEqual(len(self.items(first, "build")), 1)
        self.answer(mailbox, [chat_script.fenced(chat_script.UNROLLED)])
        second = self.resume()
        self.check_waits(second)
        self.assertEqual(len(second.last["bundles"]), 2, "what has come meanwhile is a bundle of its own")
        self.assertNotIn("question", second.last["reason"])
        self.execute()
        for _ in range(MOST_BUNDLES):
            finished = self.resume()
            if finished.code != 6:
                break
            self.answer(mailbox, ["no optimization"] * len(self.unanswered(mailbox)))
            if finished.last["bundles"]:
                self.execute()
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)

    @staticmethod
    def unanswered(mailbox):
        questions = sorted(mailbox.glob("*.question.md"))
        return [q for q in questions if not q.with_name(q.name.replace(".question.md", ".answer.md")).exists()]

    def answer(self, mailbox, texts):
        """Answers as many of the open questions as there are texts."""
        open_questions = self.unanswered(mailbox)
        self.assertGreaterEqual(len(open_questions), len(texts))
        for question, text in zip(open_questions, texts):
            question.with_name(question.name.replace(".question.md", ".answer.md")).write_text(text, encoding="utf-8")

    def test_what_does_not_compile_does_not_travel(self):
        """The run's machine has the device's compiler: a misspelt source goes to the fixer at once, and its fix is in the first bundle of attempts."""
        executor = [{"texts": [chat_script.fenced(chat_script.DOES_NOT_COMPILE)]}]
        fixer = [{"texts": [chat_script.fenced(support.FASTER)]}]
        server = self.server(chat_script.script(executor=executor, fixer=fixer))
        self.begin("--base-url", server.url, "--model", chat_script.MODEL, "--iterations", 1, "--plans", 1, "--attempts", 1, "--fixes", 1)
        self.execute()
        attempts = self.resume()
        self.check_waits(attempts)
        self.assertIn("kernels are compiled here first", attempts.out)
        self.assertEqual(len(server.answered("fixer")), 1)
        sources = [self.manifest(self.waiting_bundle(attempts))]
        self.assertEqual(len(self.items(self.waiting_bundle(attempts), "build")), 1, sources)
        self.assertTrue(self.items(self.waiting_bundle(attempts), "confirm"), "all of the iteration is in one bundle")
        self.execute()
        finished = self.resume()
        self.assertEqual((finished.code, finished.last["outcome"], finished.last["evaluations"]), (0, "improved", 2), finished)
        self.assertEqual(finished.last["counts"], {"PASSED": 1}, "the fix stands for the attempt")
        builds = [step for step in self.steps() if step["kind"].startswith("build:")]
        self.assertEqual(len(builds), 2)
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertIs(replay["same"], True)

    def test_the_baseline_is_measured_by_the_first_bundle_alone(self):
        self.begin()
        self.execute()
        attempts = self.waiting_bundle(self.resume())
        known = self.manifest(attempts)["settings"]["known_baseline"]
        self.assertEqual((known["status"], known["kind"]), ("PASSED", "baseline"))
        done = self.execute()
        self.assertEqual(done.code, 0, done)
        self.assertIn("what was measured before is taken over", done.err)

    def test_a_budget_of_evaluations_holds_over_all_bundles(self):
        self.begin("--iterations", 2, "--beam", 2, "--plans", 3, "--agents", "recipes", "--max-evaluations", 2)
        finished, _ = self.to_the_end()
        self.assertIn(finished.code, (0, 3, 4), finished)
        self.assertRegex(finished.last["stopped_by"], "evaluations")
        self.assertEqual(sum(len(self.items(bundle, "build")) for bundle in self.bundles.iterdir()), 2)
        self.assertEqual(finished.last["evaluations"], 2)

    def test_a_run_that_began_elsewhere_is_not_mixed_with_this_device(self):
        """The journal says that everything so far was measured by another compiler."""
        bundle = self.waiting_bundle(self.begin())
        self.execute()

        def elsewhere(value):
            value["compiler"] = "g++ 1.2.3"

        def opened_elsewhere(value):
            value["result"]["device"]["compiler"] = "g++ 1.2.3"

        self.forge(bundle, "session-1.json", elsewhere)
        self.forge(bundle, self.items(bundle, "open")[0]["id"] + ".json", opened_elsewhere)
        waits = self.resume()
        self.check_waits(waits)
        self.assert_says(self.execute(self.waiting_bundle(waits)), 1, "g\\+\\+ 1.2.3", "nothing was measured")
        connected = self.resume("--worker", f"{support.program_folder()}/accelopt worker")
        self.assert_says(connected, 1, "g\\+\\+ 1.2.3", "cannot be compared")

    def test_a_baseline_that_fails(self):
        task = self.task(baseline=support.BASELINE.replace("float acc = 0.0f;", "float acc = 1.0f;"))
        self.begin(task=task)
        self.assertEqual(self.execute().code, 0)
        finished = self.resume()
        self.assert_says(finished, 5, "the baseline of small_matmul fails", "INCORRECT_NUMERICAL")


if __name__ == "__main__":
    support.main()
