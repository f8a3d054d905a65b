# SPDX-License-Identifier: Apache-2.0
"""Bundles that are interrupted, damaged, forged or another's: nothing of a bad one is executed or taken in, and nothing is lost."""

import json
import random
import shutil
import subprocess

import support
from bundles import MOST_BUNDLES, SMALL, BundleTestCase, sealed


class HostileBundles(BundleTestCase):
    def test_killed_while_it_takes_in(self):
        """kill -9 at random instants of every resume: nothing is put off twice, and nothing that came back is lost."""
        seed = 20261121
        instants = random.Random(seed)
        self.begin("--iterations", 2, "--beam", 1, "--plans", 2, "--agents", "recipes", "--seed", 7)
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
        ended = self.resume()
        self.assertEqual((ended.code, ended.last["outcome"]), (0, "improved"), ended)

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
            ("newer schema", manifest, rewritten(schema=99), ["schema 99 is newer", "use a newer accelopt"]),
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
        ended = self.resume()
        self.assertEqual((ended.code, ended.last["outcome"]), (0, "improved"), "the run goes on as if nothing had been")
        self.assertGreater(len(self.steps()), len(kept))

    def test_a_run_without_bundles_takes_none(self):
        self.succeed("run", self.task(), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 1)
        self.assert_says(self.resume("--bundle", self.folder), 2, "waits for no bundle", "--defer")


if __name__ == "__main__":
    support.main()
