# SPDX-License-Identifier: Apache-2.0
"""What the tests of bundles share: a run that puts off, executions, resumptions, and results that somebody forges."""

import hashlib
import json
import pathlib

import support

SMALL = ["--iterations", 1, "--beam", 2, "--plans", 2, "--agents", "recipes"]
MOST_BUNDLES = 12


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sealed(value, key):
    """The object with the hash that fits it, as an attacker would write it."""
    value = {k: v for k, v in value.items() if k != key}
    value[key] = hashlib.sha256(canonical(value).encode()).hexdigest()
    return canonical(value) + "\n"


class BundleTestCase(support.TestCase):
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
