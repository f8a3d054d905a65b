# SPDX-License-Identifier: Apache-2.0
"""Evidence archives: of runs recorded on an H200 and of one on this processor; what they hold and do not hold, and of what is changed in them,
which check refuses it, and why."""

import json
import math
import pathlib
import re

import support
from evidence_tampering import BLOCK, Archive, header, member, tar

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = sorted(path for path in (ROOT / "examples" / "recorded").glob("*/*") if (path / "measurements.json").exists())
CHECKS = ["archive", "hashes", "record", "sources", "numbers", "result", "decisions"]
END = bytes(2 * BLOCK)


def scaled(value, factor):
    """All numbers of an interval or of samples times the factor."""
    if isinstance(value, dict):
        return {name: scaled(inner, factor) for name, inner in value.items()}
    return [scaled(inner, factor) for inner in value] if isinstance(value, list) else value * factor


def setting(place, change):
    """A change of what stands at the place, a list of keys."""
    def apply(value):
        for key in place[:-1]:
            value = value[key]
        value[place[-1]] = change(value[place[-1]] if isinstance(value, list) else value.get(place[-1]))
    return apply


def is_raced(step):
    return step["kind"].startswith("triage:") and step["output"]["status"] == "PASSED"


class EvidenceCase(support.TestCase):
    def record(self, run):
        """A recorded run, made again in a workspace of its own without its device."""
        worker = support.program_folder() / "recorded_worker"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["settings"]
        self.workspace = self.folder / run.name
        return self.succeed("run", ROOT / "suites" / run.parent.name / run.name, "--workspace", self.workspace, "--json",
                            "--replay", run / "answers", "--worker", f"{worker} {run / 'measurements.json'}", "--knowledge", "none",
                            *[word for name, value in settings.items() for word in (f"--{name}", value)]).last

    def evidence(self, name="run.evidence.tar", *options):
        path = self.folder / name
        self.succeed("evidence", "last", "-o", path, "--workspace", self.workspace, *options)
        return path

    def verify(self, path, *options, code=0, **more):
        finished = self.accelopt("verify", path, "--json", *options, **more)
        self.assertEqual(finished.code, code, finished)
        return finished.last

    def assert_nothing_private(self, path):
        data = path.read_bytes()
        for private in (str(self.folder), str(ROOT), str(self.environment["HOME"]), "You are the planner", "recorded_worker"):
            self.assertNotIn(private.encode(), data)


