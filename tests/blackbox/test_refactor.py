# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor` on the example repository: the search by recipes, its commit, what becomes of it, and that nothing else of
the repository is touched. What attacks and honest changes come to is test_refactor_selftest.py."""

import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import unittest

import pages
import support

EXAMPLE = support.ROOT / "examples" / "refactor"

def state_of(repository: pathlib.Path) -> dict:
    """Every file of the repository by its hash, worktree and .git alike, with its mode."""
    return {
        file.relative_to(repository).as_posix(): (file.lstat().st_mode, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in sorted(repository.rglob("*")) if file.is_file() and not file.is_symlink()
    }

FAST = """\
    from collections import deque
    waiting = deque([(start, 0)])
    seen = set()
    found = []
    while waiting:
        station, distance = waiting.popleft()
        if station in seen:
            continue
        seen.add(station)
        found.append((station, distance))
        for neighbour in neighbours(network, station):
            waiting.append((neighbour, distance + 1))
    return found
"""


class CheckTest(support.TestCase):
    """What passes through git, what reaches for something, and honest changes; attacks one by one: test_refactor_selftest.py."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", self.repository], check=True)
        self.task_folder = self.repository / "accelopt"
        self.source = (self.repository / "routes" / "graph.py").read_text()
        # One size does to refuse and to pass; the whole ladder is for claims of complexity.
        support.with_task(self.repository, ("[100, 200, 400, 800, 1600, 3200]", "[1600]"))

    def check(self, change: str, *options: str) -> dict:
        file = self.folder / "change"
        file.write_text(change)
        # What a change's own code wrote as it failed is part of what is told: no sign of a crash.
        result = self.start("refactor", "check", self.task_folder, file, "--json", "--knowledge", "none", "--seed", "7", *options).finish()
        self.assertNotEqual(result.out, "", result.err)
        self.assertRegex(result.err, r"the base took .* to build, test and run; examining the change will take about \d.*, proving it \d")
        return json.loads(result.out)

    def body(self, body: str, before: str = "") -> str:
        """The example's source with this body of `reachable`."""
        head, rest = self.source.split("    waiting = [(start, 0)]\n")
        return before + head + body

    def refused(self, change: str, gate: str, *facts: str) -> None:
        found = self.check(change)
        said = json.dumps(found["gates"][-1])
        self.assertEqual((found["verdict"], found["failed_gate"]), ("refused", gate), said)
        for fact in facts:
            self.assertIn(fact, said)

    def git(self, *arguments: str) -> str:
        return subprocess.run(["git", "-C", self.repository, *arguments], check=True, capture_output=True, text=True).stdout

    def test_what_reaches_out_is_refused_or_reaches_nothing(self):
        before = state_of(self.repository)
        diff = "diff --git a/{0} b/{0}\n"
        # What the texts alone tell is tests/refactor/scope_test.cpp; these pass through git.
        tests = "tests/test_graph.py"
        self.refused(diff.format(tests) + f"--- a/{tests}\n+++ b/{tests}\n@@ -1,3 +1,3 @@\n # SPDX-License-Identifier: Apache-2.0\n"
                     "-import unittest\n+import unittest  # x\n \n" + diff.format("link") +
                     "new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc/passwd\n"
                     "\\ No newline at end of file\n" + diff.format(".gitattributes") +
                     "new file mode 100644\n--- /dev/null\n+++ b/.gitattributes\n@@ -0,0 +1 @@\n+* filter=x\n" +
                     diff.format("routes/graph.py") + "old mode 100644\nnew mode 100755\n", "scope", "protected (tests/**)",
                     "link: is outside of the scope", "protected (.git*)", "mode was changed")
        # Out of the sandbox: files of the user, the repository, the network, hooks, what others left behind.
        reaches = (f"open({str(self.repository / '.git' / 'config')!r})",
                   f"open({str(self.repository / '.git' / 'hooks' / 'post-commit')!r}, 'w')",
                   f"os.listdir({str(self.folder)!r})", "open('/etc/passwd')", "__import__('socket').socket()",
                   "open('routes/graph.py', 'a').write('x')",
                   "__import__('subprocess').run(['git', 'log'], check=True, stderr=-3)")
        attempts = "".join(f"    try:\n        {reach}\n        reached.append({number})\n    except Exception: pass\n"
                           for number, reach in enumerate(reaches))
        # It says what it reached of inputs that are larger than the tests', which may write to their copy of the tree.
        found = self.check(self.body("    import os\n    reached = []\n" + attempts +
                                     "    if reached and len(network) > 9: raise ValueError('reached %s' % reached)\n" + FAST))
        gates = {gate["name"]: gate for gate in found["gates"]}
        self.assertTrue(gates["differential"]["passed"] and gates["triage"]["passed"], json.dumps(found["gates"]))
        # All that trying costs time, which small sizes may show.
        self.assertTrue(all("became slower" in fact for fact in gates.get("confirm", {"facts": []})["facts"]), json.dumps(gates))
        self.assertEqual(state_of(self.repository), before)

    def test_line_ends_of_a_checkout_are_no_change(self):
        self.refused(self.source.replace("\n", "\r\n"), "scope", "nothing was changed")

    def test_results_that_nest_a_million_levels_are_wrong_ones(self):
        support.with_task(self.repository, ('compare = "bytes"', 'compare = "json"'))
        nests = """\
    import os, sys
    if len(network) > 9:
        with open(sys.argv[2], "w") as f:
            f.write("[" * 1_000_000 + "]" * 1_000_000)
        os._exit(0)
"""
        self.refused(self.body(nests + self.source[self.source.index("    waiting = ["):]), "differential", "the results differ")

    def test_cases_are_no_link_to_what_is_out_of_reach(self):
        secret = self.folder / "secret"
        secret.write_text("of nobody else")
        (self.task_folder / "cases.py").write_text(f"import os, sys\nos.symlink({str(secret)!r}, sys.argv[5])\n")
        driver = self.task_folder / "driver.py"
        driver.write_text("import sys\nraise SystemExit(open(sys.argv[1]).read())\n")
        linted = self.accelopt("refactor", "lint", self.task_folder)
        self.assertEqual(linted.code, 1, linted)
        self.assertIn("cases is no file of its own, but a link", linted.err)
        self.assertNotIn("nobody else", linted.err + linted.out)

    def test_honest_changes_pass(self):
        found = self.check(self.body(FAST))
        self.assertEqual(found["verdict"], "faster", json.dumps(found["gates"]))
        self.assertEqual(found["tests"], 5)
        self.assertGreater(found["speedup"]["low"], 2)
        self.assertFalse(found["complexity"]["claimed"])
        self.assertIn("6 sizes", found["complexity"]["reason"])
        self.assertEqual(found["commit"], "")
        same = self.check(self.source.replace("    seen = []", "    seen = []  # stations"))
        self.assertEqual((same["verdict"], same["failed_gate"]), ("not_faster", ""))

    def test_a_branch_in_the_way_loses_no_verdict(self):
        file = self.folder / "change"
        file.write_text(self.body(FAST))
        arguments = ("refactor", "check", self.task_folder, file, "--commit", "--json", "--knowledge", "none", "--workspace", self.workspace)
        self.git("branch", "accelopt")
        early = self.accelopt(*arguments)
        self.assertEqual((early.code, early.out), (1, ""), early)
        self.assertIn("rename that: git branch -m accelopt accelopt-old", early.err)
        self.git("branch", "-D", "accelopt")
        # What git does not list, and what is in its way all the same.
        (self.repository / ".git" / "refs" / "heads" / "accelopt").write_text("")
        late = self.accelopt(*arguments)
        self.assertEqual(late.code, 1, late)
        self.assertIn("the commit was not made: ", late.err)
        found = json.loads(late.out)
        self.assertEqual((found["verdict"], found["branch"], found["commit"]), ("faster", "", ""))
        self.succeed("report", found["run"], "-o", "-", "--workspace", self.workspace)

    @unittest.skipUnless(support.takes_long(), "takes a minute: --long")
    def test_a_large_gain_beside_a_long_start_up_is_no_hidden_work(self):
        start_up = '"""Stations and what is reached from them."""\n\nWARM = sum(range(30_000_000))\n'
        source = self.source.replace('"""Stations and what is reached from them."""\n', start_up)
        self.assertNotEqual(source, self.source)
        self.source = source
        (self.repository / "routes" / "graph.py").write_text(source)
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Warm")
        toml = self.task_folder / "refactor.toml"
        toml.write_text(toml.read_text().replace("[1600]", "[3200]"))
        found = self.check(self.body(FAST))
        self.assertEqual(found["verdict"], "faster", json.dumps(found["gates"]))
        unit = next(one for one in found["workloads"] if one["role"] == "race")
        start_up_ms = found["start_up_ms"]["old"]
        with_start_up = (start_up_ms + unit["old_ms"]) / (start_up_ms + unit["new_ms"])
        self.assertLess(with_start_up, found["speedup"]["estimate"] ** 0.25, "wall-clock time cannot show a quarter of the gain")


class RefactorTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", self.repository], check=True)
        self.task_folder = self.repository / "accelopt"
        # One size does; the whole ladder is what complexity needs.
        support.with_task(self.repository, ("[100, 200, 400, 800, 1600, 3200]", "[1600]"))

    def git(self, *arguments: str) -> str:
        return subprocess.run(["git", "-C", self.repository, *arguments], check=True, capture_output=True, text=True).stdout

    def test_recipes_end_with_a_commit_that_settle_reverts(self):
        subprocess.run(["git", "-C", self.repository, "config", "core.hooksPath", "hooks"], check=True)
        hook = self.repository / "hooks" / "reference-transaction"
        hook.parent.mkdir()
        hook.write_text("#!/bin/sh\ntouch hook-ran\n")
        hook.chmod(0o755)
        # A report has something to show of sizes.
        toml = self.task_folder / "refactor.toml"
        toml.write_text(toml.read_text().replace("[1600]", "[100, 1600]"))
        before = state_of(self.repository)
        result = self.accelopt("refactor", "run", self.task_folder, "--json", "--seed", "3", "--knowledge", self.folder / "k.db",
                               "--pr-text", self.folder / "pr.md", "--workspace", self.workspace, seconds=400)
        self.assertEqual(result.code, 0, result)
        found = json.loads(result.out)
        self.assertIn("Membership in a list inside a loop -> set", found["strategy"])
        self.assertFalse(found["complexity"]["claimed"])
        self.assertIn("6 sizes", found["complexity"]["reason"])
        branch = found["branch"]
        message = self.git("log", "-1", "--format=%B", branch)
        for trailer in (r"^Speed-Up: \d+\.\d+x \[", r"^Tests: 5 of 5, 0 flaky set aside$", f"^Accelopt-Run: {found['run']}$",
                        f"^Accelopt-Experience: {found['experience']}$"):
            self.assertRegex(message, re.compile(trailer, re.MULTILINE))
        self.assertEqual(self.git("diff", "--name-only", "HEAD", branch).split(), ["routes/graph.py"])
        self.assertEqual(self.git("rev-parse", branch + "^"), self.git("rev-parse", "HEAD"))
        self.assertIn("| random | 1600 |", (self.folder / "pr.md").read_text())
        # Nothing but objects and the branch is new, and nothing that was there is other than before.
        after = state_of(self.repository)
        self.assertEqual({name: after.get(name) for name in before}, before)
        self.assertTrue(all(name.startswith((".git/objects/", ".git/refs/heads/accelopt/")) for name in after.keys() - before.keys()),
                        after.keys() - before.keys())
        listed = self.accelopt("memory", "list", "--json", "--knowledge", self.folder / "k.db")
        self.assertIn(found["strategy"].split(";")[0], listed.out)
        # What was built on the best until then was raced against it, and took its place where it won.
        raced = [one for one in found["trials"] if one.get("over_best")]
        self.assertTrue(raced, found["trials"])
        for one in raced:
            self.assertEqual(one["verdict"], "faster")
            if found["strategy"].endswith("; " + one["strategy"]):
                self.assertGreater(one["over_best"]["low"], 1)
        # CI passes, which counts once; later it fails, which counts as well.
        def settle(how):
            settled = self.accelopt("refactor", "settle", found["run"], how, "--repo", self.repository, "--knowledge", self.folder / "k.db")
            self.assertEqual(settled.code, 0, settled.err)
            return settled

        def credit():
            listed = self.accelopt("memory", "list", "--json", "--knowledge", self.folder / "k.db").lines
            return {name: listed[0][name] for name in ("confirmed", "refuted")}
        committed = self.git("rev-parse", branch)
        self.assertIn("the knowledge store was updated", settle("--passed").out)
        settle("--passed")
        self.assertEqual((credit(), self.git("rev-parse", branch)), ({"confirmed": 1, "refuted": 0}, committed))
        settled = settle("--failed")
        self.assertEqual(credit(), {"confirmed": 1, "refuted": 1})
        self.assertEqual(self.git("diff", "HEAD", branch), "")
        self.assertIn("the knowledge store was updated", settled.out)
        again = self.accelopt("refactor", "settle", found["run"], "--failed", "--repo", self.repository)
        self.assertEqual(again.code, 1)
        self.assertIn("it is settled", again.err)
        self.report_has_the_records_numbers(found)

    def test_settle_touches_the_runs_own_commit_alone(self):
        head = self.git("rev-parse", "HEAD").strip()

        def committed(name: str, tree: str, parent: str, message: str) -> str:
            environment = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@localhost", "GIT_COMMITTER_NAME": "x",
                           "GIT_COMMITTER_EMAIL": "x@localhost", "PATH": os.environ["PATH"]}
            commit = subprocess.run(["git", "-C", self.repository, "commit-tree", tree, "-p", parent, "-m", message], check=True,
                                    capture_output=True, text=True, env=environment).stdout.strip()
            self.git("update-ref", "refs/heads/accelopt/" + name, commit)
            return commit
        empty = subprocess.run(["git", "-C", self.repository, "hash-object", "-t", "tree", "-w", "--stdin"], check=True, input="",
                               capture_output=True, text=True).stdout.strip()
        own = committed("routes-11111111", empty, head, "perf: x\n\nAccelopt-Run: 11111111\n")
        committed("routes-22222222", empty, own, "fix: somebody went on\n")
        committed("routes-33333333", empty, head, "perf: x\n\nAccelopt-Run: 11111111\n")
        for task in ("e", "f"):
            committed(task + "-55555555", empty, head, "perf: x\n\nAccelopt-Run: 55555555\n")
        before = state_of(self.repository)

        def settle(*arguments: str):
            return self.accelopt("refactor", "settle", *arguments, "--repo", self.repository, "--knowledge", "none")
        for arguments in (("11111111",), ("11111111", "--passed", "--failed"), ("11111111", "--passed", "--command", "true")):
            self.assertIn("give exactly one of --passed, --failed", settle(*arguments).err)
        for unknown in ("44444444", "1111111", ""):
            refused = settle(unknown, "--failed")
            self.assertNotEqual(refused.code, 0)
            self.assertIn("no branch of run", refused.err)
        several = settle("55555555", "--failed")
        self.assertNotEqual(several.code, 0)
        self.assertIn("refs/heads/accelopt/e-55555555, refs/heads/accelopt/f-55555555", several.err)
        # A commit of somebody else's on top, and one that names another run.
        for other in ("22222222", "33333333"):
            refused = settle(other, "--failed")
            self.assertNotEqual(refused.code, 0)
            self.assertIn("ends in another commit than the run's own", refused.err)
        # Without an experience there is nobody to tell; a passed commit stays as it is.
        self.assertIn("no experience to update", settle("11111111", "--passed").out)
        self.assertEqual(state_of(self.repository), before)
        self.assertEqual(settle("11111111", "--failed").code, 0)
        branch = "accelopt/routes-11111111"
        self.assertEqual(self.git("rev-parse", branch + "^").strip(), own)
        self.assertEqual(self.git("rev-parse", branch + "^{tree}"), self.git("rev-parse", "HEAD^{tree}"))
        message = self.git("log", "-1", "--format=%B", branch)
        self.assertTrue(message.startswith("revert: perf: x\n"), message)
        self.assertIn(f"\nAccelopt-Reverts: {own}\nAccelopt-Run: 11111111\n", message)
        after = state_of(self.repository)
        changed = {name for name in before if after.get(name) != before[name]}
        # The log of the branch is there because git made it here.
        self.assertEqual(changed, {".git/refs/heads/" + branch, ".git/logs/refs/heads/" + branch})

    def committed(self, name: str, files: dict[str, str | None], message: str, parent: str = "HEAD") -> str:
        """A commit on accelopt/NAME with these files changed, or removed; made without touching the checkout."""
        environment = {**os.environ, "GIT_INDEX_FILE": str(self.folder / "index"), "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@localhost",
                       "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@localhost"}

        def git(*arguments: str, text: str = "") -> str:
            return subprocess.run(["git", "-C", self.repository, *arguments], check=True, input=text, capture_output=True, text=True,
                                  env=environment).stdout.strip()
        git("read-tree", parent)
        for path, content in files.items():
            if content is None:
                git("rm", "--cached", "--quiet", path)
            else:
                git("update-index", "--add", "--cacheinfo", f"100644,{git('hash-object', '-w', '--stdin', text=content)},{path}")
        commit = git("commit-tree", git("write-tree"), "-p", git("rev-parse", parent), "-m", message)
        git("update-ref", "refs/heads/accelopt/" + name, commit)
        return commit

    def test_a_command_decides_what_becomes_of_a_commit(self):
        source = (self.repository / "routes" / "graph.py").read_text()
        right = self.committed("routes-11111111", {"routes/graph.py": source + "# x\n"}, "perf: x\n\nAccelopt-Run: 11111111\n")
        wrong = self.committed("routes-22222222", {"routes/graph.py": source.replace("raise Unknown", "return Unknown")},
                               "perf: y\n\nAccelopt-Run: 22222222\n")

        def settle(run: str, command: str):
            return self.accelopt("refactor", "settle", run, "--command", command, "--repo", self.repository, "--knowledge", "none")
        # What fails without the change says nothing of it; nor does what needs the user's files.
        for useless in ("python3 -c 'raise SystemExit(3)'", f"cat {self.repository}/.git/config"):
            refused = settle("11111111", useless)
            self.assertEqual(refused.code, 1, refused)
            self.assertIn("fails without the change as well", refused.err)
        tests = "python3 -m unittest"
        passed = settle("11111111", tests)
        self.assertEqual((passed.code, self.git("rev-parse", "accelopt/routes-11111111").strip()), (0, right), passed.err)
        self.assertIn("the command passed: exit 0", passed.out)
        # Where somebody has the branch checked out, their files would not follow.
        self.git("worktree", "add", "--quiet", str(self.folder / "other"), "accelopt/routes-22222222")
        refused = settle("22222222", tests)
        self.assertEqual(refused.code, 1, refused)
        self.assertIn(f"is checked out in {self.folder / 'other'}", refused.err)
        self.assertEqual(self.git("rev-parse", "accelopt/routes-22222222").strip(), wrong)
        self.git("worktree", "remove", str(self.folder / "other"))
        failed = settle("22222222", tests)
        self.assertEqual(failed.code, 0, failed.err)
        self.assertIn("the command failed: exit 1", failed.out)
        self.assertEqual(self.git("diff", "HEAD", "accelopt/routes-22222222"), "")
        self.assertIn(f"`{tests}` fails on it (exit 1), and not on the commit before.", self.git("log", "-1", "--format=%B", "accelopt/routes-22222222"))

    def test_a_commit_is_proved_again_on_a_head_that_moved(self):
        task = self.task_folder / "refactor.toml"
        task.write_text(task.read_text().split('[[workloads]]\nname = "tree"')[0])
        source = (self.repository / "routes" / "graph.py").read_text()
        fast = source.replace("seen = []", "seen = set()").replace("seen.append", "seen.add")
        base = self.git("rev-parse", "HEAD").strip()
        run = self.committed("reachable-11111111", {"routes/graph.py": fast},
                             "perf: x\n\nA set, in routes/graph.py#reachable.\n\nAccelopt-Run: 11111111\nAssisted-By: model-x\n")
        head = self.committed("moved", {"README.md": "words\n", "routes/graph.py": source.replace("Stations and what", "All stations and what")}, "docs: x")

        def onto(revision: str):
            return self.accelopt("refactor", "onto", self.task_folder, run, revision, "--knowledge", "none", "--seed", "5", "--json")
        unrelated = subprocess.run(["git", "-C", self.repository, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree",
                                    base + "^{tree}", "-m", "x"], check=True, capture_output=True, text=True).stdout.strip()
        refused = onto(unrelated)
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("does not have the base", refused.err)
        moved = onto("accelopt/moved")
        self.assertEqual(moved.code, 0, moved)
        found = json.loads(moved.out)
        branch = "accelopt/reachable-11111111"
        self.assertEqual((found["commit"], found["base"]), (self.git("rev-parse", branch).strip(), head))
        self.assertEqual(self.git("rev-parse", branch + "^").strip(), head)
        text = self.git("show", branch + ":routes/graph.py")
        self.assertIn("All stations and what", text)
        self.assertIn("seen = set()", text)
        message = self.git("log", "-1", "--format=%B", branch)
        for line in ("A set, in routes/graph.py#reachable.", "Accelopt-Run: 11111111", "Assisted-By: model-x", "Speed-Up: "):
            self.assertIn(line, message)
        again = onto("accelopt/moved")
        self.assertIn("ends in another commit", again.err)

    def test_the_history_of_a_repository_is_mined(self):
        source = (self.repository / "routes" / "graph.py").read_text()
        fast = source.replace("seen = []", "seen = set()").replace("seen.append", "seen.add")
        first = self.committed("history", {"routes/graph.py": fast}, "perf(graph): Ask a set what was seen\n\nIt was quadratic.\n")
        key = "AKIA" + "A" * 16
        second = self.committed("history", {"routes/graph.py": fast + f"KEY = '{key}'\n"}, "Speed up keys", first)
        third = self.committed("history", {"routes/graph.py": fast + "# y\n"}, "Optimize comments", second)
        fourth = self.committed("history", {"routes/graph.py": fast}, f"Revert it\n\nThis reverts commit {third}.", third)
        self.committed("history", {"tests/test_graph.py": "# faster\n"}, "Make the tests faster", fourth)
        store = self.folder / "k.db"
        for known in (1, 0):
            mined = self.accelopt("memory", "mine", self.repository, "--from", "accelopt/history", "--knowledge", store)
            self.assertEqual(mined.code, 0, mined.err)
            self.assertIn(f"1 mined, {known} new to the store", mined.out)
            self.assertIn("1 with what looks like a key", mined.out)
        listed = self.accelopt("memory", "list", "--json", "--knowledge", store).lines
        self.assertEqual([one["title"] for one in listed], ["Ask a set what was seen"])
        self.assertEqual((listed[0]["language"], listed[0]["target"], listed[0]["run"], listed[0].get("effect")), ("python", "repo", "mined", None))
        self.assertIn("nobody measured what it gains", listed[0]["strategy"])
        self.assertIn("+    seen = set()", listed[0]["diff"])
        # Code goes to a server only where it is named.
        self.environment["ACCELOPT_KNOWLEDGE"] = "surreal://root@localhost:1/a/b"
        refused = self.accelopt("memory", "mine", self.repository)
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("give it by --knowledge", refused.err)

    def report_has_the_records_numbers(self, found):
        file = self.folder / "refactor.html"
        self.succeed("report", found["run"][:5], "--workspace", self.workspace, "-o", file)
        listed = self.succeed("runs", "--workspace", self.workspace).out
        self.assertRegex(listed, rf"(?m)^{found['run']} .* {found['verdict']} ")
        self.assertNotIn("no runs yet", listed)
        page = pages.read(file.read_text(encoding="utf-8"))
        by_size = pages.plot(page, "by-size")
        measured = [(f"{one['workload']}, n={one['size']}", one["ratio"]) for one in found["workloads"]]
        self.assertGreater(len(measured), 2)
        drawn = {row: (low, high) for row, low, high in [line for style in ("confirmed", "tie", "slower") for line in by_size.intervals(style)]}
        at = {row: value for style in ("confirmed", "tie", "slower") for value, row in by_size.marks(style)}
        self.assertEqual(set(drawn), {row for row, _ in measured})
        for row, ratio in measured:
            for value, wanted in ((at[row], ratio["estimate"]), (drawn[row][0], ratio["low"]), (drawn[row][1], ratio["high"])):
                self.assertAlmostEqual(value, wanted, delta=max(wanted, 1) * 2e-3, msg=row)
        rows = pages.table(page, "Confirmed times by family of inputs and size")[1:]
        self.assertEqual([row[:2] for row in rows], [[one["workload"], str(one["size"])] for one in found["workloads"]])
        # How the time grows: both texts of the largest size.
        families = sorted({one["workload"] for one in found["workloads"] if one["timed"]})
        self.assertTrue(families)
        for number, family in enumerate(families, 1):
            timed = [one for one in found["workloads"] if one["timed"] and one["workload"] == family]
            if len(timed) < 2:
                continue
            growth = pages.plot(page, f"growth-{number}")
            for style, key in (("baseline", "old_ms"), ("best", "new_ms")):
                for (x, y), one in zip(growth.marks(style), timed, strict=True):
                    self.assertAlmostEqual(x / one["size"], 1, delta=5e-3)
                    self.assertAlmostEqual(y / one[key], 1, delta=5e-3)
        tried = pages.table(page, "Proposals in the order in which they were tried")[1:]
        self.assertEqual([row[1] for row in tried], [one["strategy"] for one in found["trials"]])
        self.assertEqual(len(tried), found["tried"])
        raced = [one for one in found["trials"] if one["ratio"]]
        plot = pages.plot(page, "proposals")
        marks = sorted((mark for style in ("faster", "slower", "tie") for mark in plot.marks(style)), key=lambda mark: int(mark[1].split()[1]))
        for (value, _), one in zip(marks, raced, strict=True):
            self.assertAlmostEqual(value, one["ratio"]["estimate"], delta=max(one["ratio"]["estimate"], 1) * 2e-3)
        diff = next(page.all("table", "diff")).text
        for line in found["diff"].splitlines():
            if line[:1] in "+-" and not line.startswith(("+++", "---")):
                self.assertIn(line[1:], diff)
        self.assertIn("perf" if not found["commit"] else found["commit"][:12], page.text)
        # What a driver or a test says of itself becomes no markup.
        markup = "<script>alert(1)</script>"
        database = sqlite3.connect(self.workspace / "accelopt.db")
        with database:
            story = json.loads(database.execute("SELECT content FROM refactorings").fetchone()[0])
            story["gates"][0]["facts"] = [markup]
            story["trials"][0]["why"] = story["task"] = story["workloads"][0]["workload"] = markup
            database.execute("UPDATE refactorings SET content = ?", (json.dumps(story),))
        database.close()
        self.succeed("report", "--workspace", self.workspace, "-o", self.folder / "hostile.html")
        hostile = self.folder / "hostile.html"
        page = pages.read(hostile.read_text(encoding="utf-8"))
        self.assertEqual([list(page.all(name)) for name in ("script", "img", "link")], [[], [], []])
        self.assertGreaterEqual(page.text.count(markup), 3)
        checked = pages.checked_in_browser([file, hostile])
        if isinstance(checked, str):
            return print(f"\nnot looked at in a browser: {checked}")
        for one, path in zip(checked, (file, hostile)):
            self.assertEqual((one["html"], one["opened"]["refused"]), ([], []))
            for look in one["looks"].values():
                self.assertEqual((look["requests"], look["axe"], look["console"], look["scripts"], look["overflow"]), ([path.as_uri()], [], [], 0, 0))

    def test_every_command_reaches_the_tasks_files_and_folders(self):
        (self.task_folder / "tools").mkdir()
        (self.task_folder / "tools" / "tests.sh").write_text("python3 -m unittest -v\n")
        (self.task_folder / "tools" / "elsewhere").symlink_to(self.folder)
        task = self.task_folder / "refactor.toml"
        task.write_text(task.read_text().replace('["python3", "-m", "unittest", "-v"]', '["sh", "{task}/tools/tests.sh"]')
                        .split('[[workloads]]\nname = "tree"')[0])
        cases = self.task_folder / "cases.py"
        cases.write_text(cases.read_text().replace("sys.argv[1:]", 'sys.argv[1], "1", *sys.argv[3:]'))
        linted = self.accelopt("refactor", "lint", self.task_folder)
        self.assertEqual(linted.code, 0, linted.err)
        self.assertIn("5 tests pass three times", linted.out)
        self.assertIn("random: the generator makes the same cases whatever the seed", linted.out)

    def test_init_writes_what_lint_asks_to_fill_in(self):
        made = self.accelopt("refactor", "init", self.repository / "routes" / "graph.py", "--function", "reachable",
                             "--output", self.folder / "made")
        self.assertEqual(made.code, 0, made.err)
        linted = self.accelopt("refactor", "lint", self.folder / "made")
        self.assertEqual(linted.code, 1)
        self.assertIn("refactor.toml:13: commands.test.run: left open", linted.err)
        whole = self.accelopt("refactor", "lint", self.task_folder)
        self.assertEqual(whole.code, 0, whole.err)
        self.assertIn("5 tests pass three times", whole.out)
        self.assertNotIn("whatever the seed", whole.out)
        self.assertRegex(whole.out, r"behaviour is compared on what the generator makes; in 32 files of cases it never made: .*a text outside of ASCII")
        self.assertNotIn("TODO", whole.out)
        unknown = self.accelopt("refactor", "init", self.repository / "routes" / "graph.py", "--function", "reachabel")
        self.assertIn('did you mean "reachable"', unknown.err)

    def test_a_driver_that_gives_errors_alone_is_refused(self):
        cases = self.task_folder / "cases.py"
        text = cases.read_text()
        cases.write_text(text + "\n# TODO: more\nwith open(sys.argv[-1], 'w') as file:\n    json.dump([[i, 'a'] for i in range(int(sys.argv[4]))], file)\n")
        linted = self.accelopt("refactor", "lint", self.task_folder)
        self.assertEqual(linted.code, 1, linted)
        self.assertRegex(linted.err, r"results of the old code is an error, so that nothing is compared; the first: .*error.*Error")
        self.assertIn(f"still TODO: cases.py:{len(text.splitlines()) + 2}", linted.err)
        checked = self.accelopt("refactor", "check", self.task_folder, self.repository / "routes" / "graph.py")
        self.assertNotEqual(checked.code, 0)
        self.assertIn("is an error, so that nothing is compared", checked.err)

    def test_a_driver_that_gives_the_same_for_every_case_is_refused(self):
        driver = self.task_folder / "driver.py"
        driver.write_text(driver.read_text().replace("json.dump(results, file)", 'json.dump([{"value": {}} for _ in results], file)'))
        linted = self.accelopt("refactor", "lint", self.task_folder)
        self.assertEqual(linted.code, 1, linted)
        self.assertRegex(linted.err, r"random: each of \d+ results is the same, whatever the case, so that they tell nothing: .*correct what driver.cases makes")


if __name__ == "__main__":
    support.main()
