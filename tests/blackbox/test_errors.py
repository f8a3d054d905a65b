# SPDX-License-Identifier: Apache-2.0
"""What goes wrong for users: each message names the thing, the reason and the next step, each with its exit code."""

import os
import pathlib
import re
import shutil
import subprocess

import chat_script
import support
from support import BASELINE, REFERENCE, TASK

KEY = "sk-blackbox-77a0c1"


class Errors(support.TestCase):
    def small_run(self, *options, **more):
        return self.accelopt("run", self.folder / "task", "--workspace", self.workspace, "--iterations", 1, *options, **more)

    # The command line.

    def test_a_mistyped_option(self):
        self.task()
        self.assert_says(self.small_run("--iteratons", 3), 2, "--iteratons", "--help")
        self.assertFalse(self.workspace.exists(), "nothing was begun")

    def test_a_path_that_would_paint_the_terminal(self):
        for command in (["lint"], ["run"], ["estimate"], ["eval"]):
            with self.subTest(command):
                finished = self.accelopt(*command, self.folder / "x\x1b[31mb")
                self.assertNotEqual(finished.code, 0, finished)
                self.assertNotIn("\x1b", finished.out + finished.err)
                self.assertIn("x [31mb", finished.out + finished.err)

    def test_a_mistyped_command(self):
        self.assert_says(self.accelopt("rum", "task"), 2, '"rum"', "--help")

    def test_a_missing_argument(self):
        self.assert_says(self.accelopt("run"), 2, "task", "required", "--help")

    def test_values_that_are_none(self):
        self.task()
        for options, patterns in (
                (("--plans", 0), ("plans is 0", "1 to 256")),
                (("--beam", "wide"), ("--beam", "wide")),
                (("--max-time", "5parsecs"), ("5parsecs", "90s")),
                (("--max-time", ""), ("--max-time", "must not be empty")),
                (("--max-device-seconds", ""), ("--max-device-seconds", "must not be empty")),
                (("--max-usd", ""), ("--max-usd", "must be a number, not empty")),
                (("--max-usd", "nan"), ("--max-usd", "must be a number, not nan")),
                (("--max-usd", "5,50"), ("--max-usd", "must be a number, not 5,50")),
                (("--allow-regression", 5), ("allow_regression is 5", "at least 0 and under 1")),
                (("--allow-regression", "-0.1"), ("allow_regression is -0.1", "at least 0 and under 1")),
                (("--agents", "people"), ("people", "recipes")),
                (("--strategy", "luck"), ("luck", "beam")),
                (("--preset", "papr"), ("papr", "paper")),
                (("--device", "cuda:x"), ('"cuda:x"', '"x" is no number', "cpu:N", "cuda:N")),
                (("--device", "neuron:x"), ('"neuron:x"', '"x" is no number', "neuron:N")),
                (("--device", "cpu:"), ('"cpu:"', "no number", "cpu:N")),
                (("--device", "tpu:1", "--defer", "bundles"), ('"tpu:1"', "no kind", "cpu:N", "cuda:N")),
                (("--no-memory", "--memory", "ranked"), ("--no-memory", "--memory")),
                (("--no-memory", "--knowledge", "k.db"), ("--no-memory", "--knowledge")),
                (("--no-memory", "--exclude-family"), ("--no-memory", "--exclude-family")),
                (("--memory", "queue", "--exclude-family"), ("--exclude-family", "--memory queue")),
                (("--knowledge", "none", "--exclude-family"), ("--exclude-family", "--knowledge none")),
                (("--knowledge", "none", "--memory", "ranked"), ("--memory ranked", "--knowledge none")),
                (("--mailbox", os.fsdecode(b"q\xe9"), "--model", "m"), ("UTF-8", "use another folder")),
                (("--prompts", "nonesuch"), ("--prompts", "recipes play all roles")),
                (("--base-url", "http://127.0.0.1:9/v1"), ("--base-url", "--model"))):
            with self.subTest(options):
                self.assert_says(self.small_run(*options), 2, *patterns)
        self.assertFalse(self.workspace.exists(), "nothing was begun")

    def test_a_device_that_is_none_is_said_once(self):
        self.task()
        for command in (("run", "task", "--workspace", self.workspace), ("eval", "task"), ("bench", support.SUITE), ("selftest",),
                        ("lint", "--mutants", "task"), ("doctor",), ("worker",)):
            with self.subTest(command[0]):
                finished = self.accelopt(*command, "--device", "cuda:x")
                self.assert_says(finished, 1 if command == ("worker",) else 2, '"cuda:x": "x" is no number; write cpu, cpu:N')
                self.assertEqual(finished.said.count("cuda:x"), 1, finished)
        self.assertFalse(self.workspace.exists(), "nothing was begun")

    def test_options_that_would_do_nothing(self):
        for command, patterns in (
                (("show", "last", "i0.b0.p0.a0.f0", "--json"), ("CANDIDATE", "--json")),
                (("show", "last", "i0.b0.p0.a0.f0", "--samples"), ("CANDIDATE", "--samples")),
                (("show", "--timeline", "--decisions"), ("give one of --timeline, --decisions",)),
                (("show", "--samples", "--timeline"), ("--samples", "leave out --timeline")),
                (("best", "--allow-build", "true"), ("--allow-build", "--output FOLDER")),
                (("best", "--patch-form", "inline"), ("--patch-form", "own-file")),
                (("best", "--force"), ("--force", "--output FOLDER")),
                (("best", "--as", "flashinfer-trace", "-o", "x", "--minimise"), ("--minimise",)),
                (("doctor", "--device", "cpu:9"), ("--device", "--noise"))):
            with self.subTest(command):
                self.assert_says(self.accelopt(*command), 2, *patterns)

    def test_recipes_are_asked_about_device_code(self):
        suite = support.ROOT / "suites" / "nkibench-cuda"
        finished = self.accelopt("run", suite / "silu", "--workspace", self.workspace, "--agents", "recipes")
        self.assert_says(finished, 1, "recipes", "C, C\\+\\+, NKI and Triton", "silu is in cuda", "--model", "docs/models.md")
        self.assertFalse(self.workspace.exists(), "nothing was begun")

    def test_no_arguments_show_the_help(self):
        finished = self.accelopt()
        self.assertEqual(finished.code, 2, finished)
        for command in ("run", "eval", "resume", "replay", "best", "Exit codes"):
            self.assertIn(command, finished.said)

    def test_every_command_has_help_with_an_example(self):
        for command in ("init", "lint", "doctor", "estimate", "run", "resume", "watch", "stop", "replay", "runs", "show", "best",
                        "diff", "eval", "bench", "selftest", "worker"):
            with self.subTest(command):
                finished = self.succeed(command, "--help")
                self.assertRegex(finished.out, r"(?m)^Examples?\b.*:$")
                self.assertIn(f"accelopt {command}", finished.out)

    # Tasks.

    def test_an_unknown_task(self):
        for command in (("run", "nosuch", "--workspace", self.workspace), ("eval", "nosuch"), ("lint", "nosuch")):
            with self.subTest(command[0]):
                finished = self.accelopt(*command)
                self.assertIn(finished.code, (1, 5), finished)
                self.assertRegex(finished.said, "nosuch: no such folder; give the folder of a task")
        self.assertFalse(self.workspace.exists())

    def test_a_broken_task_toml(self):
        broken = TASK.replace('dtype = "float32"', 'dtype = "float33"', 1).replace("threads = 1", "threds = 1")
        line = {part: broken[:broken.index(part)].count("\n") + 1 for part in ("float33", "threds")}
        self.task(definition=broken)
        said = [rf"task\.toml:{line['float33']}: inputs\[0\]\.dtype: .*float33.*float32",
                rf"task\.toml:{line['threds']}: cpu\.threds: .*threads"]
        self.assert_says(self.small_run(), 1, *said)
        self.assert_says(self.accelopt("eval", "task"), 1, *said)
        linted = self.accelopt("lint", "task", "--json")
        self.assertEqual(linted.code, 5, linted)
        self.assertEqual([(p["type"], p["severity"], p["line"], p["key"]) for p in linted.lines],
                         [("problem", "error", line["float33"], "inputs[0].dtype"), ("problem", "error", line["threds"], "cpu.threds")])

    def test_a_task_toml_that_is_no_toml(self):
        self.task(definition=TASK + "\nx = [\n")
        self.assert_says(self.small_run(), 1, r"task\.toml:\d+: not TOML")

    def test_a_task_without_its_reference(self):
        (self.task() / "reference.cpp").unlink()
        self.assert_says(self.small_run(), 1, "reference")

    def test_a_reference_and_a_baseline_that_do_not_build(self):
        self.task(reference=REFERENCE + "real half(int) { return sqroot(2); }\n", baseline=BASELINE + "float half(int) { return sqroot(2); }\n")
        linted = self.accelopt("lint", "task", "--json")
        self.assertEqual(linted.code, 5, linted)
        self.assertEqual([(pathlib.Path(p["file"]).name, p["line"]) for p in linted.lines if p["severity"] == "error"],
                         [("reference.cpp", REFERENCE.count("\n") + 1), ("baseline.cpp", BASELINE.count("\n") + 1)])

    def test_a_failing_baseline(self):
        wrong = BASELINE.replace("y[i * N + j] = acc;", "y[i * N + j] = acc + (i == 3 ? 1.0f : 0.0f);")
        self.task(baseline=wrong)
        workload, values = r"workload (odd|raced)", r"expected -?[\d.e-]+, got -?[\d.e-]+ at index 192"
        run = self.small_run()
        self.assert_says(run, 5, "baseline", "INCORRECT_NUMERICAL", workload, "family", values, "likely to mend")
        evaluated = self.accelopt("eval", "task")
        self.assertEqual(evaluated.code, 5, evaluated)
        self.assertRegex(evaluated.out, values)
        better = self.accelopt("eval", "task", self.file("better.cpp", BASELINE), "--json")
        self.assertEqual(better.code, 5, better)
        self.assertRegex(better.last["reason"], "the baseline fails")

    def test_a_baseline_that_does_not_build(self):
        self.task(baseline=BASELINE.replace("float acc", "flaot acc"))
        self.assert_says(self.small_run(), 5, "baseline", "COMPILE_ERROR", "flaot", r"\b6\b")

    def test_a_reference_that_does_not_build(self):
        self.task(reference=support.REFERENCE.replace("real sum", "rael sum"))
        finished = self.small_run()
        self.assertIn(finished.code, (1, 5), finished)
        self.assertRegex(finished.err, "reference")
        self.assertRegex(finished.err, "rael")

    def test_a_candidate_file_that_is_not_there(self):
        self.task()
        self.assert_says(self.accelopt("eval", "task", "nosuch.cpp"), 1, "nosuch.cpp", "No such file")

    # The machine.

    def test_no_compiler(self):
        self.task()
        empty = self.folder / "empty"
        empty.mkdir()
        without = self.environment | {"PATH": str(empty)}
        self.assert_says(self.accelopt("eval", "task", environment=without), 1, "no C\\+\\+ compiler", "install")
        doctor = self.accelopt("doctor", "--json", environment=without)
        self.assertEqual(doctor.code, 5, doctor)
        missing = [line for line in doctor.lines if line["state"] == "missing"]
        self.assertTrue(missing, doctor)
        self.assertTrue(all(line["advice"] for line in missing), missing)

    def test_a_compiler_that_is_not_there(self):
        self.task()
        for name in ("nonexistent", "/nonexistent/g++"):
            self.assert_says(self.small_run("--compiler", name), 1, re.escape(f'"{name}" was not found'), "install")

    def test_a_workspace_that_cannot_be_made(self):
        self.task()
        below_a_file = self.file("file", "") / "workspace"
        for workspace in (below_a_file, "/proc/accelopt"):
            finished = self.accelopt("run", "task", "--workspace", workspace)
            self.assert_says(finished, 1, str(workspace), "cannot make folder", "--workspace DIR")

    def mounted(self, size):
        folder = self.folder / "mounted"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True,
                              check=False) if shutil.which("mount") else None
        if done is None or done.returncode != 0:
            self.skipTest("a small disk cannot be mounted here: " + (done.stderr.strip() if done else "there is no mount"))
        self.addCleanup(subprocess.run, ["umount", str(folder)], check=False)
        return folder

    def test_a_read_only_workspace(self):
        self.task()
        if os.getuid() == 0:
            folder = self.mounted("16m")
            begun = folder / "begun"
            self.accelopt("run", "task", "--workspace", begun, "--max-evaluations", 1)
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            finished = self.accelopt("resume", "--workspace", begun)
            self.assert_says(finished, 1, re.escape(str(begun)), "may not be written", "--workspace DIR")
            self.succeed("runs", "--workspace", begun)
        else:
            folder = self.folder / "closed"
            folder.mkdir(mode=0o555)
        finished = self.accelopt("run", "task", "--workspace", folder / "new")
        self.assert_says(finished, 1, re.escape(str(folder / "new")), "Read-only|Permission denied", "--workspace DIR")

    def test_a_full_disk(self):
        self.task()
        folder = self.mounted("350k")
        workspace = folder / "workspace"
        finished = self.accelopt("run", "task", "--workspace", workspace, "--iterations", 1)
        self.assert_says(finished, 1, "No space left", "free space", "accelopt resume")
        listed = self.succeed("runs", "--workspace", workspace, "--json")
        self.assertEqual(len(listed.lines), 1, "what was recorded is not lost")
        subprocess.run(["mount", "-o", "remount,size=32m", str(folder)], check=True)
        resumed = self.succeed("resume", "--workspace", workspace, "--json")
        self.assertEqual(resumed.last["outcome"], "improved", resumed)
        self.assertEqual(resumed.last["run"], listed.last["run"])

    def test_a_damaged_journal(self):
        self.workspace.mkdir()
        (self.workspace / "accelopt.db").write_bytes(bytes(range(256)) * 32)
        before = (self.workspace / "accelopt.db").read_bytes()
        self.task()
        self.assert_says(self.small_run(), 1, "accelopt.db", "no accelopt journal", "--workspace DIR")
        self.assert_says(self.accelopt("runs", "--workspace", self.workspace), 1, "no accelopt journal")
        self.assertEqual((self.workspace / "accelopt.db").read_bytes(), before, "it is left as it is")

    # Runs.

    def test_no_runs(self):
        for command in ("runs", "show", "best", "diff", "replay", "resume"):
            with self.subTest(command):
                self.assert_says(self.accelopt(command, "--workspace", self.workspace), 1, "no runs here", "accelopt run TASK")
        self.assertFalse(self.workspace.exists(), "none of them makes one")

    def test_an_unknown_run(self):
        self.task()
        self.small_run("--max-evaluations", 1)
        for command in ("show", "best", "diff", "replay", "resume"):
            with self.subTest(command):
                self.assert_says(self.accelopt(command, "zzz", "--workspace", self.workspace), 1, '"zzz"', "accelopt runs")
        self.assert_says(self.accelopt("replay", "--workspace", self.workspace, "--set", "bem=1"), 2, '"bem"', "beam")
        self.assert_says(self.accelopt("replay", "--workspace", self.workspace, "--set", "beam=x"), 2, "beam", '"x"')

    # Models.

    def model_config(self, url):
        self.workspace.mkdir(exist_ok=True)
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{url}"\nmodel = "{chat_script.MODEL}"\nkey_env = "BLACKBOX_KEY"\n', encoding="utf-8")

    def test_a_server_without_this_model(self):
        self.task()
        rule = {"fail": {"status": 404, "message": "no such model"}}
        server = self.server({"failures": [rule], "roles": {}})
        finished = self.small_run("--base-url", server.url, "--model", "missing")
        self.assert_says(finished, 1, "missing", "404", "base_url", "accelopt resume")

    def test_a_key_in_a_file_is_refused(self):
        self.task()
        self.model_config("http://127.0.0.1:9/v1")
        config = self.workspace / "accelopt.toml"
        config.write_text(config.read_text() + f'key = "{KEY}"\n', encoding="utf-8")
        finished = self.small_run()
        self.assert_says(finished, 1, r"accelopt\.toml:5: models\.default\.key", "key_env")
        self.assertNotIn(KEY, finished.said)

    def test_roles_without_a_model(self):
        self.task()
        self.assert_says(self.small_run("--agents", "model"), 1, "models.default", "accelopt.toml", "--base-url")

    def test_one_signal_ends_what_keeps_nothing_and_its_worker(self):
        task = self.task()
        for signal, *command in (("INT", "eval", task), ("TERM", "selftest"), ("INT", "lint", "--mutants", task)):
            with self.subTest(command[0]):
                gone = self.folder / f"{command[0]}_worker_ended"
                worker = f"sh -c 'kill -{signal} $PPID; cat > {gone}.input; touch {gone}'"  # as one in a queue, it says no hello
                self.assert_says(self.accelopt(*command, "--worker", worker, seconds=60), 130, "stopping", "stopped as asked")
                self.assertTrue(gone.exists())


if __name__ == "__main__":
    support.main()
