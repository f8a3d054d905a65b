#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A knowledge store that fails in the middle of a run costs nothing, with the real program: the run decides as the one that has
no store, says what befell, and once the store is back every experience arrives there, once and in order."""

import ctypes
import json
import os
import sqlite3
import unittest

import steady
import support
import surreal_place

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
FOREIGN = b"of another program\n" * 1000


class StoreFails(steady.SteadyTestCase):
    """The run is held in its middle, where some experiences have arrived; meanwhile the store fails."""

    def setUp(self):
        super().setUp()
        self.whole, questions = self.uninterrupted()
        self.questions = sum(questions.values())

    def memory(self, place, *arguments):
        return self.succeed("memory", *arguments, "--knowledge", place, "--workspace", self.workspace)

    def arrived(self, place):
        """Ids in order of insertion, asked without the run's workspace: this delivers nothing."""
        exported = self.succeed("memory", "export", "--knowledge", place, "--workspace", self.folder / "elsewhere")
        return [item["id"] for item in exported.lines]

    def learned(self):
        """Titles in the order in which the run learned."""
        rows = self.rows(self.workspace, "SELECT experience FROM experiences ORDER BY number")
        return [json.loads(row[0])["title"] for row in rows]

    def waiting(self):
        return len(self.rows(self.workspace, "SELECT 1 FROM parcels WHERE content IS NOT NULL"))

    def start_held(self, place, some_arrived):
        """A run that waits for an answer after its first iteration."""
        self.model.hold_from(self.questions // 2)
        running = self.start(*self.run_arguments(self.workspace), "--knowledge", place)
        support.until(lambda: self.model.holds() and some_arrived(), "the run has learned something and waits", running)
        return running

    def end(self, running):
        """The run goes on to its end, and decides as the one without a store."""
        self.model.let_go()
        finished = running.finish()
        self.assert_no_crash(finished)
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["decision_hash"], self.whole["decision_hash"], finished)
        self.assertEqual(finished.last["speedup"], self.whole["speedup"])
        self.assertIn("knowledge store", finished.out, "the run says so")
        self.assertIn("waits in its journal", finished.out)
        self.model.take()
        return finished

    def check_all_arrived(self, place, before):
        exported = self.memory(place, "export").lines
        self.assertEqual([item["title"] for item in exported], self.learned(), "every experience, once, in order")
        self.assertEqual([item["id"] for item in exported][:len(before)], before)
        self.assertGreater(len(exported), len(before), "some had to wait")
        self.assertEqual(self.waiting(), 0)

    def check(self, place, some_arrived, breaks, mends):
        """With `memory` commands: the first one sends what waits."""
        running = self.start_held(place, some_arrived)
        breaks()
        self.end(running)
        self.assertGreater(self.waiting(), 0)
        mends()
        before = self.arrived(place)
        self.assertNotEqual(before, [])
        self.assertGreater(self.waiting(), 0, "nothing was sent from elsewhere")
        self.assertRegex(self.memory(place, "stats").err, r"what had waited for .* has arrived \(\d+ deliver")
        self.check_all_arrived(place, before)
        self.assertNotIn("waited", self.memory(place, "list").err, "it is said once")


