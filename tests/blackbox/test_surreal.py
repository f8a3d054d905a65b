#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The knowledge store on a SurrealDB server, with the real program and the real engine (tests/fakes/surreal). Skipped where node or
the engine's package is not there."""

import json
import unittest

import support
from surreal_place import PASSWORD, SurrealServer, missing


@unittest.skipIf(missing(), missing())
class SurrealTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.server = SurrealServer(self.folder / "data")
        self.addCleanup(self.server.kill)
        self.address = self.server.address
        self.environment["ACCELOPT_SURREAL_PASSWORD"] = PASSWORD

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
        self.server.kill()
        away = self.run_task(task)
        self.assertNotIn(PASSWORD, away.said)
        self.server.start()
        elsewhere = self.accelopt("memory", "list", "--limit", "0", "--json", "--knowledge", self.address, "--workspace", self.folder / "none")
        self.assertEqual([item["id"] for item in elsewhere.lines], first,
                         "what was there outlived the kill; what was learned meanwhile waits in the journal")
        self.assertEqual(len({item["run"] for item in self.memory("list", "--limit", "0", "--json").lines}), 2, "a listing sends it")
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