class Recorded(EvidenceCase):
    def test_archives_of_recorded_runs_pass_every_check(self):
        self.assertGreaterEqual(len(RUNS), 4)
        for run in RUNS:
            with self.subTest(run.name):
                result = self.record(run)
                path = self.evidence(f"{run.name}.tar")
                self.assert_nothing_private(path)
                verified = self.verify(path)
                self.assertEqual([(c["name"], c["state"]) for c in verified["checks"]], [(name, "passed") for name in CHECKS])
                self.assertEqual((verified["run"], verified["task"], verified["speedup"]), (result["run"], result["task"], result["speedup"]))
                # The play-offs of most were recorded before samples of play-offs were kept.
                playoffs = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["playoffs"]
                sampled = sum("samples" in playoff for playoff in playoffs)
                self.assertEqual(Archive(path).schema, 2 if sampled == len(playoffs) else 1)
                without = "" if sampled == len(playoffs) else r"; scores of play-offs \(\d+\) have none"
                self.assertRegex(verified["checks"][4]["text"],
                                 rf"follow from the samples \(races: \d+, play-offs: {sampled}, confirmations: 1, blocks: \d+\)" + without)

    def test_it_is_written_the_same_again_and_read_by_people(self):
        result = self.record(next(path for path in RUNS if path.name == "silu"))
        path = self.evidence()
        self.assertEqual(path.read_bytes(), self.evidence("again.tar").read_bytes())
        told = self.succeed("verify", path).out
        self.assertEqual([line.split()[:2] for line in told.splitlines()[:-1]], [[name, "ok"] for name in CHECKS])
        self.assertRegex(told.splitlines()[-1], r"^The archive is sound: silu\S*, [\d.]+x \[.*\] on NVIDIA H200\.$")
        members = Archive(path).members
        self.assertEqual(members[next(name for name in members if name.startswith("winner/"))].decode(),
                         result["solution"]["sources"][0]["text"])
        for name in ("task/task.toml", "task/baseline.cu", "run.json", "steps.jsonl", "manifest.json"):
            self.assertIn(name, members)

    def test_answers_are_in_it_when_they_are_asked_for(self):
        self.record(next(path for path in RUNS if path.name == "silu"))
        kinds = [step["kind"].split(" ")[0].split(":")[0] for step in Archive(self.evidence()).steps]
        self.assertNotIn("chat", kinds)
        path = self.evidence("answers.tar", "--answers")
        self.assertGreater(len(Archive(path).steps), len(kinds))
        self.assertTrue(any("raw" in step["output"] for step in Archive(path).steps if isinstance(step["output"], dict)))
        self.verify(path)

    def test_what_holds_a_key_is_not_written(self):
        self.record(next(path for path in RUNS if path.name == "silu"))
        (self.workspace / "accelopt.toml").write_text('[models.m]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "SOME_KEY"\n')
        self.evidence("a.tar")  # the variable is not set
        key = self.environment | {"SOME_KEY": "__global__"}  # stands in every kernel
        self.assert_says(self.accelopt("evidence", "-o", self.folder / "b.tar", "--workspace", self.workspace, environment=key), 1,
                         "holds the key in SOME_KEY")
        self.assertFalse((self.folder / "b.tar").exists())

    def test_other_files_and_a_run_without_an_end(self):
        self.assert_says(self.accelopt("verify", self.folder / "none.tar"), 1, "none.tar")
        self.assert_says(self.accelopt("verify", self.folder), 1, "folder|directory|regular")
        self.assert_says(self.accelopt("verify", self.file("a", "x"), "--device", "cpu"), 2, "--measure")
        self.assert_says(self.accelopt("evidence", "-o", "x.tar", "--workspace", self.folder / "nowhere"), 1, "nowhere")
        self.assertEqual(self.verify(self.file("text", "no archive"), code=5)["checks"][0]["state"], "failed")


