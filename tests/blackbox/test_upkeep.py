# SPDX-License-Identifier: Apache-2.0
"""`config`, `gc` and `--export-markdown`: what a person looks up, cleans up and passes on."""

import contextlib
import fcntl
import hashlib
import json
import os
import sqlite3
import time

import support
from support import FASTER, steady_worker

CONFIG = """\
[models.default]
base_url = "http://localhost:8000/v1"
model = "some-model"
key_command = "echo sk-from-a-command"
temperature = 0.5

[roles]
planner = "thinker"

[models.thinker]
api = "anthropic"
model = "other-model"
key_env = "THINKER_KEY"

[search]
near_roofline = 0.02
"""
KEY = "sk-very-secret-key"


class Config(support.TestCase):
    def settings(self, *arguments, environment=None):
        line = self.succeed("config", "--workspace", self.workspace, "--json", *arguments, environment=environment).last
        self.assertEqual((line["type"], line["schema"]), ("config", 1))
        return {setting["name"]: (setting["value"], setting["from"]) for setting in line["settings"]}

    def test_defaults_flags_and_presets(self):
        settings = self.settings()
        self.assertEqual(settings["search.beam"], ("3", "default"))
        self.assertEqual(settings["agents"], ("recipes", "default"))
        self.assertEqual(settings["search.attempts"], ("1", "default for recipes"))
        self.assertEqual(settings["measure.seed"], ("drawn for each run", "default"))
        self.assertEqual(settings["knowledge"], ("none", "ACCELOPT_KNOWLEDGE"))
        self.assertEqual(settings["workspace"], (str(self.workspace), "--workspace"))
        settings = self.settings("--preset", "paper", "--beam", 4, "--seed", 7, "--device", "cpu:0", "--knowledge", "k.db",
                                 "--max-time", "3m")
        self.assertEqual(settings["search.beam"], ("4", "--beam"))
        self.assertEqual(settings["search.plans"], ("12", "--preset paper"))
        self.assertEqual(settings["search.max_seconds"], ("180.0", "--max-time"))
        self.assertEqual(settings["measure.protocol"], ("paper", "--preset paper"))
        self.assertEqual(settings["measure.seed"], ("7", "--seed"))
        self.assertEqual(settings["device"], ("cpu:0", "--device"))
        self.assertEqual(settings["knowledge"], (str(self.folder / "k.db"), "--knowledge"))

    def test_files_and_the_environment_and_no_key(self):
        self.workspace.mkdir()
        file = self.workspace / "accelopt.toml"
        file.write_text(CONFIG, encoding="utf-8")
        environment = self.environment | {"THINKER_KEY": KEY, "ACCELOPT_SURREAL_PASSWORD": "hunter2", "ACCELOPT_PYTHON": "/usr/bin/python3"}
        settings = self.settings(environment=environment)
        self.assertEqual(settings["search.near_roofline"], ("0.02", str(file)))
        self.assertEqual(settings["executor.model"], ("some-model", str(file)))
        self.assertEqual(settings["executor.key"], ("printed by key_command", str(file)))
        self.assertEqual(settings["executor.temperature"], ("0.5", str(file)))
        self.assertEqual(settings["planner.api"], ("anthropic", str(file)))
        self.assertEqual(settings["planner.key"], ("in the variable THINKER_KEY (set)", str(file)))
        self.assertEqual(settings["ACCELOPT_SURREAL_PASSWORD"], ("set", "environment"))
        self.assertEqual(settings["ACCELOPT_PYTHON"], ("set", "environment"))
        self.assertEqual(settings["file"][1], "not there", "the user's own, the last one of the list")
        self.assertEqual(self.settings("--near-roofline", "0.1")["search.near_roofline"], ("0.1", "--near-roofline"))
        table = self.succeed("config", "--workspace", self.workspace, environment=environment).said
        self.assertRegex(table, r"(?m)^setting +value +from$")
        self.assertRegex(table, r"(?m)^planner\.key +in the variable THINKER_KEY \(set\) ")
        for secret in (KEY, "hunter2", "sk-from-a-command"):
            self.assertNotIn(secret, table + json.dumps(settings))
        self.assertFalse((self.workspace / "accelopt.db").exists(), "it begins nothing")

    def test_what_a_run_refuses_is_refused(self):
        self.assert_says(self.accelopt("config", "--beam", 0), 2, "beam")
        self.assert_says(self.accelopt("config", "--no-memory", "--memory", "ranked"), 2, "--no-memory")