class FileFails(StoreFails):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "knowledge" / "k.db"

    def some_arrived(self):
        if not self.store.exists():
            return False
        connection = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM items").fetchone()[0] > 0
        except sqlite3.OperationalError:
            return False  # it is being made
        finally:
            connection.close()

    def move(self, source, target):
        for suffix in ("", "-wal", "-shm"):
            file = source.with_name(source.name + suffix)
            if file.exists():
                file.rename(target.with_name(target.name + suffix))

    def move_away(self):
        self.move(self.store, self.store.with_name("away"))

    def move_back(self):
        self.move(self.store.with_name("away"), self.store)

    def test_a_folder_in_its_place(self):
        def breaks():
            self.move_away()
            self.store.mkdir()

        def mends():
            self.store.rmdir()
            self.move_back()

        self.check(self.store, self.some_arrived, breaks, mends)

    def test_a_file_of_another_program_in_its_place(self):
        def breaks():
            self.move_away()
            self.store.write_bytes(FOREIGN)

        def mends():
            self.assertEqual(self.store.read_bytes(), FOREIGN, "what is not ours is left alone")
            self.store.unlink()
            self.move_back()

        self.check(self.store, self.some_arrived, breaks, mends)

    def test_resume_sends_what_waits(self):
        running = self.start_held(self.store, self.some_arrived)
        self.move_away()
        self.store.mkdir()
        self.end(running)
        self.store.rmdir()
        self.move_back()
        before = self.arrived(self.store)
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json")
        self.assertIn("has arrived", resumed.out)
        self.assertEqual(self.waiting(), 0)
        self.check_all_arrived(self.store, before)

    def test_a_store_that_comes_back_while_the_run_goes_on(self):
        running = self.start_held(self.store, self.some_arrived)
        self.move_away()
        self.store.mkdir()
        # Into the last iteration, whose end delivers.
        self.model.hold_from(self.questions - self.questions // 2 - 3)
        support.until(lambda: self.model.holds() and self.waiting() > 0, "an iteration ends without the store", running)
        self.store.rmdir()
        self.move_back()
        before = self.arrived(self.store)
        finished = self.end(running)
        self.assertIn("is back", finished.out)
        self.assertEqual(self.waiting(), 0)
        self.check_all_arrived(self.store, before)

    def test_what_was_hidden_stays_hidden_without_the_store(self):
        arguments = (*self.run_arguments(self.workspace), "--knowledge", self.store)
        self.succeed(*arguments)
        ids = self.arrived(self.store)
        self.assertGreater(len(ids), 2, "the run has learned something")
        elsewhere = ("--knowledge", self.store, "--workspace", self.folder / "elsewhere")
        hidden = set(ids[:-1:2])
        for number, one in enumerate(sorted(hidden)):
            self.succeed("memory", ("quarantine", "forget")[number % 2], one, *elsewhere)

        def shown(learned):
            """Those ids of what earlier runs have learned that the next run's planners are shown."""
            self.succeed(*arguments)
            decided = self.succeed("show", "--decisions", "--workspace", self.workspace, "--json").lines
            return {one for line in decided for places in line.get("shown", []) for one in places} & set(learned)

        self.assertEqual(shown(ids) & hidden, set())
        learned = self.arrived(self.store)
        self.move_away()
        self.store.mkdir()
        without = shown(learned)
        self.assertNotEqual(without, set(), "the journal's own are shown")
        self.assertEqual(without & hidden, set())

    def test_a_full_disk(self):
        """Of its own: the journal's has room."""
        libc = ctypes.CDLL(None, use_errno=True)
        disk = self.store.parent
        disk.mkdir()
        if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0 or \
                libc.mount(b"tmpfs", str(disk).encode(), b"tmpfs", 0, b"size=4194304") != 0:
            self.skipTest(f"no small disk can be mounted here ({os.strerror(ctypes.get_errno())}): it takes the right to mount")
        self.addCleanup(libc.umount2, str(disk).encode(), 2)

        def breaks():
            with open(disk / "filler", "wb", buffering=0) as filler:
                for size in (64 << 10, 1):
                    try:
                        while True:
                            filler.write(bytes(size))
                    except OSError:
                        pass

        self.check(self.store, self.some_arrived, breaks, (disk / "filler").unlink)


@unittest.skipIf(surreal_place.missing(), surreal_place.missing())
class ServerFails(StoreFails):
    def setUp(self):
        super().setUp()
        self.environment["ACCELOPT_SURREAL_PASSWORD"] = surreal_place.PASSWORD
        self.server = surreal_place.SurrealServer(self.folder / "data")
        self.addCleanup(self.server.kill)

    def some_arrived(self):
        return self.rows(self.workspace, "SELECT 1 FROM parcels WHERE content IS NULL") != []

    def test_a_server_that_is_killed_in_the_middle(self):
        self.check(self.server.address, self.some_arrived, self.server.kill, self.server.start)

    def test_a_server_that_comes_back_while_the_run_goes_on(self):
        running = self.start_held(self.server.address, self.some_arrived)
        self.server.kill()
        self.model.hold_from(self.questions - self.questions // 2 - 3)
        support.until(lambda: self.model.holds() and self.waiting() > 0, "an iteration ends without the store", running)
        self.server.start()
        before = self.arrived(self.server.address)
        finished = self.end(running)
        self.assertIn("is back", finished.out)
        self.check_all_arrived(self.server.address, before)


del StoreFails  # it is no test itself

if __name__ == "__main__":
    support.main()