class Tampering(EvidenceCase):
    """Each case: what is done to a good archive, the check that refuses it, and the words in which it does."""

    def test_every_tampered_archive_is_refused_by_name(self):
        self.record(next(path for path in RUNS if path.name == "silu"))
        good = self.evidence()
        self.verify(good)
        cases = self.of_the_file(good) + self.of_hashes(good) + self.of_the_record(good) + self.of_numbers(good)
        self.assertGreaterEqual(len(cases), 40)
        for number, (name, archive, check, words) in enumerate(cases):
            with self.subTest(name):
                path = self.folder / f"{number}.tar"
                path.write_bytes(archive)
                self.assertNotEqual(archive, good.read_bytes())
                told = self.verify(path, code=5)
                failed = next(c for c in told["checks"] if c["state"] == "failed")
                self.assertEqual(failed["name"], check, failed)
                self.assertRegex(failed["text"], re.compile(words, re.IGNORECASE))
                self.assertNotIn(str(self.folder), failed["text"])

    def of_the_file(self, good):
        """Other forms than the one that is written."""
        data, base = good.read_bytes(), Archive(good)
        members = sorted(base.members.items())
        task = next(i for i, (name, _) in enumerate(members) if name == "task/task.toml")

        def instead(name, text=b"", kind=b"0", **fields):
            """The task's definition under another header."""
            parts = [member(*one) for one in members]
            parts[task] = member(name, text, kind, **fields)
            return b"".join(parts) + END

        many = tar([(f"a{i:04}", b"") for i in range(300)])
        return [
            ("an empty file", b"", "archive", "truncated"),
            ("an absolute path", instead("/etc/passwd"), "archive", "absolute path"),
            ("a path that leads out", instead("task/../../x"), "archive", r"leads out of the archive \(\.\.\)"),
            ("a path with a point", instead("task/./x"), "archive", "no plain relative path"),
            ("a name with a control character", instead("task/a\x1b[2J"), "archive", "other characters"),
            ("no name", instead(""), "archive", "no name"),
            ("a symbolic link", instead("task/task.toml", kind=b"2", link=(157, b"/etc/passwd")), "archive", "task.toml: it is a symbolic link"),
            ("a hard link", instead("task/task.toml", kind=b"1", link=(157, b"run.json")), "archive", "hard link"),
            ("a character device", instead("task/task.toml", kind=b"3"), "archive", "device"),
            ("a block device", instead("task/task.toml", kind=b"4"), "archive", "device"),
            ("a folder", instead("task/task.toml", kind=b"5"), "archive", "folder"),
            ("a FIFO", instead("task/task.toml", kind=b"6"), "archive", "FIFO"),
            ("an extended header", instead("task/task.toml", b"30 path=/etc/passwd\n", kind=b"x"), "archive", "no regular file"),
            ("a sparse file", instead("task/task.toml", kind=b"S"), "archive", "no regular file"),
            ("a member twice", tar(sorted([*members, members[task]])), "archive", "task.toml: it appears twice"),
            ("members in another order", tar(members[::-1]), "archive", "not sorted"),
            ("300 members", many, "archive", "over 256 members"),
            ("a size beyond the end", header("a", 1 << 20) + b"x" * BLOCK + END, "archive", "truncated: it ends within a"),
            ("a size of 8 GiB", header("a", (1 << 33) - 1) + END, "archive", "over 256 MiB"),
            ("a size in base 256", header("a", 0, octal=(124, b"\x80" + bytes(10) + b"\x05")) + END, "archive", "no octal number"),
            ("truncated within a member", data[:len(data) // 2], "archive", "truncated"),
            ("truncated before its end", data[:-BLOCK], "archive", "truncated"),
            ("trailing bytes", data + bytes(BLOCK), "archive", "trailing bytes"),
            ("a second archive behind it", data + data, "archive", "trailing bytes"),
            ("another owner", instead("task/task.toml", base.members["task/task.toml"], uid=(108, b"0001750")), "archive", "not as accelopt writes"),
            ("set-user-id", instead("task/task.toml", base.members["task/task.toml"], mode=(100, b"0004755")), "archive", "not as accelopt writes"),
            ("a wrong checksum", data[:148] + b"000000\0 " + data[156:], "archive", "not as accelopt writes"),
            ("bytes behind a member's end", self.with_hidden_bytes(members, task), "archive", "hidden"),
            ("as another program writes it", base.python_tar(), "archive", "not as accelopt writes"),
            ("a compressed one", b"\x1f\x8b\x08" + bytes(2 * BLOCK), "archive", "other characters|no name"),
        ]

    @staticmethod
    def with_hidden_bytes(members, place):
        parts = [member(*one) for one in members]
        name, text = members[place]
        assert len(text) % BLOCK
        parts[place] = header(name, len(text)) + text + b"x" * (-len(text) % BLOCK)
        return b"".join(parts) + END

    def of_hashes(self, good):
        def changed(change):
            archive = Archive(good)
            change(archive)
            return archive.bytes()

        def manifest(old, new):
            return changed(lambda a: a.change_text("manifest.json", old, new))

        def added(archive):
            archive.members["task/extra.txt"] = b"x"

        winner = next(name for name in Archive(good).members if name.startswith("winner/"))
        root = json.loads(Archive(good).members["manifest.json"])["root"].encode()
        return [
            ("an edited number", changed(lambda a: a.change_text("run.json", b'"estimate":', b'"estimate":1')), "hashes", "run.json: it is not what"),
            ("an edited sample", changed(lambda a: a.change_text("steps.jsonl", b'"candidate_ns":[', b'"candidate_ns":[1')), "hashes", "steps.jsonl"),
            ("an edited source", changed(lambda a: a.change_text(winner, b"}", b"} ")), "hashes", "winner/"),
            ("no manifest", changed(lambda a: a.members.pop("manifest.json")), "hashes", "manifest.json is missing"),
            ("a missing record", changed(lambda a: a.members.pop("steps.jsonl")), "hashes", '"steps.jsonl" is listed, and missing'),
            ("a member that is not listed", changed(added), "hashes", "extra.txt: the manifest does not list it"),
            ("another root", manifest(root, root[::-1]), "hashes", "root hash"),
            ("another form of the manifest", manifest(b"{", b"{ "), "hashes", "not as accelopt writes"),
            ("a manifest that is no JSON", manifest(b"{", b"["), "hashes", "manifest.json"),
            ("another kind of archive", manifest(b'"evidence"', b'"bundle"'), "hashes", "no evidence archive"),
            ("a manifest without a version", manifest(b'"schema":1', b'"schema":"1"'), "hashes", "states no version"),
            ("a manifest of brackets", changed(lambda a: a.members.update({"manifest.json": b"[" * 100_000})), "hashes", "nested too deeply"),
        ]

    def of_the_record(self, good):
        """Hashes are right, and what they are of is not."""
        def sealed(change):
            archive = Archive(good)
            change(archive)
            return archive.sealed()

        def swapped(steps):
            written = [s for s in steps if s["kind"] == "execute"]
            written[0]["output"]["value"] = written[1]["output"]["value"]

        def swap_texts(archive):
            name = next(name for name in archive.members if name.startswith("winner/"))
            archive.members[name] = archive.members["task/baseline.cu"]

        def no_arm(steps):
            next(s for s in steps if s["kind"] == "playoff")["output"]["arms"].pop()

        def run(name, value):
            return sealed(lambda a: a.change_run(lambda r: r.update({name: value})))

        def settings(name, value):
            return sealed(lambda a: a.change_run(lambda r: r["measure"].update({name: value})))

        def evil(archive):
            archive.members["task/sub/x"] = b"x"

        return [
            ("no record", sealed(lambda a: a.members.pop("steps.jsonl")), "record", "steps.jsonl is missing"),
            ("no run", sealed(lambda a: a.members.pop("run.json")), "record", "run.json is missing"),
            ("no reference", sealed(lambda a: [a.members.pop(n) for n in list(a.members) if n.startswith("task/reference")]), "record", "reference"),
            ("no winner", sealed(lambda a: [a.members.pop(n) for n in list(a.members) if n.startswith("winner/")]), "record", "winner/.* is missing"),
            ("another winner's file", sealed(lambda a: a.members.update({"winner/x.cu": b"x"})), "record", "no such member"),
            ("a folder in the task", sealed(evil), "record", "no folders"),
            ("a task that is none", sealed(lambda a: a.change_text("task/task.toml", b"[", b"[[[")), "record", r"task/task\.toml"),
            ("a seed that is a text", run("seed", "7"), "record", "run.json"),
            ("settings that are none", run("search", {"beam": "two"}), "record", "settings"),
            ("settings of no measurement", settings("confirm_max_blocks", 0), "record", "confirm_max_blocks is 0"),
            ("a protocol without samples", settings("protocol", "paper"), "record", 'protocol "paper"'),
            ("a step that is no JSON", sealed(lambda a: a.change_text("steps.jsonl", b"{", b"")), "record", "line 1"),
            ("a step of no kind", sealed(lambda a: a.change_step("stop", lambda s: s.update(kind="halt"))), "record", "no such kind"),
            ("deep brackets", sealed(lambda a: a.members.update({"steps.jsonl": b"[" * 100_000 + b"\n"})), "record", "nested too deeply"),
            ("a confirmation without a ratio", sealed(lambda a: a.change_step("confirm:", lambda s: s["output"].update(ratio=None))), "record", "no ratio"),
            ("a kernel without a file", sealed(lambda a: a.change_step("execute", lambda s: s["output"]["value"].update(sources=[]))), "record", "no file"),
            ("two kernels swapped", sealed(lambda a: a.change_steps(swapped)), "sources", "no kernel of the archive has the id"),
            ("the baseline as the winner", sealed(swap_texts), "sources", "the winner's files are not the kernel"),
            ("another baseline", sealed(lambda a: a.change_text("task/baseline.cu", b"}", b"; }")), "result", "."),
            ("another reference", sealed(self.change_reference), "result", "."),
            ("an arm of a play-off missing", sealed(lambda a: a.change_steps(no_arm)), "result", "arms"),
            ("an edited verdict of the build", sealed(lambda a: a.change_step("build:", lambda s: s["output"].update(built=False, diagnostics="no"))), "result", "."),
            ("a step left out", sealed(lambda a: a.change_steps(lambda s: s.remove(next(x for x in s if x["kind"] == "playoff")))), "result", "."),
            ("another decision hash", run("decision_hash", "0" * 64), "result", "decision hash"),
            ("an edited log of decisions", sealed(lambda a: a.change_step("decisions", lambda s: s["output"][0].update(beam=[]))), "decisions", "iteration 1"),
        ]

    @staticmethod
    def change_reference(archive):
        name = next(name for name in archive.members if name.startswith("task/reference"))
        archive.members[name] += b"\nstatic const int other = 1;\n"

    def of_numbers(self, good):
        """Numbers that their samples do not give, with hashes that are right."""
        def confirmed(place, change):
            archive = Archive(good)
            archive.change_step("confirm:", setting(["output", *place], change))
            return archive.sealed()

        def raced(place, change):
            archive = Archive(good)
            archive.change_steps(lambda steps: setting(["output", *place], change)(next(filter(is_raced, steps))))
            return archive.sealed()

        def published(place, change):
            archive = Archive(good)
            archive.change_run(setting(["result", *place], change))
            return archive.sealed()

        def faster(samples):
            # Both copies, as the worse one alone is published.
            copies = ("candidate_ns", "shifted_ns")
            return [s | {copy: scaled(s[copy], 0.5) for copy in copies} if i % 3 == 0 else s for i, s in enumerate(samples)]

        return [
            ("a larger speed-up, confirmed", confirmed(["ratio"], lambda r: scaled(r, 1.1)), "numbers", "the ratio is .* on record"),
            ("a narrower interval", confirmed(["ratio", "low"], lambda low: low * 1.001), "numbers", "low end"),
            ("a verdict that is not the samples'", confirmed(["verdict"], lambda _: "TIE"), "numbers", "verdict is TIE"),
            ("a shorter time", confirmed(["workloads", 0, "time_ns"], lambda t: t * 0.9), "numbers", "time_ns"),
            ("a longer time of the baseline", confirmed(["workloads", 0, "reference_ns"], lambda t: t * 1.1), "numbers", "reference_ns"),
            ("a workload's ratio", confirmed(["workloads", 1, "ratio", "high"], lambda r: r * 1.1), "numbers", "ratio, high end"),
            ("a share of the roofline", confirmed(["workloads", 0, "roofline", "fraction"], lambda f: f * 1.05), "numbers", "share of the roofline"),
            ("a floor of the roofline", confirmed(["workloads", 0, "roofline", "floor_ns"], lambda f: f * 1.05), "numbers", "floor is above"),
            ("no share of the roofline", confirmed(["workloads", 0, "roofline"], lambda _: None), "numbers", "roofline is missing"),
            ("a number of blocks", confirmed(["blocks"], lambda blocks: blocks + 1), "numbers", "number of blocks"),
            ("a workload left out", confirmed(["workloads"], lambda w: w[:1]), "numbers", "number of workloads"),
            ("no samples", confirmed(["samples"], lambda _: []), "numbers", "no samples"),
            ("a sample left out", confirmed(["samples"], lambda s: s[1:]), "numbers", "on record|after the decision"),
            ("a sample beyond the decision", confirmed(["samples"], lambda s: [*s, s[0]]), "numbers", "after the decision"),
            ("another clock", confirmed(["environment", "clock"], lambda _: "deterministic"), "numbers", "its clock"),
            ("faster samples of one in three", confirmed(["samples"], faster), "numbers", "on record|after the decision"),
            ("a sample that is no time", confirmed(["samples", 0, "candidate_ns", 0], lambda _: -1.0), "record", "no time"),
            ("a confirmation that is a race", confirmed(["kind"], lambda _: "triage"), "numbers", "another kind"),
            ("a race's ratio", raced(["ratio"], lambda r: scaled(r, 1.2)), "numbers", "triage:.*the ratio"),
            ("a race's verdict", raced(["verdict"], lambda v: "TIE" if v != "TIE" else "FASTER"), "numbers", "verdict"),
            ("a published speed-up", published(["speedup"], lambda s: scaled(s, 1.5)), "result", "speedup is .* in run.json"),
            ("a published time", published(["workloads", 0, "best_ns"], lambda t: t * 0.9), "result", "workloads is"),
            ("another device", published(["device"], lambda _: "NVIDIA B200"), "result", "device is"),
            ("no notes", published(["trust"], lambda _: "isolated"), "result", "trust is"),
            ("more attempts that passed", published(["counts", "PASSED"], lambda n: n + 1), "result", "counts is"),
        ]

    def test_a_newer_version_says_what_to_do(self):
        self.record(next(path for path in RUNS if path.name == "silu"))
        archive = Archive(self.evidence())
        newer = self.folder / "newer.tar"
        newer.write_bytes(archive.sealed(schema=4))
        self.assert_says(self.accelopt("verify", newer), 1, "version 4", "use a newer accelopt")


class OnThisProcessor(EvidenceCase):
    def test_a_run_on_this_processor_is_measured_again(self):
        # As `init` writes it: the task's id covers where its function stands.
        self.task(definition=support.TASK + '\n[entry]\nfile = "../user.cpp"\nfunction = "multiply"\nargs = ["lhs", "rhs", "y", "M"]\n')
        result = self.succeed("run", "task", "--workspace", self.workspace, "--json", "--iterations", 1, "--near-roofline", 0, "--against",
                              f"plain={self.file('plain.cpp', support.BASELINE)}", "--against",
                              f"slow=!test -d {self.folder}; for i in 1 2 3 4 5; do echo 1000000000; done").last
        self.assertEqual(result["outcome"], "improved")
        plain, slow = result["against"]
        # Raced with the winner, the baseline is about as slow as the confirmation says: half of that is seen on a busy machine too.
        self.assertEqual((plain["name"], plain["status"], plain["how"]), ("plain", "PASSED", "raced in pairs with the winner; verified"))
        self.assertGreater(plain["speed_over"]["estimate"], math.sqrt(result["speedup"]["estimate"]))
        best = {one["name"]: one["best_ns"] for one in result["workloads"]}[slow["workload"]]
        self.assertAlmostEqual(slow["speed_over"]["estimate"] * best / 1e9, 1, places=6)
        path = self.evidence()
        self.assert_nothing_private(path)
        verified = self.verify(path)
        self.assertEqual({c["state"] for c in verified["checks"]}, {"passed"}, verified)
        self.assertIn("2 comparisons with others are stated, and not proven", next(c["text"] for c in verified["checks"] if c["name"] == "result"))
        self.assertIsNone(verified["here"])
        self.assertRegex(verified["checks"][4]["text"], r"\(races: \d+, play-offs: 1, confirmations: \d, blocks: \d+\)$")
        self.check_tampered_playoffs(path)
        self.check_other_statistics(path)
        # The winner is many times faster: half of that, as ratios multiply, is seen on a busy machine too.
        self.assertGreater(result["speedup"]["low"], 3)
        measured = self.succeed("verify", path, "--measure", seconds=300)
        self.assertRegex(measured.out, r"measurement +ok +claimed [\d.]+x \[.*\] on .*, here [\d.]+x \[.*\] on .*: holds\n")
        self.assertRegex(measured.out.splitlines()[-1], "holds here")
        self.check_a_claim_that_fails_on_paper(path)
        self.check_an_invented_baseline(path, result["speedup"]["estimate"])

    def test_a_run_that_a_budget_ended_is_evidence_too(self):
        self.task()
        for limit, stopped_by in ((("--max-evaluations", 1), "max_evaluations"), (("--max-time", "0.05s"), "max_seconds")):
            with self.subTest(stopped_by):
                result = self.accelopt("run", "task", "--workspace", self.workspace, "--json", "--near-roofline", 0, *limit).last
                self.assertEqual(result["stopped_by"], stopped_by)
                again = self.succeed("replay", "--workspace", self.workspace, "--json").last["result"]
                for field in ("outcome", "stopped_by", "evaluations", "counts", "solution_id"):
                    self.assertEqual(again[field], result[field], field)
                path = self.evidence(f"{stopped_by}.tar")
                self.assertEqual({c["state"] for c in self.verify(path)["checks"]}, {"passed"})
        # Only what the budget itself says is the run's own: the reason before it and the outcome follow from the record.
        self.assertEqual(result["outcome"], "budget")
        self.assertRegex(result["reason"], "; the budget ended it: .* of 0.05 s were used")
        for number, (field, value) in enumerate((("reason", "bad luck; the budget ended it: too early"), ("outcome", "no_gain"),
                                                 ("stopped_by", "max_usd"))):
            with self.subTest(field):
                archive = Archive(path)
                archive.change_run(lambda run, changed={field: value}: run["result"].update(changed))
                tampered = self.folder / f"budget-{number}.tar"
                tampered.write_bytes(archive.sealed())
                failed = [c["name"] for c in self.verify(tampered, code=5)["checks"] if c["state"] == "failed"]
                self.assertEqual(failed, ["result"])

    def check_tampered_playoffs(self, path):
        """Scores that the samples of the play-off do not give, and samples that no such play-off gives, with hashes that are right."""
        self.assertEqual(Archive(path).schema, 3)

        def scored(place, change):
            return lambda output: setting(["arms", *place], change)(output)

        def sampled(change):
            return lambda output: change(output["samples"])

        def raced(output):
            """An arm that was measured to the end, other than the baseline."""
            return next(i for i, arm in enumerate(output["arms"]) if i > 0 and arm["measured"])

        def faster(output):
            for sample in output["samples"]:
                sample["times_ns"][raced(output)] = scaled(sample["times_ns"][raced(output)], 0.5)

        cases = [
            ("a score", lambda o: scored([raced(o), "score"], lambda s: scaled(s, 1.1))(o), "arm [1-9]: its score is .* on record"),
            ("a score's interval", lambda o: scored([raced(o), "score", "low"], lambda s: s * 0.99)(o), "its score, low end"),
            ("a time", lambda o: scored([raced(o), "workloads", 0, "time_ns"], lambda t: t * 0.9)(o), "time_ns"),
            ("a share of the roofline", lambda o: scored([raced(o), "workloads", 0, "roofline", "fraction"], lambda f: f / 2)(o), "share of the roofline"),
            ("an arm's blocks", lambda o: scored([raced(o), "blocks"], lambda n: n + 1)(o), "its blocks is"),
            ("an arm that was not measured", lambda o: scored([raced(o), "measured"], lambda _: False)(o), "whether it was measured"),
            ("an arm that was dropped", lambda o: scored([raced(o), "dropped"], lambda was: not was)(o), "whether it was dropped"),
            ("the number of blocks", lambda o: o.update(blocks=o["blocks"] + 1), "number of blocks"),
            ("places that came apart", lambda o: o.update(separated=not o["separated"]), "came apart"),
            ("faster samples", faster, "its score is|time_ns|dropped|came apart|none of a race"),
            ("a sample left out", sampled(lambda samples: samples.pop(0)), "blocks is|none of a race"),
            ("a sample too many", sampled(lambda samples: samples.append(samples[-1])), "none of a race|number of blocks"),
            ("a sample of another workload", sampled(lambda samples: samples[0]["times_ns"][0].append(1.0)), "none of a race"),
            ("no samples", lambda o: o.pop("samples"), "its samples are missing"),
            ("an arm that failed", sampled(lambda samples: samples[0].update(failed=[1])), "none of a race|measured"),
        ]
        for number, (name, change, words) in enumerate(cases):
            with self.subTest(name):
                archive = Archive(path)
                archive.change_step("playoff", lambda step, change=change: change(step["output"]))
                tampered = self.folder / f"playoff-{number}.tar"
                tampered.write_bytes(archive.sealed())
                failed = next(c for c in self.verify(tampered, code=5)["checks"] if c["state"] == "failed")
                self.assertEqual(failed["name"], "numbers", failed)
                self.assertRegex(failed["text"], "the play-off of iteration 1.*(" + words + ")")
        forms = [("has other arms", lambda samples: samples[0]["times_ns"].pop()),
                 ("a sample is no time", lambda samples: samples[0]["times_ns"][0].__setitem__(0, -1.0))]
        for number, (words, change) in enumerate(forms):
            with self.subTest(words):
                archive = Archive(path)
                archive.change_step("playoff", lambda step, change=change: change(step["output"]["samples"]))
                foreign = self.folder / f"playoff-form-{number}.tar"
                foreign.write_bytes(archive.sealed())
                failed = next(c for c in self.verify(foreign, code=5)["checks"] if c["state"] == "failed")
                self.assertEqual((failed["name"], words in failed["text"]), ("record", True), failed)

    def check_other_statistics(self, path):
        """Confirmations by the rules of an older version, or of one that nobody knows."""
        for statistics, words in ((1, "leaves out how far restarts lie apart"), (9, "none of a race of the task's workloads")):
            with self.subTest(statistics):
                archive = Archive(path)
                archive.change_step("confirm:", lambda step, version=statistics: step["output"].update(statistics=version), last=True)
                tampered = self.folder / f"statistics-{statistics}.tar"
                tampered.write_bytes(archive.sealed())
                failed = next(c for c in self.verify(tampered, code=5)["checks"] if c["state"] == "failed")
                self.assertEqual(failed["name"], "numbers", failed)
                self.assertIn(words, failed["text"])

    def check_a_claim_that_fails_on_paper(self, path):
        """It is not measured."""
        worse = self.folder / "worse.tar"
        archive = Archive(path)
        archive.change_run(lambda run: run["result"]["speedup"].update(estimate=900.0))
        worse.write_bytes(archive.sealed())
        told = self.verify(worse, "--measure", code=5)
        self.assertEqual((told["checks"][-1]["name"], told["checks"][-1]["state"], told["here"]), ("measurement", "left_out", None))

    def check_an_invented_baseline(self, path, speedup):
        """Every sample of the baseline is longer by one factor, and all that follows from it with it: only the measurement tells."""
        if speedup > 20:
            return  # the square root of the most that can be claimed, some 1000x, is too near
        factor = 900 / speedup

        def slower(step):
            confirmed = step["output"]
            confirmed["ratio"] = scaled(confirmed["ratio"], factor)
            for sample in confirmed["samples"]:
                sample["reference_ns"] = scaled(sample["reference_ns"], factor)
            for workload in confirmed["workloads"]:
                workload.update(reference_ns=workload["reference_ns"] * factor, ratio=scaled(workload["ratio"], factor))

        def published(run):
            run["result"]["speedup"] = scaled(run["result"]["speedup"], factor)
            for workload in run["result"]["workloads"]:
                workload.update(baseline_ns=workload["baseline_ns"] * factor, speedup=scaled(workload["speedup"], factor))

        invented = self.folder / "invented.tar"
        archive = Archive(path)
        archive.change_step("confirm:", slower, last=True)
        archive.change_run(published)
        invented.write_bytes(archive.sealed())
        self.assertTrue(self.verify(invented)["passed"])
        told = self.verify(invented, "--measure", code=5, seconds=300)
        self.assertEqual([c["name"] for c in told["checks"] if c["state"] == "failed"], ["measurement"])
        self.assertRegex(told["checks"][-1]["text"], r"claimed 9\d\dx .*: does not hold")
        self.assertEqual((told["here"]["holds"], told["here"]["status"]), (False, "PASSED"))


if __name__ == "__main__":
    support.main()