class Gc(support.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def a_run(self):
        finished = self.accelopt("run", self.task(), "--workspace", self.workspace, "--iterations", 1, *steady_worker())
        self.assertEqual(finished.code, 3, f"the worker believes what sources say, and recipes say nothing\n{finished}")

    def orphan(self, text=b"nobody's"):
        name = hashlib.sha256(text).hexdigest()
        path = self.workspace / "objects" / name[:2] / name[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        return path

    def objects(self):
        return {path for path in (self.workspace / "objects").rglob("*") if path.is_file()}

    def texts(self):
        """Small objects, which are rows of the journal."""
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db")) as journal:
            return {row[0] for row in journal.execute("SELECT hash FROM texts")}

    def gc(self, *arguments):
        return self.succeed("gc", "--workspace", self.workspace, "--json", *arguments).last

    def test_only_what_nothing_refers_to_goes(self):
        self.a_run()
        shown = self.succeed("show", "--workspace", self.workspace, "--json", "--samples").out
        kept, texts = self.objects(), self.texts()
        self.assertTrue(texts)
        orphan = self.orphan()
        unfinished = orphan.with_suffix(".aB3dE6")
        unfinished.write_bytes(b"half")
        with contextlib.closing(sqlite3.connect(self.workspace / "accelopt.db")) as journal, journal:
            journal.execute("INSERT INTO texts(hash, bytes) VALUES(?, ?)", (hashlib.sha256(b"small").hexdigest(), "small"))
        foreign = self.workspace / "objects" / "notes.txt"
        foreign.write_text("mine")
        looked = self.gc("--dry-run")
        self.assertEqual((looked["dry_run"], looked["objects"], looked["object_bytes"]), (True, 3, 17))
        self.assertTrue(orphan.exists() and unfinished.exists())
        done = self.gc()
        self.assertEqual((done["objects"], done["object_bytes"], done["objects_kept"]), (3, 17, len(kept) + len(texts)))
        self.assertEqual(self.texts(), texts)
        self.assertEqual(self.objects(), kept | {foreign})
        self.assertEqual(self.gc()["objects"], 0)
        self.assertEqual(self.succeed("show", "--workspace", self.workspace, "--json", "--samples").out, shown)
        self.assertIs(self.succeed("replay", "--workspace", self.workspace, "--json").last["same"], True)
        said = self.succeed("gc", "--workspace", self.workspace, "--dry-run").out
        self.assertRegex(said, r"\Awould free 0 B in .*: 0 objects that no run refers to \(\d+ stay\)\nwould free 0 B .*\nwould free 0 B of agents' commands")

    @staticmethod
    def folder_name(prefix, digits):
        """As the program names its temporary folders: with a hash of what precedes it."""
        name = f"{prefix}.{digits}"
        return f"{name}-{hashlib.sha256(f'accelopt temporary folder {name}'.encode()).hexdigest()[:8]}"

    def test_abandoned_folders_go_and_used_ones_stay(self):
        self.a_run()
        self.assertEqual(list(self.temporary.iterdir()), [], "a run leaves nothing there")
        abandoned, used, young = (self.temporary / self.folder_name(*name) for name in
                                  (("accelopt-build", "3f9a0c11"), ("accelopt-glue", "3f9a0c11"), ("accelopt-build", "3f9a0c12")))
        others = [self.temporary / name for name in ("accelopt-build", "accelopt-results.backup", "accelopt-runs.aB3dE6")]
        for folder in (abandoned, used, young, *others):
            folder.mkdir()
            (folder / "kernel.o").write_bytes(b"x" * 1000)
        hours_ago = time.time() - 7200
        for folder in (abandoned, used, *others):
            os.utime(folder, (hours_ago, hours_ago))
        claim = os.open(used, os.O_RDONLY)
        self.addCleanup(os.close, claim)
        fcntl.flock(claim, fcntl.LOCK_EX)
        self.assertIn(f"\n  {abandoned}\n", self.succeed("gc", "--workspace", self.workspace, "--dry-run").out)
        looked, done = self.gc("--dry-run"), self.gc()
        self.assertEqual((looked["folders"], looked["folder_paths"]), (1, [str(abandoned)]))
        self.assertEqual((done["folder_bytes"], done["folder_paths"]), (1000, [str(abandoned)]))
        self.assertEqual(set(self.temporary.iterdir()), {used, young, *others})

    def test_leftovers_of_the_server_go_with_what_has_ended(self):
        self.a_run()
        done = self.succeed("runs", "--workspace", self.workspace, "--json").last["run"]
        waiting = self.start("run", self.folder / "task", "--workspace", self.workspace, "--mailbox", self.workspace / "questions" / "asked",
                             *steady_worker())
        support.until(lambda: any((self.workspace / "questions").glob("asked/*")), "a question is asked", waiting)
        waiting.kill()
        dead = self.succeed("runs", "--workspace", self.workspace, "--json").lines[0]["run"]
        self.assertNotEqual(done, dead)
        young, old, busy, none = (f"20200101-00000{i}-abcdef" for i in range(4))
        # The last row: another program's, where the workspace is a project's folder.
        kept = [f"logs/{dead}.err", "questions/asked", f"jobs/lint-{young}.out", f"jobs/eval-{busy}.exit", f"jobs/eval-{busy}.out",
                "logs/server.log", f"logs/{done}.log", "questions/mine", "jobs/train.sh", "jobs/train-1.out"]
        going = [f"logs/{done}.out", f"logs/{done}.exit", f"logs/{none}.err", f"questions/{old}", f"jobs/lint-{old}.out", f"jobs/lint-{old}.exit"]
        for name in kept + going:
            path = self.workspace / name
            path.parent.mkdir(exist_ok=True)
            if name.startswith("questions/"):
                path.mkdir(exist_ok=True)
                (path / "planner.md").write_text("x" * 100)
            else:
                path.write_text("0\n")
        outside = self.file("outside.txt", "mine")
        links = [self.workspace / "questions" / none, self.workspace / "jobs" / f"lint-{none}.out"]
        for link, target in zip(links, (self.folder, outside)):
            link.symlink_to(target)
        hours_ago = time.time() - 7200
        for name in kept + going:
            if young not in name:
                os.utime(self.workspace / name, (hours_ago, hours_ago))
        with open(self.workspace / "jobs" / f"eval-{busy}.exit", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            looked = self.gc("--dry-run")
            paths = sorted(str(self.workspace / name) for name in going)
            self.assertEqual((looked["leftovers"], looked["leftover_paths"]), (len(going), paths))
            self.assertEqual(looked["leftover_bytes"], 2 * (len(going) - 1) + 100)
            self.assertEqual(self.gc()["leftover_paths"], paths)
        self.assertEqual([name for name in kept + going if (self.workspace / name).exists()], kept)
        self.assertTrue(outside.exists() and all(link.is_symlink() for link in links), "no link is the program's")
        self.assertIs(self.succeed("replay", done, "--workspace", self.workspace, "--json").last["same"], True)

    def test_nothing_is_removed_beside_a_run(self):
        self.a_run()
        orphan = self.orphan()
        mailbox = self.folder / "questions"
        running = self.start("run", self.folder / "task", "--workspace", self.workspace, "--mailbox", mailbox, *steady_worker())
        support.until(lambda: mailbox.exists() and any(mailbox.iterdir()), "a question is asked", running)
        self.assert_says(self.accelopt("gc", "--workspace", self.workspace), 1, "goes on in process", "accelopt stop")
        self.assertTrue(orphan.exists())
        self.assertEqual(self.gc("--dry-run")["objects"], 1, "to look is allowed")
        running.kill()
        self.assertEqual(self.gc()["objects"], 1, "a run that was killed uses nothing")
        self.assertFalse(orphan.exists())

    def test_without_a_workspace_it_says_so(self):
        self.assert_says(self.accelopt("gc", "--workspace", self.workspace), 1, "no runs here")
        self.assertFalse(self.workspace.exists())


class Markdown(support.TestCase):
    def export(self, *arguments, code=0):
        file = self.folder / "out.md"
        finished = self.accelopt(*arguments, "--export-markdown", file)
        self.assertEqual(finished.code, code, finished)
        return finished, file.read_text(encoding="utf-8")

    def test_a_verdict(self):
        finished, text = self.export("eval", self.task(), self.file("faster.cpp", FASTER), *steady_worker())
        self.assertTrue(text.startswith("# Evaluation of small\\_matmul\n"), text)
        self.assertIn("| workload | role | time | baseline | speed-up \\[95 %\\] | of roofline |\n|---|---|---:|---:|---:|---:|\n", text)
        self.assertIn(finished.out.splitlines()[0], text)

    def test_a_run(self):
        self.accelopt("run", self.task(), "--workspace", self.workspace, "--iterations", 1, *steady_worker())
        _, text = self.export("show", "--workspace", self.workspace)
        self.assertRegex(text, r"\A# Run \S+ of small\\_matmul\n")
        self.assertIn("\n## Plans\n\n| id | by | plan |\n|---|---|---|\n", text)
        self.assertIn("\n## Time by step (steps overlap)\n", text)
        self.assertEqual(text.count("```") % 2, 0)
        refused = self.accelopt("show", "--workspace", self.workspace, "--timeline", "--export-markdown", "x.md")
        self.assert_says(refused, 2, "--export-markdown")

    def test_a_suite(self):
        (self.folder / "suite").mkdir()
        self.task("suite/one")
        finished = self.accelopt("bench", "suite", "--workspace", self.workspace, "--iterations", 1, *steady_worker(),
                                 "--export-markdown", "out.md")
        self.assertIn(finished.code, (0, 3), finished)
        text = (self.folder / "out.md").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Suite suite\n"), text)
        self.assertRegex(text, r"(?m)^\| one \| ")
        self.assert_says(self.accelopt("bench", "--history", "--export-markdown", "x.md"), 2, "--export-markdown")

    def test_a_file_that_cannot_be_written_is_said(self):
        refused = self.accelopt("eval", self.task(), *steady_worker(), "--export-markdown", "absent/out.md")
        self.assert_says(refused, 1, "absent/out.md")


if __name__ == "__main__":
    support.main()
