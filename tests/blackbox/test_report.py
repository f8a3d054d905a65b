#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelopt report and explain: every plot's numbers are the record's, text of models stays text, and a browser finds nothing to
object to. `--long`: also with the validator of the HTML standard's own checker."""

import json
import math
import pathlib
import re

import pages
import steady
import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "examples" / "recorded" / "nkibench-cuda"
LONG = support.takes_long()
MARKUP = "</code></pre></script><script>document.title='taken'</script><img src=x onerror=alert(1)>&amp;\"'<!--"


def ratio_of(line):
    return tuple(line[name] for name in ("estimate", "low", "high"))


class RecordedRun(support.TestCase):
    """A recorded run of an H200, repeated into a workspace."""

    def repeated(self, name):
        run = RECORDED / name
        worker = support.program_folder() / "recorded_worker"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["settings"]
        self.result = self.succeed("run", ROOT / "suites" / "nkibench-cuda" / name, "--workspace", self.workspace, "--json", "--replay",
                                   run / "answers", "--worker", f"{worker} {run / 'measurements.json'}", "--knowledge", "none",
                                   *[word for key, value in settings.items() for word in (f"--{key}", value)]).last
        self.events = self.succeed("watch", "--workspace", self.workspace, "--json").lines
        self.file = self.folder / f"{name}.html"
        self.assertIn(str(self.file), self.succeed("report", "--workspace", self.workspace, "-o", self.file).out)
        return pages.read(self.file.read_text(encoding="utf-8"))

    def assert_near(self, found, expected):
        """As near as two decimals of a coordinate allow."""
        self.assertEqual(len(found), len(expected), (found, expected))
        for one, other in zip(found, expected):
            for value, wanted in zip(one, other):
                if isinstance(wanted, str):
                    self.assertEqual(value, wanted)
                else:
                    self.assertAlmostEqual(value, wanted, delta=max(abs(wanted) * 5e-4, 5e-4), msg=(found, expected))


