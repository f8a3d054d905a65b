# SPDX-License-Identifier: Apache-2.0
"""`accelopt refactor` on the example repository: changes that are refused for their reason, changes that pass, the search by
recipes, its commit, and that nothing else of the repository is touched."""

import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess

import pages
import support

EXAMPLE = support.ROOT / "examples" / "refactor"
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


def state_of(repository: pathlib.Path) -> dict:
    """Every file of the repository by its hash, worktree and .git alike, with its mode."""
    return {
        file.relative_to(repository).as_posix(): (file.lstat().st_mode, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in sorted(repository.rglob("*")) if file.is_file() and not file.is_symlink()
    }


class RefactorTest(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "routes"
        subprocess.run(["sh", EXAMPLE / "make_repository.sh", "routes", self.repository], check=True)
        self.source = (self.repository / "routes" / "graph.py").read_text()
        self.task_folder = self.repository / "accelopt"
        # Two sizes do to refuse and to pass; the whole ladder is for the search.
        toml = (self.task_folder / "refactor.toml").read_text()
        (self.task_folder / "refactor.toml").write_text(toml.replace("[100, 200, 400, 800, 1600, 3200]", "[200, 1600]"))

    def check(self, change: str, *options: str) -> dict:
        file = self.folder / "change"
        file.write_text(change)
        # What a change's own code wrote as it failed is part of what is told: no sign of a crash.
        result = self.start("refactor", "check", self.task_folder, file, "--json", "--knowledge", "none", "--seed", "7", *options).finish()
        self.assertNotEqual(result.out, "", result.err)
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

    def test_hostile_changes_are_refused_and_leave_the_repository_alone(self):
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
        # Deleted checks, special cases, edits that tests do not see.
        self.refused(self.body(FAST.replace("neighbours(network, station)", "network.get(station, [])")), "tests", "unknown")
        self.refused(self.body("    if len(network) > 5: return []\n" + FAST), "differential", "differs")
        self.refused(self.body("    import sys\n    if 'unittest' in sys.modules: pass\n    else: return []\n" + FAST),
                     "differential", "differs")
        self.refused(self.body("    import os\n    if len(network) > 9: os._exit(0)\n" + FAST), "differential", "its results cannot be read")
        self.refused(self.body("    if len(network) == 1600: return []\n" + FAST), "triage", "differs")
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

    def test_work_that_is_only_moved_is_not_faster(self):
        slow = "    waiting = [(start, 0)]\n" + self.source.split("    waiting = [(start, 0)]\n")[1]
        # An answer that is kept between processes: there is nothing between them.
        cached = ("    import os, pickle, hashlib\n    place = os.path.join(os.environ['TMPDIR'], hashlib.md5(repr((network, start))"
                  ".encode()).hexdigest())\n    if os.path.exists(place):\n        return pickle.load(open(place, 'rb'))\n"
                  + slow.replace("    return found", "    pickle.dump(found, open(place, 'wb'))\n    return found"))
        self.assertIn(self.check(self.body(cached))["verdict"], ("not_faster", "refused"))
        # A child that nobody waits for does the work, and its processor time is not its parent's.
        hidden = ("    import os, pickle, signal\n    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n    read, write = os.pipe()\n"
                  "    if os.fork() == 0:\n        os.close(read)\n        try:\n            data = pickle.dumps((True, work(network, start)))\n"
                  "        except Exception as error:\n            data = pickle.dumps((False, error))\n"
                  "        with os.fdopen(write, 'wb') as out: out.write(data)\n        os._exit(0)\n    os.close(write)\n"
                  "    with os.fdopen(read, 'rb') as data: good, value = pickle.load(data)\n"
                  "    if good: return value\n    raise value\n")
        work = "    def work(network, start):\n" + "".join("    " + line + "\n" for line in slow.splitlines())
        found = self.check(self.body(work + hidden))
        self.assertNotEqual(found["verdict"], "faster", json.dumps(found["gates"]))

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

    def test_recipes_end_with_a_commit_that_settle_reverts(self):
        subprocess.run(["git", "-C", self.repository, "config", "core.hooksPath", "hooks"], check=True)
        hook = self.repository / "hooks" / "reference-transaction"
        hook.parent.mkdir()
        hook.write_text("#!/bin/sh\ntouch hook-ran\n")
        hook.chmod(0o755)
        before = state_of(self.repository)
        result = self.accelopt("refactor", "run", self.task_folder, "--json", "--seed", "3", "--knowledge", self.folder / "k.db",
                               "--pr-text", self.folder / "pr.md", "--workspace", self.workspace)
        self.assertEqual(result.code, 0, result)
        found = json.loads(result.out)
        self.assertIn("Membership in a list inside a loop -> set", found["strategy"])
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
        self.assertIn("the knowledge store was told", settle("--passed").out)
        settle("--passed")
        self.assertEqual((credit(), self.git("rev-parse", branch)), ({"confirmed": 1, "refuted": 0}, committed))
        settled = settle("--failed")
        self.assertEqual(credit(), {"confirmed": 1, "refuted": 1})
        self.assertEqual(self.git("diff", "HEAD", branch), "")
        self.assertIn("the knowledge store was told", settled.out)
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
        before = state_of(self.repository)

        def settle(*arguments: str):
            return self.accelopt("refactor", "settle", *arguments, "--repo", self.repository, "--knowledge", "none")
        for arguments in (("11111111",), ("11111111", "--passed", "--failed")):
            self.assertIn("give --passed or --failed", settle(*arguments).err)
        for unknown in ("44444444", "1111111", ""):
            refused = settle(unknown, "--failed")
            self.assertNotEqual(refused.code, 0)
            self.assertIn("no branch of run", refused.err)
        # A commit of somebody else's on top, and one that names another run.
        for other in ("22222222", "33333333"):
            refused = settle(other, "--failed")
            self.assertNotEqual(refused.code, 0)
            self.assertIn("ends in another commit than the run's own", refused.err)
        # Without an experience there is nobody to tell; a passed commit stays as it is.
        self.assertIn("no experience to tell of", settle("11111111", "--passed").out)
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

    def report_has_the_records_numbers(self, found):
        file = self.folder / "refactor.html"
        self.succeed("report", found["run"][:5], "--workspace", self.workspace, "-o", file)
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
        unknown = self.accelopt("refactor", "init", self.repository / "routes" / "graph.py", "--function", "reachabel")
        self.assertIn('did you mean "reachable"', unknown.err)


if __name__ == "__main__":
    support.main()
