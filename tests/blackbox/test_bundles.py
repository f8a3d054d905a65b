# SPDX-License-Identifier: Apache-2.0
"""`run --defer`, `worker --bundle`, `resume`: a run whose evaluations travel, and every way in which a bundle can be bad."""

import hashlib
import json
import pathlib
import random
import shutil
import subprocess

import chat_script
import support

KEY = "sk-blackbox-bundles-81c2"
SMALL = ["--iterations", 1, "--beam", 2, "--plans", 2, "--agents", "recipes"]
MOST_BUNDLES = 12


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sealed(value, key):
    """The object with the hash that fits it, as an attacker would write it."""
    value = {k: v for k, v in value.items() if k != key}
    value[key] = hashlib.sha256(canonical(value).encode()).hexdigest()
    return canonical(value) + "\n"


class Bundles(support.TestCase):
    def setUp(self):
        super().setUp()
        self.bundles = self.folder / "bundles"

    def begin(self, *arguments, task=None):
        finished = self.accelopt("run", task or self.task(), "--workspace", self.workspace, "--json", "--defer", self.bundles,
                                 *(arguments or SMALL))
        self.check_waits(finished)
        return finished

    def check_waits(self, finished):
        self.assertEqual(finished.code, 6, finished)
        result = finished.last
        self.assertEqual((result["type"], result["outcome"], result["stopped_by"]), ("result", "waiting", "waiting"), finished)
        self.assertTrue(result["bundles"], finished)
        for folder in result["bundles"]:
            self.assertTrue((pathlib.Path(folder) / "bundle.json").exists(), finished)
        self.assertIn("accelopt worker --bundle", result["reason"])

    def execute(self, folder=None, *arguments):
        return self.accelopt("worker", "--bundle", folder or self.bundles, *arguments)

    def resume(self, *arguments):
        return self.accelopt("resume", "--workspace", self.workspace, "--json", *arguments)

    def to_the_end(self):
        """Executes and takes in bundle after bundle; the last resume, and how many bundles there were."""
        for number in range(1, MOST_BUNDLES):
            done = self.execute()
            self.assertEqual(done.code, 0, done)
            finished = self.resume()
            if finished.code != 6:
                return finished, number
            self.check_waits(finished)
        self.fail("the run does not end")

    def waiting_bundle(self, finished):
        self.assertEqual(len(finished.last["bundles"]), 1, finished)
        return pathlib.Path(finished.last["bundles"][0])

    def manifest(self, bundle):
        return json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))

    def items(self, bundle, op):
        return [item for item in self.manifest(bundle)["items"] if item["request"]["op"] == op]

    def steps(self):
        return self.succeed("show", "--workspace", self.workspace, "--json", "--samples").last["steps"]

    def forge(self, bundle, name, change):
        """Changes one file of the results, as somebody would who knows the format: all hashes fit."""
        path = bundle / "results" / name
        value = json.loads(path.read_text(encoding="utf-8"))
        change(value)
        text = sealed(value, "hash")
        path.write_text(text, encoding="utf-8")
        seal = json.loads((bundle / "results.json").read_text(encoding="utf-8"))
        seal["files"][name] = hashlib.sha256(text.encode()).hexdigest()
        (bundle / "results.json").write_text(sealed(seal, "hash"), encoding="utf-8")

    # The whole way

    def test_a_run_through_bundles_ends_as_a_connected_one(self):
        suite = support.SUITE / "matmul"
        self.begin(task=suite)
        first = self.manifest(next(self.bundles.iterdir()))
        self.assertEqual([item["request"]["op"] for item in first["items"]], ["open"], "the baseline's own evaluation")
        self.assertEqual((first["target"], first["device"], first["expected_device"]), ("cpu", "cpu", ""))
        deferred, bundles = self.to_the_end()
        self.assertEqual(deferred.code, 0, deferred)
        self.assertLessEqual(bundles, 5, "one for the baseline, one for all attempts, play-off, confirmation")
        connected = self.accelopt("run", suite, "--workspace", self.folder / "other", "--json", *SMALL)
        self.assertEqual(connected.code, 0, connected)
        self.check_same_kind(deferred.last, connected.last)
        self.check_samples()
        self.check_environment_of_answers()
        replay = self.succeed("replay", "--workspace", self.workspace, "--json").last
        self.assertIs(replay["same"], True)
        self.assertEqual(replay["decision_hash"], deferred.last["decision_hash"])

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
        finished, _ = self.to_the_end()
        self.assertEqual(finished.last["outcome"], "improved", finished)

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
        self.assertEqual(len(server.answered("planner")), 2 + chat_script.ASKED_AGAIN)
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
        self.assertTrue(self.items(self.waiting_bundle(fixes), "build"), "and the fixes are the next bundle")
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
        self.assertRegex(asked.last["reason"], "2 questions are put off .*mailbox")
        self.answer(mailbox, [chat_script.plan("Exchange the loops"), chat_script.plan("Unroll")])
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

    def test_killed_while_it_takes_in(self):
        """kill -9 at random instants of every resume: nothing is put off twice, and nothing that came back is lost."""
        seed = 20261121
        instants = random.Random(seed)
        self.begin("--iterations", 2, "--beam", 2, "--plans", 2, "--agents", "recipes", "--seed", 7)
        for _ in range(MOST_BUNDLES):
            self.assertEqual(self.execute().code, 0)
            for _ in range(3):
                running = self.start("resume", "--workspace", self.workspace, "--json")
                try:
                    running.process.wait(instants.uniform(0, 0.4))
                except subprocess.TimeoutExpired:
                    running.kill()
            finished = self.resume()
            if finished.code != 6:
                break
            self.check_waits(finished)
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), (seed, finished))
        asked = [item["id"] for bundle in self.bundles.iterdir() for item in self.manifest(bundle)["items"]]
        self.assertEqual(len(asked), len(set(asked)), (seed, "no request is in two bundles"))
        self.assertIs(self.succeed("replay", "--workspace", self.workspace, "--json").last["same"], True)

    def test_a_baseline_that_fails(self):
        task = self.task(baseline=support.BASELINE.replace("float acc = 0.0f;", "float acc = 1.0f;"))
        self.begin(task=task)
        self.assertEqual(self.execute().code, 0)
        finished = self.resume()
        self.assert_says(finished, 5, "the baseline of small_matmul fails", "INCORRECT_NUMERICAL")

    # The executing side distrusts a bundle

    def test_an_interrupted_execution_goes_on(self):
        self.begin()
        self.execute()
        bundle = self.waiting_bundle(self.resume())
        running = self.start("worker", "--bundle", bundle)
        results = bundle / "results"
        while running.process.poll() is None and not (results.exists() and len(list(results.glob("[0-9a-f]*.json"))) >= 3):
            pass
        running.kill()
        before = {path.name: path.read_bytes() for path in results.glob("[0-9a-f]*.json")}
        self.assertGreaterEqual(len(before), 3)
        self.assertFalse((bundle / "results.json").exists(), "it was not done")
        waits = self.resume()
        self.check_waits(waits)
        self.assertIn(f"{len(before)} of {len(self.manifest(bundle)['items'])} items are done", waits.out)
        finished = self.execute(bundle)
        self.assertEqual(finished.code, 0, finished)
        self.assertIn(f"{len(before)} done before", finished.out)
        for name, content in before.items():
            self.assertEqual((results / name).read_bytes(), content, "nothing is measured twice")
        self.assertTrue((results / "session-2.json").exists())
        again = self.execute(bundle)
        self.assertIn("executed already", again.out)
        self.check_waits(self.resume())

    def test_a_damaged_bundle_is_not_executed(self):
        self.begin()
        self.execute()
        bundle = self.waiting_bundle(self.resume())
        solution = next((bundle / "solutions").iterdir())
        manifest = bundle / "bundle.json"

        def rewritten(**fields):
            return lambda path: path.write_text(sealed(self.manifest(path.parent) | fields, "bundle"), encoding="utf-8")

        def with_item(**fields):
            def change(path):
                value = self.manifest(path.parent)
                value["items"][0] = value["items"][0] | fields
                path.write_text(sealed(value, "bundle"), encoding="utf-8")
            return change

        escape = {"op": "build", "solution": "../../../../etc/passwd"}
        for name, path, damage, patterns in [
            ("changed source", solution, lambda p: p.write_text(p.read_text().replace("float", "doubl")), ["damaged", "copy the bundle again"]),
            ("truncated source", solution, lambda p: p.write_bytes(p.read_bytes()[:100]), ["damaged"]),
            ("missing source", solution, lambda p: p.unlink(), ["no such file", "copy the bundle again"]),
            ("source is a link", solution, lambda p: (p.unlink(), p.symlink_to("/etc/passwd")), ["is a link"]),
            ("sources are a link", bundle / "solutions", lambda p: (shutil.rmtree(p), p.symlink_to("/etc")), ["is a link"]),
            ("changed task", bundle / "task.json", lambda p: p.write_text(p.read_text().replace("matmul", "matmul2")), ["task.json is damaged"]),
            ("missing task", bundle / "task.json", lambda p: p.unlink(), ["no such file"]),
            ("truncated manifest", manifest, lambda p: p.write_bytes(p.read_bytes()[:500]), ["bundle.json"]),
            ("changed manifest", manifest, lambda p: p.write_text(p.read_text().replace('"number":2', '"number":3')), ["hash"]),
            ("deep manifest", manifest, lambda p: p.write_text("[" * 100000), ["too deep"]),
            ("no manifest", manifest, lambda p: p.unlink(), ["is no bundle"]),
            ("newer layout", manifest, rewritten(schema=99), ["layout 99", "same version"]),
            ("a path for a source", manifest, with_item(request=escape), ["not named by its hash"]),
            ("another request", manifest, with_item(id="0" * 64), ["not what its id says"]),
            ("unknown request", manifest, with_item(request={"op": "format_disk"}), ["format_disk"]),
            ("no items", manifest, rewritten(items=[]), ["no list of items"]),
            ("endless settings", manifest, rewritten(settings=self.manifest(bundle)["settings"] | {"slots": 10**9}), ["settings"]),
            ("a compiler of its own", manifest, rewritten(compiler="/tmp/evil"), ["/tmp/evil", "--compiler"]),
            ("a device that is an option", manifest, rewritten(device="--help"), ["--device"]),
            ("another device", manifest, rewritten(expected_device="Abacus 3000"), ["Abacus 3000", "nothing was measured"]),
            ("another compiler", manifest, rewritten(expected_compiler="g++ 1.0"), ["g\\+\\+ 1.0", "nothing was measured"]),
        ]:
            with self.subTest(name):
                copy = self.folder / "copy" / bundle.name
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(bundle, copy)
                damage(copy / path.relative_to(bundle))
                self.assert_says(self.execute(copy), 1, *patterns)
                self.assertFalse((copy / "results.json").exists())
        self.assertEqual(self.execute(bundle).code, 0, "the bundle itself is whole")

    def test_results_stay_inside_the_bundle(self):
        bundle = self.waiting_bundle(self.begin())
        outside = self.folder / "outside"
        outside.mkdir()
        (bundle / "results").symlink_to(outside)
        self.assert_says(self.execute(bundle), 1, "is a link")
        self.assertEqual(list(outside.iterdir()), [])

    # The coordinator distrusts results

    def test_bad_results_are_refused_and_nothing_is_lost(self):
        self.begin()
        self.execute()
        bundle = self.waiting_bundle(self.resume())
        self.execute(bundle)
        whole = self.folder / "whole"
        shutil.copytree(bundle, whole)
        build = self.items(bundle, "build")[0]["id"] + ".json"
        race = self.items(bundle, "triage")[0]["id"] + ".json"

        def forged(name, change):
            return lambda folder: self.forge(folder, name, change)

        def set_result(**fields):
            return lambda value: value["result"].update(fields)

        other = self.folder / "other"
        self.accelopt("run", "task", "--workspace", other, "--json", "--defer", self.folder / "others", *SMALL)
        foreign = next((self.folder / "others").iterdir())
        self.execute(foreign)
        kept = self.steps()
        for name, damage, patterns in [
            ("truncated", lambda f: (f / "results" / build).write_bytes((f / "results" / build).read_bytes()[:50]), ["damaged"]),
            ("missing", lambda f: (f / "results" / race).unlink(), ["missing"]),
            ("a link", lambda f: ((f / "results" / race).unlink(), (f / "results" / race).symlink_to("/etc/passwd")), ["is a link"]),
            ("changed", lambda f: (f / "results" / race).write_text((f / "results" / race).read_text().replace("1", "2")), ["damaged"]),
            ("results of another bundle", lambda f: shutil.copy(foreign / "results.json", f / "results.json"), ["of another bundle"]),
            ("the list cut", lambda f: (f / "results.json").write_bytes((f / "results.json").read_bytes()[:80]), ["results.json"]),
            ("unknown status", forged(race, set_result(status="SPLENDID")), ["SPLENDID"]),
            ("no ratio", forged(race, set_result(ratio=None)), ["no ratio"]),
            ("a ratio that is none", forged(race, set_result(ratio={"estimate": -1, "low": 2, "high": "nan"})), ["interval"]),
            ("no machine code", forged(build, set_result(machine_code_id="")), ["machine code"]),
            ("of another type", forged(build, lambda v: v.update(result=[1])), ["result of item"]),
            ("left out", forged(race, lambda v: (v.pop("result"), v.update(skipped="no time"))), ["without cause"]),
            ("two answers", forged(race, lambda v: v.update(skipped="no time")), ["not one thing"]),
            ("another request", forged(race, lambda v: v.update(request="0" * 64)), ["another request"]),
            ("another device", forged("session-1.json", lambda v: v.update(device="Abacus 3000")), ["Abacus 3000", "cannot be compared"]),
            ("another compiler", forged("session-1.json", lambda v: v.update(compiler="tcc")), ["tcc", "cannot be compared"]),
            ("no such session", forged(race, lambda v: v.update(session=7)), ["session"]),
        ]:
            with self.subTest(name):
                shutil.rmtree(bundle)
                shutil.copytree(whole, bundle)
                damage(bundle)
                refused = self.resume()
                self.assert_says(refused, 1, "refused", *patterns)
                self.assertEqual(self.steps(), kept, "nothing was taken in")
        with self.subTest("another run's bundle"):
            self.assert_says(self.resume("--bundle", foreign), 1, "belongs to run", "--bundle")
        with self.subTest("a bundle that this run never wrote"):
            run = self.manifest(whole)["run"]
            stray = self.folder / "stray"
            shutil.copytree(foreign, stray)
            stray.joinpath("bundle.json").write_text(sealed(self.manifest(stray) | {"run": run}, "bundle"), encoding="utf-8")
            self.assert_says(self.resume("--bundle", stray), 1, "was not written by run")
        with self.subTest("no bundle at all"):
            self.assert_says(self.resume("--bundle", self.folder / "home"), 1, "no bundle")
        shutil.rmtree(bundle)
        shutil.copytree(whole, bundle)
        finished, _ = self.to_the_end()
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), "the run goes on as if nothing had been")

    def test_a_run_without_bundles_takes_none(self):
        self.succeed("run", self.task(), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 1)
        self.assert_says(self.resume("--bundle", self.folder), 2, "waits for no bundle", "--defer")


if __name__ == "__main__":
    support.main()
