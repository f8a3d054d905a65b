#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The knowledge store in many hands at once, damaged in part, and with odd files around it, with the real program."""

import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import threading
import time

import support

NOBODY = 65534
SLOW, FAST = "a\nslow\nb\n", "a\nfast\nb\n"


class MemoryStoreTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "k.db"

    def memory(self, *arguments, store=None, **options):
        return self.accelopt("memory", *arguments, "--knowledge", store or self.store, **options)

    def add(self, **fields):
        """One experience; gives its id."""
        added = self.memory("add", self.file("note.json", json.dumps({"title": "T", "strategy": "S", **fields})), "--json")
        self.assertEqual((added.code, added.last["new"]), (0, 1), added)
        return self.items()[0]["id"]

    def add_rewrite(self, **fields):
        rewrite = {"slow_kernel": SLOW, "fast_kernel": FAST, "title": "T", "summary": "S", "speedup": 2, **fields}
        added = self.memory("import", self.file("rewrite.json", json.dumps([rewrite])), "--json")
        self.assertEqual((added.code, added.last["new"]), (0, 1), added)
        return self.items()[0]["id"]

    def items(self):
        listed = self.memory("list", "--limit", "0", "--json")
        self.assertEqual(listed.code, 0, listed)
        return listed.lines

    def learn(self):
        """By a run that gains nothing: its kernels are measured by what their sources say."""
        run = self.accelopt("run", self.task(), "--agents", "recipes", "--iterations", "1", "--plans", "2", "--seed", "5", "--knowledge",
                            self.store, *support.steady_worker())
        self.assertEqual(run.code, 3, run)

    def meddle(self, statement, *values):
        """As somebody else who writes into the file."""
        with sqlite3.connect(self.store) as store:
            store.execute(statement, values)
        store.close()

    def test_edits_at_once_are_all_kept(self):
        it = self.add(language="cpp")
        wanted = {field: f"new {field}" for field in ("title", "strategy", "before", "after", "diff", "op_type", "target", "device", "bound",
                                                      "task", "model", "toolchain")}
        running = [self.start("memory", "edit", it, self.file(f"{field}.json", json.dumps({field: text})), "--knowledge", self.store)
                   for field, text in wanted.items()]
        running.append(self.start("memory", "quarantine", it, "--knowledge", self.store))
        for one in running:
            self.assertEqual(one.finish().code, 0)
        (item,) = self.items()
        self.assertEqual({field: item[field] for field in wanted}, wanted)
        self.assertTrue(item["quarantined"])

    def test_what_cannot_be_read_is_named_and_can_be_removed(self):
        broken, whole = self.add(title="Broken"), self.add(title="Whole", strategy="pack it")
        self.meddle("UPDATE items SET experience = '{\"title\":' WHERE id = ?", broken)
        for command in (("list",), ("search", "pack"), ("export",), ("stats",), ("graph",)):
            said = self.memory(*command)
            self.assert_says(said, 0, "one entry cannot be read" if command[0] != "search" else "")
            if command[0] != "search":
                self.assertIn(broken, said.err, said)
                self.assertIn("accelopt memory forget", said.err, said)
            if command[0] != "stats":
                self.assertIn("Whole", said.out, said)
        listed = self.memory("list", "--json").lines
        self.assertEqual([line["id"] for line in listed], [whole, broken])
        self.assertEqual((listed[1]["type"], listed[1]["schema"]), ("unreadable", 1))
        stats = self.memory("stats", "--json").last
        self.assertEqual([one["id"] for one in stats["unreadable"]], [broken])
        self.assert_says(self.memory("show", broken), 1, "cannot be read", f"accelopt memory forget {broken}")
        self.assert_says(self.memory("edit", broken, self.file("e.json", '{"title": "X"}')), 1, "cannot be read")
        # What was listed comes in elsewhere, without the one.
        elsewhere = self.memory("import", self.file("all.jsonl", self.memory("list", "--json").out), "--json", store=self.folder / "other.db")
        self.assertEqual((elsewhere.code, elsewhere.last["new"]), (0, 1), elsewhere)
        self.assertEqual(self.memory("forget", broken[:12]).code, 0)
        self.assertEqual(self.memory("list").err, "")

    def test_what_is_forgotten_takes_its_kernels_along(self):
        first = self.add_rewrite()
        second = self.add_rewrite(fast_kernel="a\nfaster\nb\n", title="T2")
        self.assertEqual(self.memory("stats", "--json").last["solutions"], 3)
        forgotten = self.memory("forget", first, "--json").last
        self.assertEqual((forgotten["id"], forgotten["solutions"]), (first, 1), "the slow kernel is the other's too")
        self.assertIn("with 2 kernels", self.memory("forget", second).out)
        self.assertEqual(self.memory("stats", "--json").last["solutions"], 0)
        self.assertNotIn(b"faster", b"".join(json.dumps(row).encode() for row in sqlite3.connect(self.store).execute("SELECT * FROM solutions")))

    def test_what_says_no_language_or_target_is_shown_to_planners(self):
        general = self.add(title="General")
        self.learn()
        decisions = self.succeed("show", "last", "--decisions", "--json").out
        self.assertIn(general, decisions)

    def test_lost_counts_of_languages_hide_nothing(self):
        it = self.add(language="cpp")
        self.meddle("DELETE FROM languages")
        self.assertEqual([item["id"] for item in self.items()], [it])
        self.assertEqual(self.memory("show", it).code, 0)

    def test_an_id_is_the_one_that_finds_it(self):
        it = self.add()
        self.meddle("UPDATE items SET experience = json_set(experience, '$.id', 'ffffffffffffffff')")
        (item,) = self.items()
        self.assertEqual(item["id"], it)
        self.assertEqual(self.memory("forget", item["id"]).code, 0)

    def test_changes_tell_what_they_did_as_json(self):
        it = self.add()
        store = {"schema": 1, "id": it, "store": str(self.store)}
        edit = self.memory("edit", it[:8], self.file("e.json", '{"title": "U", "strategy": "S"}'), "--json")
        self.assertEqual(edit.lines, [{**store, "type": "edit", "title": "U", "changed": ["title"]}])
        hidden = self.memory("quarantine", it, "--json")
        self.assertEqual(hidden.lines, [{**store, "type": "quarantine", "title": "U", "quarantined": True}])
        shown = self.memory("quarantine", it, "--lift", "--json")
        self.assertEqual(shown.lines, [{**store, "type": "quarantine", "title": "U", "quarantined": False}])
        gone = self.memory("forget", it, "--json")
        self.assertEqual(gone.lines, [{**store, "type": "forget", "title": "U", "solutions": 0}])

    def test_an_edit_refuses_what_it_does_not_change(self):
        it = self.add()
        (before,) = self.items()
        for field, value in {"id": "0123456789abcdef", "run": "mine", "iteration": 7, "created": "2020-01-01T00:00:00Z", "shown": 5, "used": 5,
                             "confirmed": 5, "refuted": 5}.items():
            said = self.memory("edit", it, self.file("e.json", json.dumps({field: value, "title": "U"})))
            self.assert_says(said, 1, f"{field} cannot be changed", "leave it out")
        self.assert_says(self.memory("edit", it, self.file("e.json", '{"quarantined": true}')), 1, "accelopt memory quarantine")
        self.assertEqual(self.items(), [before])
        # As it was shown it may come back.
        whole = {**self.memory("show", it, "--json").last, "title": "U"}
        whole.pop("quarantined")
        said = self.memory("edit", it, self.file("e.json", json.dumps(whole)))
        self.assertEqual((said.code, said.out), (0, f"{it} changed: title\n"), said)
        self.assertIn("already", self.memory("edit", it, self.file("e.json", '{"title": "U"}')).out)

    def test_numbers_without_sense_are_a_usage_error(self):
        self.add()
        for number in ("-1", "-2147483648", "1x", "1e3", "", "99999999999"):
            for command in (("list",), ("search", "T"), ("graph",)):
                self.assert_says(self.memory(*command, "--limit", number), 2, "--limit")
        self.assert_says(self.memory("graph", "--limit", "0"), 2, "--limit: must be 1 or more")

    def test_what_is_read_in_is_bounded(self):
        for device in ("/dev/zero", "/dev/null"):
            self.assert_says(self.memory("import", device, seconds=20), 1, f"{device}: is a device", "a file or a pipe")
        self.assert_says(self.memory("add", self.folder), 1, "is a folder")
        large = self.file("large.json", "")
        os.truncate(large, 300 << 20)
        self.assert_says(self.memory("import", large, seconds=60), 1, "large.json: over 256 MiB", "in pieces")
        program = support.program_folder() / "accelopt"
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run([program, "memory", "import", "-", "--knowledge", self.store], env=self.environment, cwd=self.folder, text=True,
                                  stdin=zeros, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard input: over 256 MiB", done.stderr)
        self.assertFalse(self.store.exists())
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text('{"title": "By pipe"}', encoding="utf-8"))
        writer.start()
        self.assertEqual(self.memory("import", pipe, "--json").last["new"], 1)
        writer.join()

    def test_kernels_too_long_to_compare_are_refused_by_name(self):
        lines = 40_000
        rewrites = [{"slow_kernel": SLOW, "fast_kernel": FAST, "title": "T"},
                    {"slow_kernel": "".join(f"a{i}\n" for i in range(lines)), "fast_kernel": "".join(f"b{i}\n" for i in range(lines)), "title": "U"}]
        began = time.monotonic()
        said = self.memory("import", self.file("long.json", json.dumps(rewrites)))
        self.assert_says(said, 1, "item 2: slow_kernel has 40000 lines", "5000")
        self.assertLess(time.monotonic() - began, 5)
        note = {"title": "T", "strategy": "S", "diff": "".join(f"+b{i}\n" for i in range(lines))}
        self.assertEqual(self.memory("add", self.file("note.json", json.dumps(note)), seconds=20).code, 0, "a diff is cut, not refused")

    def test_short_words_and_other_scripts_are_found(self):
        strategies = "Pack Q twice", "Gr\u00f6\u00dfere Kacheln", "\u5faa\u73af\u5c55\u5f00\u4f18\u5316"
        q, big, cjk = (self.add(strategy=strategy) for strategy in strategies)
        for text, it in (("q", q), ("GR\u00d6\u00dfERE", big), ("gr\u00f6\u00dfere", big), ("\u5c55\u5f00", cjk)):
            self.assertEqual([line["id"] for line in self.memory("search", text, "--json").lines], [it], text)

    def test_an_export_replaces_no_link_and_no_device(self):
        it = self.add()
        target, link, loop = self.folder / "target.jsonl", self.folder / "link.jsonl", self.folder / "loop"
        link.symlink_to(target.name)
        for _ in range(2):  # to nothing yet, and to a file
            self.assertEqual(self.memory("export", "--output", link).code, 0)
            self.assertTrue(link.is_symlink())
            self.assertEqual(json.loads(target.read_text())["id"], it)
        wal = self.folder / "wal"
        for name in ("k.db-wal", "k.db-shm"):  # what a reader leaves
            (self.folder / name).unlink(missing_ok=True)
        wal.symlink_to("k.db-wal")
        self.assert_says(self.memory("export", "--output", wal), 1, "the knowledge store itself")
        loop.symlink_to(loop)
        self.assert_says(self.memory("export", "--output", loop), 1, "links that lead to each other")
        self.assert_says(self.memory("export", "--output", self.folder), 1, "is a folder")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        running = self.start("memory", "export", "--output", pipe, "--knowledge", self.store)
        self.assertEqual(json.loads(pipe.read_text())["id"], it)
        self.assertEqual(running.finish().code, 0)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        device = self.folder / "device"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))  # always full
        except PermissionError:
            return
        self.assert_says(self.memory("export", "--output", device), 1, "No space left|Permission denied", "device")
        self.assertTrue(stat.S_ISCHR(device.stat().st_mode))
        disk = self.folder / "disk"
        os.mknod(disk, 0o666 | stat.S_IFBLK, os.makedev(7, 250))
        self.assert_says(self.memory("export", "--output", disk), 1, "is a disk; name a file")

    def test_an_export_carries_the_kernels(self):
        self.add_rewrite()
        self.add_rewrite(fast_kernel="a\nfaster\nb\n", title="T2")
        exported = self.memory("export")
        self.assertEqual([len(line["solutions"]) for line in exported.lines], [2, 1], "each once")
        other = self.folder / "other.db"
        file = self.file("all.jsonl", exported.out)
        self.assertEqual(self.memory("import", file, "--json", store=other).last["kernels_left_out"], 0)
        self.assertEqual(self.memory("export", store=other).out, exported.out)
        self.assertEqual(self.memory("stats", "--json", store=other).last["solutions"], 3)
        self.memory("import", file)
        self.assertEqual(self.memory("export").out, exported.out)

    def test_an_export_carries_the_kernels_of_a_run(self):
        self.learn()
        exported, other = self.memory("export"), self.folder / "other.db"
        self.assertGreater(sum(len(line.get("solutions", [])) for line in exported.lines), 1)
        imported = self.memory("import", self.file("all.jsonl", exported.out), "--json", store=other).last
        self.assertEqual((imported["new"], imported["kernels_left_out"]), (len(exported.lines), 0))
        self.assertEqual(self.memory("export", store=other).out, exported.out)

    def test_kernels_that_are_not_what_they_say_are_left_out(self):
        self.add_rewrite()
        line = self.memory("export").last
        slow, fast = line["solutions"]
        slow["sources"]["files"][0]["text"] = "another"
        line["solutions"] = [slow, fast, {"id": "0" * 64, "sources": {}}, 7, {**fast, "evaluation": "x" * (3 << 20)}]
        other = self.folder / "other.db"
        imported = self.memory("import", self.file("forged.jsonl", json.dumps(line)), "--json", store=other).last
        self.assertEqual((imported["new"], imported["kernels_left_out"]), (1, 4))
        (kept,) = self.memory("export", store=other).last["solutions"]
        self.assertEqual(kept["id"], fast["id"])

    def mounted(self, size):
        folder = self.folder / "mounted"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("a small disk cannot be mounted here: " + done.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", folder], check=False)
        return folder

    def test_a_full_disk(self):
        self.store = self.mounted("1m") / "k.db"
        self.add()
        for name in ("k.db-wal", "k.db-shm"):  # what a reader leaves
            (self.store.parent / name).unlink(missing_ok=True)
        with open(self.store.parent / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        self.assert_says(self.memory("list"), 1, "No space left", "free space on this disk", "reading takes a little too")
        self.assert_says(self.memory("add", self.file("n2.json", '{"title": "U"}')), 1, "No space left", "nothing that was kept is lost")
        (self.store.parent / "filler").unlink()
        self.assertEqual(len(self.items()), 1)

    def as_another_user(self, *arguments):
        """Root may write everywhere, so where the test is root the program is not."""
        self.folder.chmod(0o755)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        program = support.program_folder() / "accelopt"
        try:
            done = subprocess.run([program, "memory", *map(str, arguments), "--knowledge", self.store], env=self.environment, cwd=self.folder,
                                  text=True, capture_output=True, timeout=60, check=False, **user)
        except PermissionError:
            self.skipTest(f"another user may not run {program}")
        return support.Finished([*map(str, arguments)], done.returncode, done.stdout, done.stderr)

    def test_a_folder_that_may_not_be_written(self):
        it, source, note = self.add(), self.store, self.file("n2.json", '{"title": "U"}')
        for mode in (0o644, 0o666):
            closed = self.folder / f"closed{mode:o}"
            closed.mkdir()
            self.addCleanup(closed.chmod, 0o755)
            self.store = closed / "k.db"
            shutil.copy(source, self.store)
            self.store.chmod(mode)
            closed.chmod(0o555)
            listed = self.as_another_user("list", "--json")
            self.assertEqual([line["id"] for line in listed.lines], [it], listed)
            self.assert_says(self.as_another_user("add", note), 1, re.escape(str(closed)), "make it writable")
            # With changes beside the file, as a program that was killed leaves them.
            writer = sqlite3.connect(source)
            writer.execute("PRAGMA wal_autocheckpoint = 0")
            writer.execute("UPDATE items SET shown = shown + 1")
            writer.commit()
            closed.chmod(0o755)
            shutil.copy(source, self.store)
            shutil.copy(f"{source}-wal", f"{self.store}-wal")
            writer.close()
            self.store.chmod(mode)
            closed.chmod(0o555)
            for command in (("list",), ("add", note)):
                said = self.as_another_user(*command)
                self.assert_says(said, 1, re.escape(f"{self.store}-wal"), "copy both files", "make it writable")
                self.assertNotIn("a run makes it", said.err)


if __name__ == "__main__":
    support.main()
