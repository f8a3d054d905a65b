#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `accelopt serve` in Chromium, used by keyboard alone: a run is started, watched, stopped, resumed; what models wrote
stays text; thousands of candidates; and what other pages and those without the token get."""

import http.client
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import unittest.mock
import urllib.parse

import pages
import steady
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKUP = "</code></pre><script>document.title='taken'</script><img src=x onerror=alert(1)>&amp;\"'<!--"
CANDIDATES = 10_000


class PageCase(steady.SteadyTestCase):
    def serve(self, *arguments, **variables):
        self.served = self.start("serve", "--folder", self.folder, "--workspace", self.workspace, *arguments,
                                 environment=self.environment | variables)
        url = support.until(lambda: self.served.out_path.read_text(encoding="utf-8").strip(), "it listens", self.served)
        self.port = urllib.parse.urlsplit(url).port
        self.url = f"http://127.0.0.1:{self.port}/"

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and body of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        more = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           more | {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read().decode()

    def told(self, path, **options):
        status, _, body = self.ask(path, **options)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def use(self, *steps, axe=(), url=None):
        """What tests/fakes/browser/use_page.mjs says after these steps."""
        if not pages.chromium() or not (pages.MODULES / "node_modules").exists():
            self.skipTest("chromium or the modules of scripts/fetch-page-checks.sh are not there")
        job = {"steps": list(steps), "axe": list(axe)}
        ran = subprocess.run(["node", ROOT / "tests/fakes/browser/use_page.mjs", pages.MODULES, pages.chromium(), url or self.url],
                             input=json.dumps(job), capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        heard = json.loads(ran.stdout)
        self.assertNotIn("failed", heard, heard.get("failed"))
        self.assertEqual(heard["dialogs"], [], "nothing that models wrote runs")
        self.assertEqual([one for one in heard["requests"] if not one.startswith((self.url, "blob:"))], [], "nothing is asked of anybody else")
        return heard


class ARun(PageCase):
    def setUp(self):
        # Plans, kernels and lessons that try to become more than text.
        answer_to = steady.answer_to

        def marked(body):
            text = re.sub(r"^(Title: .*)$", lambda line: line[1] + " " + MARKUP, answer_to(body), flags=re.MULTILINE)
            return text.replace("\nvoid kernel", f"\n// {MARKUP}\nvoid kernel")

        patched = unittest.mock.patch.object(steady, "answer_to", marked)
        patched.start()
        self.addCleanup(patched.stop)
        super().setUp()
        self.environment["ACCELOPT_KNOWLEDGE"] = str(self.folder / "knowledge.db")
        lesson = self.file("lesson.json", json.dumps({"title": f"lesson {MARKUP}", "strategy": f"do {MARKUP}", "language": "cpp"}))
        self.succeed("memory", "add", lesson)
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text(
            f'[[workers]]\ncommand = "{self.worker}"\n[models.default]\nbase_url = "{self.model.url}"\nmodel = "steady"\n', encoding="utf-8")

    def test_is_started_stopped_resumed_and_watched_by_keyboard(self):
        self.serve()
        self.model.hold_from(12)  # so that it goes on while it is looked at
        first = self.use({"go": "#/runs"}, {"wait": "h1", "text": "Runs"}, {"tab": "Task folder"}, {"type": str(self.steady_task)},
                         {"tab": "Rounds"}, {"type": "2"}, {"tab": "Seed"}, {"type": "11"}, {"press": "Enter"},
                         {"wait": "#status", "text": "running"}, {"wait": ".tree li li", "text": "i0.b0"},
                         {"tab": "A hint for the next round's planners"}, {"type": "use wider tiles"}, {"press": "Enter"}, {"wait": "#message", "text": "next round"},
                         {"tab": "Stop at once"}, {"press": "Enter"}, {"wait": "#status", "text": "interrupted"}, {"read": "h1"})
        self.assertEqual(first["console"], [])
        run = first["read"][0].removeprefix("Run ")
        self.model.let_go()
        second = self.use({"go": f"#/runs/{run}"}, {"wait": "#status", "text": "interrupted"}, {"tab": "Resume"}, {"press": "Enter"},
                          {"wait": "#status", "text": "done"}, {"read": ".lead"}, {"count": "script"}, {"read": "title"})
        self.assertEqual(second["console"], [])
        result = self.succeed("show", run, "--json", "--workspace", self.workspace).last["result"]
        self.assertEqual(result["outcome"], "improved")
        written = re.search(r"^outcome improved.*, (\S+x \[.*\])$", self.succeed("show", run, "--workspace", self.workspace).out, re.MULTILINE)
        self.assertIn(written[1], second["read"][0], "as the terminal has it")
        outline = self.told(f"/api/runs/{run}/outline")
        self.assertEqual(second["read"][1:], [1, f"Run {run} - accelopt"])
        counted = self.use({"go": f"#/runs/{run}"}, {"wait": "#count", "text": f"{len(outline['attempts'])} candidates"})
        self.assertEqual(counted["console"], [])
        self.assertTrue(all(one["state"] == "done" for one in outline["attempts"]))
        self.assertEqual(self.told(f"/api/runs/{run}/outline?after={outline['after']}")["attempts"], [])
        self.looks_at_candidates(run, outline)
        self.looks_at_memory(run)

    def looks_at_candidates(self, run, outline):
        passed = next(one for one in outline["attempts"] if one["status"] == "PASSED" and one.get("ratio"))
        record = self.told(f"/api/runs/{run}/candidates/{passed['id']}")
        self.assertIn(MARKUP, record["source"])
        self.assertIn(MARKUP, record["plan"]["title"])
        self.assertEqual(record["ratio"], passed["ratio"])
        place, children = self.children_of_a_member(outline)
        unfolded = self.use({"go": f"#/runs/{run}"}, {"tab": f"{len(children)} made from {place}"}, {"press": "Enter"}, {"count": ".tree li li li"},
                            {"press": "Enter"}, {"count": ".tree li li li"})
        self.assertEqual(unfolded["read"], [len(children), 0], "unfolded and folded again, with the focus where it was")
        roles = {question["label"].split()[0] for question in record["questions"]}
        self.assertLessEqual({"planner", "executor"}, roles)
        for question in record["questions"]:
            self.assertIn(steady.SPEAKERS["user"], [speaker for speaker, _ in question["prompt"]])
        self.assertTrue(any("use wider tiles" in text for one in outline["attempts"]
                            for question in self.told(f"/api/runs/{run}/candidates/{one['id']}")["questions"] for _, text in question["prompt"]),
                        "the hint reached a planner, and its prompt can be read")
        seen = self.use({"go": f"#/runs/{run}/{passed['id']}"}, {"wait": "h1", "text": "Candidate"}, {"read": "[aria-label=Source] pre"},
                        {"count": "script"}, {"count": "img"}, {"count": "[aria-label='Change from its parent'] .new"},
                        {"tab": f"Run {run}"}, {"press": "Enter"}, {"wait": "h1", "text": "Run"},
                        axe=["#/runs", f"#/runs/{run}", f"#/runs/{run}/{passed['id']}", f"#/runs/{run}/baseline", "#/suites", "#/memory"])
        self.assertEqual(seen["read"][0], record["source"])
        self.assertEqual(seen["read"][1:3], [1, 0], "the page's own script, and no picture")
        self.assertGreater(seen["read"][3], 0)
        self.assertEqual((seen["axe"], seen["console"]), ([], []))
        status, headers, page = self.ask(f"/api/runs/{run}/report")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("sandbox", headers["Content-Security-Policy"])
        self.assertIn("&lt;script&gt;", page)

    @staticmethod
    def children_of_a_member(outline):
        """One that the first round kept, and what the second one made from it."""
        for number, member in enumerate(outline["rounds"][0]["beam"]):
            children = [one for one in outline["attempts"] if one["id"].startswith(f"i1.b{number}.")]
            if children and member["id"] != "baseline":
                return re.sub(r"\.f\d+$", "", member["id"]), children
        raise AssertionError(f"nothing was made from a kept candidate: {outline['rounds']}")

    def looks_at_memory(self, run):
        found = self.told(f"/api/memory?text={urllib.parse.quote('onerror')}")["experiences"]
        lesson = next(one for one in found if one["title"].startswith("lesson </code>"))
        seen = self.use({"go": "#/memory"}, {"wait": "h1", "text": "Memory"}, {"tab": "Words"}, {"type": "onerror"}, {"press": "Enter"},
                        {"wait": "td", "text": MARKUP}, {"go": f"#/memory/{lesson['id']}"}, {"wait": "h1", "text": "lesson"}, {"read": "h1"},
                        {"tab": "op_type"}, {"type": "matmul"}, {"press": "Enter"}, {"wait": "#message", "text": "changed: op_type"},
                        {"tab": "Quarantine: show it to no planner"}, {"press": "Enter"}, {"wait": "dd", "text": "no: quarantined"},
                        axe=[f"#/memory/{lesson['id']}"])
        self.assertEqual((seen["read"], seen["axe"], seen["console"]), ([lesson["title"]], [], []))
        kept = self.succeed("memory", "show", lesson["id"], "--json").last
        self.assertEqual((kept["op_type"], kept["quarantined"]), ("matmul", True))
        self.assertEqual(self.ask(f"/api/memory/{lesson['id']}", "POST", {"id": "other"})[0], 400)
        self.assertEqual(self.told(f"/api/memory/{lesson['id']}/lift", method="POST", body={})["quarantined"], False)


class AClient(PageCase):
    """The roles are played on the page."""

    def test_questions_are_answered_by_keyboard(self):
        self.environment["ACCELOPT_KNOWLEDGE"] = "none"
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text(f'[[workers]]\ncommand = "{self.worker}"\n', encoding="utf-8")
        self.serve()
        first = self.use({"go": "#/runs"}, {"wait": "h1", "text": "Runs"}, {"tab": "Task folder"}, {"type": str(self.steady_task)},
                         {"tab": "Who plays the roles"}, {"type": "you"}, {"tab": "Rounds"}, {"type": "1"}, {"press": "Enter"},
                         {"wait": "#question", "text": "planner"}, {"read": "h1"}, {"read": "#question"}, {"read": "[aria-label='The question'] pre"})
        run = first["read"][0].removeprefix("Run ")
        question = first["read"][1].split(": ")[1]
        self.assertIn("small_matmul", first["read"][2])
        self.assertIn(question, self.told(f"/api/runs/{run}")["questions"])
        answer = "Title: Tile the columns\nPlan: tiles of eight."
        seen = self.use({"go": f"#/runs/{run}"}, {"wait": "#question", "text": question}, {"tab": "Your answer, in the form that the question asks for"},
                        {"type": answer}, {"tab": "Give the answer"}, {"press": "Enter"}, {"wait": "#message", "text": "taken"},
                        axe=[f"#/runs/{run}"])
        self.assertEqual((first["console"], seen["axe"], seen["console"]), ([], [], []))
        mailboxes = list((self.workspace / "questions").rglob(f"*{question}*"))
        self.assertTrue(any(answer in file.read_text(encoding="utf-8") for file in mailboxes), mailboxes)
        self.succeed("stop", run, "--now", "--workspace", self.workspace)


class ManyRuns(PageCase):
    COUNT = 1_234

    def test_all_runs_are_paged_through_and_a_run_is_drawn(self):
        self.succeed(*self.run_arguments(self.workspace))
        run = self.succeed("show", "--json", "--workspace", self.workspace).last["run"]
        database = sqlite3.connect(self.workspace / "accelopt.db")
        with database:
            columns = "task_name, task_folder, seed, status, decision_hash, program_version, settings, result, task"
            for number in range(self.COUNT - 2):
                database.execute(f"INSERT INTO runs(id, created, {columns}) SELECT ?, ?, {columns} FROM runs WHERE id = ?",
                                 (f"20200101-{number:06}", f"2020-01-01T00:{number // 60:02}:{number % 60:02}Z", run))
            story = {"run": "abcd1234", "task": "routes", "language": "python", "created": "2019-12-31T00:00:00Z", "program_version": "0", "base": "b",
                     "goal": "time", "scope": ["routes/graph.py#reachable"], "seed": 1, "tried": 1, "trials": [{"strategy": MARKUP, "verdict": "refused"}],
                     "strategy": "", "verdict": "refused", "failed_gate": "tests", "gates": [{"name": "tests", "passed": False, "facts": [MARKUP], "seconds": 1}],
                     "workloads": [], "tests": 5, "flaky": [], "diff": f"@@ -1 +1 @@\n-{MARKUP}\n+x\n", "branch": "", "commit": "", "experience": ""}
            database.execute("INSERT INTO refactorings(id, created, content) VALUES(?, ?, ?)", (story["run"], story["created"], json.dumps(story)))
        database.close()
        self.serve()
        ids, offset = [], 0
        while page := self.told(f"/api/runs?offset={offset}&limit=1000")["runs"]:
            ids += [one["run"] for one in page]
            offset += len(page)
        self.assertEqual((len(set(ids)), ids[0], ids[-1]), (self.COUNT, run, story["run"]))
        older = [step for _ in range(11) for step in ({"tab": "The 100 older ones"}, {"press": "Enter"}, {"wait": "#newer"})]
        # Each turn is waited for by what the table then says.
        for number in range(11):
            older[3 * number + 2] = {"wait": "caption", "text": f"{100 * (number + 1) + 1} to "}
        seen = self.use({"go": "#/runs"}, {"wait": "caption", "text": f"1 to 100 of {self.COUNT} runs"}, *older, {"tab": "The 34 older ones"}, {"press": "Enter"},
                        {"wait": "caption", "text": f"1201 to {self.COUNT} of {self.COUNT} runs"}, {"count": "tbody tr"}, {"tab": story["run"]}, {"press": "Enter"},
                        {"wait": "h1", "text": "Refactoring"}, {"read": ".lead"}, {"count": "img"}, {"go": f"#/runs/{run}"}, {"wait": "#convergence .axis", "text": "evaluations"},
                        {"html": "#convergence"}, axe=["#/runs", f"#/runs/{run}", f"#/refactorings/{story['run']}"])
        self.assertEqual(seen["read"][:3], [34, "The change of routes is refused: it fails the gate tests.", 0])
        self.assertEqual((seen["axe"], seen["console"]), ([], []))
        plot = pages.Plot(pages.read(seen["read"][3]))
        best = [one for one in self.told(f"/api/runs/{run}/outline")["rounds"] if one["incumbent"]]
        self.assertTrue(best, "the steady model has faster kernels")
        for mark, interval, one in zip(plot.marks("best"), plot.intervals("best"), best, strict=True):
            score = one["incumbent"]["score"]
            for value, wanted in zip((*mark, *interval[1:]), (one["evaluations"], score["estimate"], score["low"], score["high"])):
                self.assertAlmostEqual(value, wanted, delta=max(abs(wanted), 1) * 2e-3)
        self.assertIn("&lt;script&gt;", self.ask(f"/api/refactorings/{story['run']}/report")[2])
        self.assertEqual(self.ask("/api/refactorings/none")[0], 404)


class ManyCandidates(PageCase):
    def test_ten_thousand_open_in_under_a_second(self):
        self.succeed(*self.run_arguments(self.workspace))
        self.multiply()
        self.serve()
        run = self.told("/api/runs")["runs"][0]["run"]
        self.assertEqual(len(self.told(f"/api/runs/{run}/outline")["attempts"]), CANDIDATES)
        seen = self.use({"timed": f"#/runs/{run}", "wait": "#count", "text": f"{CANDIDATES} candidates"}, {"count": "li"}, {"tab": "Which"},
                        {"press": "ArrowDown"}, {"press": "ArrowDown"}, {"wait": "#count", "text": "of them passed"}, axe=[f"#/runs/{run}"])
        # A busy machine decides about the time on the clock; what the server works for it is its own.
        print(f"\n{CANDIDATES} candidates: {seen['ms'][0]:.0f} ms from the address to the tree", end=" ", flush=True)
        self.assertLess(self.server_seconds(run), 1.0, "of the server's processor time")
        self.assertLess(seen["read"][0], 400, "what is not looked at is not made")
        self.assertEqual((seen["axe"], seen["console"]), ([], []))

    def server_seconds(self, run):
        """Processor time that the server takes for what a page asks when it opens the run."""
        def used():
            fields = pathlib.Path(f"/proc/{self.served.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        before = used()
        self.told(f"/api/runs/{run}/outline")
        self.told(f"/api/runs/{run}")
        return used() - before

    def multiply(self):
        """As if each plan of the first round had thousands of attempts: the same events and answers under other identities."""
        database = sqlite3.connect(self.workspace / "accelopt.db")
        with database:
            events = [(number, json.loads(text)) for number, text in database.execute("SELECT number, event FROM events ORDER BY number")]
            whole = {event["id"].split(".f")[0] for _, event in events if event["type"] == "attempt" and ".a" in event["id"]}
            pattern = next(event for _, event in events if event["type"] == "attempt" and event["state"] == "done" and event["status"] == "PASSED")
            answer = database.execute("SELECT * FROM steps WHERE kind LIKE 'execute%' AND iteration = 0").fetchone()
            run = answer[1]
            for number in range(CANDIDATES - len(whole)):
                attempt = 100 + number
                for state in ("executing", "building", "measuring", "done"):
                    event = pattern | {"id": f"i0.b0.p0.a{attempt}.f0", "state": state}
                    database.execute("INSERT INTO events(run, at_ms, event) VALUES(?, 0, ?)", (run, json.dumps(event, separators=(",", ":"))))
                database.execute("INSERT INTO steps(run, iteration, parent, plan, attempt, fix, kind, input_hash, usage, started_ms, duration_ms, output, "
                                 "output_object) VALUES(?, 0, 0, 0, ?, 0, ?, ?, ?, ?, ?, ?, ?)", (run, attempt, *answer[7:14]))
        database.close()


class Strangers(PageCase):
    def test_other_pages_and_those_without_the_token_are_refused(self):
        self.serve()
        for path in ("/", "/main.js", "/page.css"):
            status, headers, _ = self.ask(path)
            self.assertEqual(status, 200, path)
            self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(self.ask("/api/runs")[0], 200)
        self.assertEqual(self.ask("/api/runs", Host="evil.example")[0], 403)
        for origin in ("https://evil.example", "null", "http://localhost:1"):
            self.assertEqual(self.ask("/api/memory/x/quarantine", "POST", {}, Origin=origin)[0], 403, origin)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.ask("/api/runs", Sec_Fetch_Site=site)[0], 403)
            self.assertEqual(self.ask("/api/runs", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")[0], 403)
            self.assertEqual(self.ask("/main.js", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0], 403)
        self.assertEqual(self.ask("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")[0], 200, "a link may lead here")
        self.assertEqual(self.ask("/api/runs", Origin=f"http://127.0.0.1:{self.port}", Sec_Fetch_Site="same-origin")[0], 200)

    def test_what_is_malformed_is_said(self):
        self.serve()
        for path, status in (("/api/nothing", 404), ("/api/runs/none", 404), ("/api/runs?limit=x", 400), ("/api/runs?limit=-1", 400), ("/api/runs/%00%ff/outline", 404),
                             ("/api/memory/../../etc/passwd", 404), ("/../src/page/site.cpp", 404), ("/api/", 404), ("/api", 404), ("/api/memory?limit=0", 400)):
            found, _, body = self.ask(path)
            self.assertEqual(found, status, (path, body))
            self.assertIn("error", json.loads(body))
        self.assertEqual(self.ask("/api/runs", "POST", {})[0], 405)
        self.assertEqual(self.ask("/api/memory/x/quarantine")[0], 405)
        self.assertEqual(self.ask("/api/memory/x", "POST", [1])[0], 400)
        self.assertEqual(self.ask("/api/runs", "DELETE")[0], 405)

    def test_the_page_asks_for_the_token(self):
        self.serve("--address", "0.0.0.0", ACCELOPT_MCP_TOKEN="s3cret")
        self.assertEqual(self.ask("/")[0], 200, "the page's own files tell nothing of anybody")
        self.assertEqual(self.ask("/api/runs")[0], 401)
        self.assertEqual(self.ask("/api/runs", Authorization="Bearer s3cre")[0], 401)
        self.assertEqual(self.ask("/api/runs", Authorization="Bearer s3cret")[0], 200)
        seen = self.use({"go": "#/runs"}, {"wait": "h1", "text": "token"}, {"tab": "Token"}, {"type": "wrong"}, {"press": "Enter"},
                        {"wait": "#message", "text": "does not take the token"}, {"tab": "Token"}, {"type": "s3cret"}, {"press": "Enter"}, {"wait": "h1", "text": "Runs"})
        self.assertEqual([line for line in seen["console"] if "401" not in line], [])


if __name__ == "__main__":
    support.main()
