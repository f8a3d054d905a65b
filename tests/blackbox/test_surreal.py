#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The knowledge store on a SurrealDB server, with the real program and the real engine (tests/fakes/surreal). Skipped where node or
the engine's package is not there."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support

SERVER = support.ROOT / "tests/fakes/surreal/server.mjs"
PACKAGES = pathlib.Path(os.environ.get("ACCELOPT_SURREAL_PACKAGES", support.ROOT / "build/surreal"))
PASSWORD = "correct:horse battery"


def missing():
    if shutil.which("node") is None:
        return "node is not installed"
    if not (PACKAGES / "node_modules/@surrealdb/node").is_dir():
        return f"the npm package @surrealdb/node is not in {PACKAGES} (make surreal fetches it)"
    return None


@unittest.skipIf(missing(), missing())
class SurrealTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.port = 0
        self.server = None
        self.start_server()
        self.addCleanup(self.kill_server)
        self.address = f"surreal://root@127.0.0.1:{self.port}/team/knowledge"
        self.environment["ACCELOPT_SURREAL_PASSWORD"] = PASSWORD

    def start_server(self):
        self.server = subprocess.Popen(
            ["node", SERVER, "--packages", PACKAGES, "--data", self.folder / "data", "--port", str(self.port), "--namespace", "team",
             "--database", "knowledge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "SURREAL_PASS": PASSWORD})
        said = self.server.stdout.readline()
        self.assertRegex(said, r"^listening \d+$")
        self.port = int(re.search(r"\d+", said).group())

    def kill_server(self):
        self.server.kill()
        self.server.wait()
        self.server.stdin.close()
        self.server.stdout.close()

    def memory(self, *arguments, **options):
        return self.accelopt("memory", *arguments, "--knowledge", self.address, **options)

    def run_task(self, task):
        return self.succeed("run", task, "--agents", "recipes", "--iterations", "1", "--plans", "2", "--seed", "5", "--knowledge",
                            self.address, "--json")

    def ids(self):
        listed = self.memory("list", "--limit", "0", "--json")
        self.assertEqual(listed.code, 0, listed)
        return [item["id"] for item in listed.lines]

    def test_a_store_that_is_killed_costs_nothing_and_gets_everything(self):
        task = self.task()
        self.run_task(task)
        first = self.ids()
        self.assertTrue(first)
        self.kill_server()
        away = self.run_task(task)
        self.assertNotIn(PASSWORD, away.said)
        self.start_server()
        self.assertEqual(self.ids(), first, "what was there outlived the kill; what was learned meanwhile waits in the journal")
        self.run_task(task)
        last = self.ids()
        self.assertEqual(len(last), len(set(last)))
        self.assertGreaterEqual(len(last), len(first))
        self.assertTrue(set(first) <= set(last))
        runs = {item["run"] for item in self.memory("list", "--limit", "0", "--json").lines}
        self.assertEqual(len(runs), 3, "the run that had no store is among them")

    def test_errors_say_what_to_do_and_never_the_password(self):
        for address, password, code, *patterns in (
                (self.address, "another", None, "refuses the user root", "ACCELOPT_SURREAL_PASSWORD"),
                (self.address, "", None, "no password", "ACCELOPT_SURREAL_PASSWORD"),
                (self.address.replace("/team/", "/nowhere/"), PASSWORD, None, "DEFINE NAMESPACE nowhere"),
                (self.address.replace("root@", f"root:{PASSWORD.split(':')[0]}@"), PASSWORD, None, "take it out"),
        ):
            refused = self.accelopt("memory", "list", "--knowledge", address,
                                    environment={**self.environment, "ACCELOPT_SURREAL_PASSWORD": password})
            self.assertNotEqual(refused.code, 0, refused)
            for pattern in patterns:
                self.assertIn(pattern, refused.said, refused)
            self.assertNotIn(PASSWORD, refused.said)

    def test_items_are_in_the_users_hands(self):
        (self.folder / "item.json").write_text(json.dumps({"title": "Fuse loops", "strategy": "Fuse adjacent loops.", "language": "cpp",
                                                           "target": "cpu", "op_type": "softmax"}), encoding="utf-8")
        self.assertEqual(self.memory("add", self.folder / "item.json").code, 0)
        (item,) = self.ids()
        self.assertIn("Fuse loops", self.memory("search", "adjacent").said)
        self.assertEqual(self.memory("forget", item).code, 0)
        self.assertEqual(self.ids(), [])


if __name__ == "__main__":
    support.main()