class EveryPlot(RecordedRun):
    def setUp(self):
        super().setUp()
        self.page = self.repeated("rmsnorm_matmul")
        self.selected = [event for event in self.events if event["type"] == "selected"]
        self.attempts = [event for event in self.events if event["type"] == "attempt" and event["state"] == "done"]

    def test_best_so_far_is_the_incumbents_by_evaluations_and_tokens(self):
        incumbents = [ratio_of(event["incumbent"]["score"]) for event in self.selected]
        confirmed = ratio_of(self.result["speedup"])
        for name, spent in (("by-evaluations", [event["evaluations"] for event in self.selected]),
                            ("by-cost", [event["usage"]["input_tokens"] + event["usage"]["output_tokens"] for event in self.selected])):
            plot = pages.plot(self.page, name)
            self.assert_near(list(plot.marks("best")), [(x, y[0]) for x, y in zip(spent, incumbents)])
            self.assert_near(list(plot.intervals("best")), [(x, y[1], y[2]) for x, y in zip(spent, incumbents)])
            self.assert_near([mark[1:] for mark in plot.marks("confirmed")], [confirmed[:1]])
            self.assert_near([interval[1:] for interval in plot.intervals("confirmed")], [confirmed[1:]])
        rows = pages.table(self.page, "Best so far by iteration")
        self.assertEqual([int(row[1]) for row in rows[1:-1]], [event["evaluations"] for event in self.selected])
        self.assertEqual([row[5] for row in rows[1:]], ["18.3x [18.0, 18.6]", "18.3x [18.0, 18.6]", "20.2x [20.1, 20.4]", "20.4x [20.2, 20.6]"])

    def test_each_candidate_stands_at_its_ratio_times_its_parents_score(self):
        score = {"baseline": 1.0}
        expected = []
        for number, event in enumerate(self.selected):
            parents = ["baseline"] if number == 0 else [place["id"] for place in self.selected[number - 1]["beam"]]
            for attempt in self.attempts:
                place = re.fullmatch(r"i(\d+)\.b(\d+)\..*", attempt["id"])
                if int(place[1]) == number:
                    expected.append(score[parents[int(place[2])]] * attempt["ratio"]["estimate"])
            score.update({place["id"]: place["score"]["estimate"] for place in event["beam"]})
        plot = pages.plot(self.page, "by-evaluations")
        found = [*plot.marks("faster"), *plot.marks("slower"), *plot.marks("tie"), *plot.marks("undecided")]
        self.assert_near([(y,) for y in sorted(mark[1] for mark in found)], [(y,) for y in sorted(expected)])
        self.assert_near([(x,) for x in sorted(mark[0] for mark in found)], [(x,) for x in range(1, 11)])
        self.assertEqual(len(pages.table(self.page, "Candidates in the order of their builds")), 11)

    def test_workloads_have_the_confirmed_speed_ups(self):
        plot = pages.plot(self.page, "by-workload")
        timed = [workload for workload in self.result["workloads"] if workload["speedup"]]
        self.assertEqual({workload["role"] for workload in timed}, {"race", "held_out"})
        self.assert_near(list(plot.marks("confirmed")), [(w["speedup"]["estimate"], w["name"]) for w in timed])
        self.assert_near(list(plot.intervals("confirmed")), [(w["name"], w["speedup"]["low"], w["speedup"]["high"]) for w in timed])
        rows = pages.table(self.page, "Confirmed times by workload")
        self.assertEqual(rows[1], ["rows_4096", "race", "1.89 ms", "93.0 us", "20.4x [20.2, 20.6]", "100 %"])

    def test_the_roofline_has_baseline_candidates_and_winner(self):
        measured = json.loads((RECORDED / "rmsnorm_matmul" / "measurements.json").read_text(encoding="utf-8"))
        raced = [w for w in measured["open"]["baseline"]["workloads"] if w["role"] == "race"]
        plot = pages.plot(self.page, "roofline")
        self.assert_near(list(plot.marks("baseline")), [(100 * w["roofline"]["fraction"], w["name"]) for w in raced])
        self.assert_near(list(plot.marks("confirmed")), [(100.0, "rows_4096")])
        self.assertEqual(len(list(plot.marks("faster"))) + len(list(plot.marks("slower"))), 10)

    def test_the_tree_has_every_candidate_beside_its_parent(self):
        svg = next(svg for svg in self.page.all("svg") if svg["id"] == "tree")
        place = {}
        for mark in svg.all(style="mark"):
            tip = next(mark.all("title")).text
            place[tip.split(":")[0]] = tuple(float(mark[f"data-{a}"] or mark[f"c{a}"]) for a in "xy")
        self.assertEqual(set(place), {"the baseline"} | {attempt["id"] for attempt in self.attempts})
        edges = set()
        for edge in svg.all("path", "edge"):
            points = [tuple(map(float, point.split())) for point in re.split("[ML]", edge["d"])[1:]]
            # It begins behind its parent's label, in the parent's row.
            parent = max(node for node in place.values() if node[1] == points[0][1] and node[0] <= points[0][0])
            edges.add((parent, points[-1], "way" in edge.classes))
        expected = set()
        winner = next(a["id"] for a in self.attempts if a["id"] == next(e for e in self.events if e["type"] == "confirming")["id"])
        parent_of = {}
        for attempt in self.attempts:
            iteration, beam = map(int, re.match(r"i(\d+)\.b(\d+)", attempt["id"]).groups())
            parent_of[attempt["id"]] = "the baseline" if iteration == 0 else self.selected[iteration - 1]["beam"][beam]["id"]
        on_the_way = {winner, parent_of[winner]}
        for child, parent in parent_of.items():
            expected.add((place[parent], place[child], child in on_the_way))
        self.assertEqual(edges, expected)

    def test_tokens_and_time_are_those_of_the_record(self):
        plot = pages.plot(self.page, "tokens")
        for role, usage in self.result["usage"]["roles"].items():
            if usage["calls"]:
                self.assert_near([bar[:2] for bar in plot.bars(role)],
                                 [(0, usage["input_tokens"]), (usage["input_tokens"], usage["input_tokens"] + usage["output_tokens"])])
        timeline = self.succeed("show", "--timeline", "--workspace", self.workspace, "--json").last
        plot = pages.plot(self.page, "timeline")
        for row, kind in (("questions", "model"), ("builds", "build"), ("verification", "verify"), ("measuring", "measure")):
            covered = sum(end - begin for begin, end, _ in plot.bars(row))
            # Gaps that no screen shows are closed, and a span is at least half a pixel wide.
            self.assertAlmostEqual(covered, timeline[kind]["covered_seconds"], delta=timeline["wall_seconds"] * 0.03)

    def test_novelty_names_each_step_of_the_winner(self):
        rows = pages.table(self.page, "The winner's steps, and whether recipes could have made them")[1:]
        self.assertEqual([(row[0], row[2]) for row in rows],
                         [(step, "no route of up to four recipes was found that makes it") for step in ("i0.b0.p1.a0.f0", "i2.b1.p1.a0.f0")])

    def test_the_diff_has_both_texts(self):
        diff = next(table for table in self.page.all("table", "diff"))
        before, after = [], []
        for row in next(diff.all("tbody")).all("tr"):
            cells = [cell.text for cell in row.all("td")]
            if len(cells) == 4:
                before += [cells[1]] if cells[0] else []
                after += [cells[3]] if cells[2] else []
        winner = self.result["solution"]["sources"][0]["text"].splitlines()
        baseline = (ROOT / "suites/nkibench-cuda/rmsnorm_matmul/baseline.cu").read_text(encoding="utf-8").splitlines()
        for shown, whole in ((before, baseline), (after, winner)):
            self.assertGreater(len(shown), len(whole) // 2)
            rest = iter(line.replace("\t", "    ") for line in whole)
            self.assertTrue(all(line in rest for line in shown), "the diff's lines stand in the source in this order")


class Lessons(RecordedRun):
    def test_the_lineage_is_told_step_by_step(self):
        self.repeated("rmsnorm_matmul")
        lesson = self.succeed("explain", "--workspace", self.workspace, "--json").last
        attempts = {e["id"]: e for e in self.events if e["type"] == "attempt" and e["state"] == "done"}
        self.assertEqual([(step["id"], step["parent"]) for step in lesson["steps"]],
                         [("i0.b0.p1.a0.f0", "baseline"), ("i2.b1.p1.a0.f0", "i0.b0.p1.a0.f0")])
        for step in lesson["steps"]:
            self.assertEqual(step["ratio"], attempts[step["id"]]["ratio"])
            self.assertEqual(step["plan"]["title"], attempts[step["id"]]["title"])
            iteration = step["id"].split(".")[0]
            self.assertEqual({one["id"] for one in step["beside"]}, {id for id in attempts if id.startswith(iteration + ".")} - {step["id"]})
            self.assertTrue(step["diff"].startswith("--- parent\n+++ step\n"))
        figures = {figure["name"]: figure for figure in lesson["steps"][0]["profile"]}
        self.assertGreater(figures["cold time"]["before"], 10 * figures["cold time"]["after"])
        self.assertEqual(lesson["steps"][1]["profile"], [], "the last round's candidates are parents of none, and not profiled")
        self.assertEqual([one["id"] for one in lesson["steps"][1]["rests_on"]], lesson["steps"][1]["plan"]["rests_on"])
        self.assertTrue(all(one["title"] for one in lesson["steps"][1]["rests_on"]))
        self.assertEqual({one["id"] for one in lesson["dead_ends"]}, {id for id in attempts if id.startswith("i1.")})
        self.assertEqual(lesson["workloads"][0]["ratio"], self.result["workloads"][0]["speedup"])
        self.assertIn("20.4x [20.2, 20.6]", lesson["answer"])
        selected = [event for event in self.events if event["type"] == "selected"]
        self.assertEqual([(one["iteration"], one["evaluations"], [(kept["id"], kept["score"]) for kept in one["kept"]]) for one in lesson["rounds"]],
                         [(event["iteration"], event["evaluations"], [(place["id"], place["score"]) for place in event["beam"]]) for event in selected])
        line = {step["id"] for step in lesson["steps"]}
        self.assertEqual({kept["id"] for one in lesson["rounds"] for kept in one["kept"] if kept["on_the_way"]}, line)
        text = self.succeed("explain", "--workspace", self.workspace).out
        markdown = self.succeed("explain", "--workspace", self.workspace, "--markdown").out
        for step in lesson["steps"]:
            self.assertIn(step["plan"]["title"], text)
        self.assertIn("The winner's line: the baseline, then i0.b0.p1.a0.f0 in round 1, then i2.b1.p1.a0.f0 in round 3.", text)
        self.assertEqual(re.findall("^## Step (\\d)", markdown, re.MULTILINE), ["1", "2"])
        self.assertFalse(lesson["modelled"])
        held_out = [one for one in lesson["workloads"] if one["role"] == "held_out"]
        self.assertEqual(len(lesson["unseen"]), len(held_out))
        for sentence in lesson["unseen"]:
            self.assertIn(sentence.split(":")[0].split(" (")[0], text)
        self.assertIn("The task: " + lesson["about"].split(". ")[0][:40], text)
        for step in lesson["steps"]:
            self.assertLessEqual(step["lines_left"], step["lines_written"])
        self.assertEqual(lesson["steps"][-1]["lines_left"], lesson["steps"][-1]["lines_written"], "the last step is the winner")
        self.assertIn(f"Of the {lesson['steps'][0]['lines_written']} lines that it wrote, {lesson['steps'][0]['lines_left']} are left in the winner", " ".join(text.split()))
        times = [figure["unit"] in ("ns", "us", "ms", "s") for figure in lesson["steps"][0]["profile"]]
        self.assertEqual(times, sorted(times, reverse=True), "times come first")
        self.assertIn("of roofline", text)
        self.assertLessEqual(max(map(len, text.split("\n## ")[0].split("=\n")[1].split("Step 1")[0].splitlines())), 110, "paragraphs are wrapped")
        self.assert_says(self.accelopt("explain", "--workspace", self.workspace, "--json", "--markdown"), 2, "choose one")
        self.assert_says(self.accelopt("explain", "nothing", "--workspace", self.workspace), 1, "no run")


class Modelled(support.TestCase):
    def test_a_modelled_gain_is_told_as_one(self):
        run = ROOT / "examples" / "recorded" / "nkibench" / "silu"
        self.succeed("run", ROOT / "suites" / "nkibench" / "silu", "--device", "trn1:model", "--replay", run / "answers", "--workspace", self.workspace,
                     "--beam", 2, "--plans", 2, "--attempts", 1, "--fixes", 1, "--iterations", 1, "--memory", "queue", "--knowledge", "none", "--json")
        lesson = self.succeed("explain", "--workspace", self.workspace, "--json").last
        self.assertTrue(lesson["modelled"])
        self.assertIn("no device measured these times", lesson["answer"])
        text = " ".join(self.succeed("explain", "--workspace", self.workspace).out.split())
        for words in ("modelled winner", "speed-up [model's range]", "and no measurement"):
            self.assertIn(words, text)
        self.assertNotIn("95 % intervals", text)


class Hostile(steady.SteadyTestCase):
    """What a model writes is full of markup, some of its kernels fail, and it wins."""

    def setUp(self):
        super().setUp()
        plain = steady.answer_to
        self.addCleanup(setattr, steady, "answer_to", plain)

        def marked(body):
            answer = plain(body)
            if "You are the planner" in body["messages"][0]["content"]:
                return re.sub("^(Title: .*)$", lambda line: line[1] + " " + MARKUP, answer, flags=re.MULTILINE) + "\x1b[2J\u202e"
            if answer.startswith("```cpp"):
                return answer.replace("void kernel", "// " + MARKUP + "\nvoid kernel")
            return answer

        steady.answer_to = marked
        ran = self.accelopt(*self.run_arguments(self.workspace))
        self.assertIn(ran.code, (0, 3), ran)
        self.result = ran.last
        self.file = self.folder / "hostile.html"
        self.succeed("report", "--workspace", self.workspace, "-o", self.file)

    def test_text_of_models_stays_text(self):
        source = self.file.read_text(encoding="utf-8")
        page = pages.read(source)
        self.assertEqual(self.result["outcome"], "improved", "else nothing hostile is shown as the winner")
        # Every element is one that the report makes, and none loads or runs anything.
        names = {element.name for element in page.all()}
        self.assertEqual(names & {"script", "iframe", "img", "object", "embed", "link", "form", "base", "foreignobject", "use", "image"}, set())
        self.assertEqual([e for e in page.all() for a in e.attributes if a.startswith("on") or a == "style"], [])
        self.assertEqual([e["href"] for e in page.all("a") if not e["href"].startswith("#")], [])
        self.assertEqual(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", source), [])
        self.assertIn("default-src 'none'", next(m["content"] for m in page.all("meta") if m["http-equiv"] == "Content-Security-Policy"))
        self.assertIn(MARKUP, page.text)
        self.assertNotIn("\x1b", source)
        self.assertNotIn("\u202e", source)

    def test_failures_are_told_with_what_became_of_them(self):
        page = pages.read(self.file.read_text(encoding="utf-8"))
        rows = pages.table(page, "Attempts that did not become faster kernels")[1:]
        fates = [row[2] for row in rows]
        self.assertTrue(any(fate.startswith("compile error") for fate in fates), fates)
        lesson = self.succeed("explain", "--workspace", self.workspace, "--json").last
        told = [step["id"] for step in lesson["steps"]] + [b["id"] for s in lesson["steps"] for b in s["beside"]] + [d["id"] for d in lesson["dead_ends"]]
        done = [line["id"] for line in self.succeed("watch", "--workspace", self.workspace, "--json").lines
                if line["type"] == "attempt" and line["state"] == "done" and line["id"].count(".") >= 3]
        self.assertEqual(sorted(told), sorted(done), "each attempt is told once")
        text = self.succeed("explain", "--workspace", self.workspace).out
        self.assertNotIn("\x1b", text)
        markdown = self.succeed("explain", "--workspace", self.workspace, "--markdown").out
        outside = re.sub(r"^(`{3,})diff\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
        self.assertNotIn("<script>", re.sub(r"\\.", "", outside).replace("\\<", ""))

    def test_a_browser_has_nothing_to_object_to(self):
        options = ["--vnu"] if LONG else []
        checked = pages.checked_in_browser([self.file], *options)
        if isinstance(checked, str):
            self.skipTest(checked)
        for page in checked:
            self.assertEqual(page["html"], [], "html-validate")
            self.assertEqual(page.get("vnu", []), [])
            self.assertEqual(page["opened"], {"refused": [], "styled": True, "runs": False, "title": True})
            for name, look in page["looks"].items():
                self.assertEqual(look["requests"], [self.file.as_uri()], name)
                self.assertEqual((look["console"], look["dialogs"], look["axe"]), ([], [], []), name)
                self.assertEqual((look["scripts"], look["handlers"]), (0, 0), name)
                self.assertEqual(look["overflow"], 0, f"{name}: the page is wider than the screen")
            self.assertGreater(page["looks"]["light"]["printed"], 10_000, "it is printed")


class Narrated(steady.SteadyTestCase):
    """A model tells the lesson in prose; its numbers are the record's, or it is refused."""

    def setUp(self):
        super().setUp()
        plain = steady.answer_to
        self.addCleanup(setattr, steady, "answer_to", plain)
        self.prose, self.questions = [], []

        def told(body):
            if "You tell how a search made" not in body["messages"][0]["content"]:
                return plain(body)
            self.questions.append(body["messages"])
            return self.prose.pop(0)

        steady.answer_to = told
        ran = self.accelopt(*self.run_arguments(self.workspace))
        self.assertEqual(ran.last["outcome"], "improved", "the steady model has faster kernels")
        self.speedup = f"{ran.last['speedup']['estimate']:.2f}x"

    def narrate(self, *prose):
        self.prose = list(prose)
        return self.accelopt("explain", "--workspace", self.workspace, "--narrate", "--base-url", self.model.url, "--model", steady.MODEL, "--json")

    def test_numbers_of_the_record_pass(self):
        told = self.narrate(f"It became {self.speedup} as fast.").last["narrative"]
        self.assertEqual((told["text"], told["corrected"], told["usage"]["calls"]), (f"It became {self.speedup} as fast.", [], 1))
        self.assertIn("How small_matmul became faster", self.questions[0][1]["content"])

    def test_another_number_is_asked_about_once(self):
        told = self.narrate("It became 87.65x as fast.", f"It became {self.speedup} as fast.").last["narrative"]
        self.assertEqual((told["corrected"], told["usage"]["calls"]), (["87.65x"], 2))
        self.assertIn("87.65x", self.questions[1][-1]["content"])

    def test_a_second_one_is_an_error_that_names_it(self):
        self.assert_says(self.narrate("87.65x", "It took 123456 us."), 1, "123456", "without --narrate")

    def test_flags_that_mean_nothing_are_refused(self):
        self.assert_says(self.accelopt("explain", "--workspace", self.workspace, "--model", "x"), 2, "without --narrate no model")
        self.assert_says(self.accelopt("explain", "--workspace", self.workspace, "--narrate"), 1, "none is configured")


class Suites(steady.SteadyTestCase):
    """Two suite runs of two tasks, the second with what the first has learned."""

    def test_every_plot_has_the_suite_runs_numbers(self):
        suite = self.folder / "suite"
        suite.mkdir()
        for name in ("one", "two"):
            self.task(f"suite/{name}", baseline=steady.BASELINE)
        results = []
        for _ in range(2):
            ran = self.accelopt("bench", suite, "--workspace", self.workspace, "--json", "--base-url", self.model.url, "--model", steady.MODEL,
                                "--worker", self.worker, *steady.SETTINGS, "--knowledge", self.folder / "knowledge.db")
            self.assertIn(ran.code, (0, 3), ran)
            results.append([line for line in ran.lines if line["type"] == "result"])
        file = self.folder / "suites.html"
        self.succeed("report", "--history", suite, "--workspace", self.workspace, "-o", file)
        source = file.read_text(encoding="utf-8")
        page = pages.read(source)
        self.assertNotIn(str(self.folder), source, "a page that is passed on names no folder of its maker")
        gains = [r for r in zip(("one", "two"), results[1]) if r[1]["speedup"]]
        self.assertTrue(gains, "the steady model has faster kernels")
        plot = pages.plot(page, "tasks")
        for found, (name, result) in zip(plot.marks("confirmed"), gains, strict=True):
            self.assertAlmostEqual(found[0], result["speedup"]["estimate"], delta=2e-3)
            self.assertEqual(found[1], name)
        over_time = pages.plot(page, "over-time-1")
        means = [math.prod((r["speedup"] or {"estimate": 1})["estimate"] for r in of_it) ** 0.5 for of_it in results]
        found = sorted([*over_time.marks("tie"), *over_time.marks("best")])
        self.assertEqual([round(x) for x, _ in found], [1, 2])
        for (_, value), mean in zip(found, means, strict=True):
            self.assertAlmostEqual(value, mean, delta=2e-3)
        runs = self.succeed("bench", "--history", "--workspace", self.workspace, "--json").lines[:-1]
        warm = [sum(task["memory"] == "warm" for task in run["runs"]) for run in runs]
        self.assertEqual(len(list(over_time.marks("best"))), sum(count > 0 for count in warm))
        self.assertEqual([row[2] for row in pages.table(page, "Suite runs of set 1 over time")[1:]], [f"{count} of 2 warm" for count in warm])
        self.assertEqual(len(pages.table(page, "Suite runs, oldest first")), 3)
        one = self.succeed("report", "--history", "--only", "one", "--workspace", self.workspace, "-o", "-").out
        self.assertNotIn(">two<", one)
        checked = pages.checked_in_browser([file], *(["--vnu"] if LONG else []))
        if not isinstance(checked, str):
            self.assertEqual((checked[0]["html"], checked[0].get("vnu", [])), ([], []))
            self.assertEqual([look["axe"] + look["console"] for look in checked[0]["looks"].values()], [[], [], []])


class Refusals(support.TestCase):
    def test_what_cannot_be_read_or_written_is_said(self):
        self.assert_says(self.accelopt("report", "--workspace", self.workspace), 1, "no workspace|no runs|workspace")
        self.assertFalse(self.workspace.exists(), "reading makes nothing")
        self.assert_says(self.accelopt("report", "--only", "one", "--workspace", self.workspace), 2, "--history")


if __name__ == "__main__":
    support.main()
