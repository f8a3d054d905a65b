# SPDX-License-Identifier: Apache-2.0
"""`--worker COMMAND`: a worker behind a second process, behind a local ssh, and behind everything that goes wrong."""

import pathlib
import shlex
import socket
import sys

import local_ssh
import support

SECRET = "sk-blackbox-not-for-workers"

# Passes lines on between the coordinator and a worker. With a file that is not there yet: makes it, and is gone with the
# worker as soon as the first race is asked for, as a connection that is lost.
LINE = """\
import os, subprocess, sys, threading
lost = sys.argv[1]
worker = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def answers():
    for line in worker.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
threading.Thread(target=answers, daemon=True).start()
for line in sys.stdin.buffer:
    if b'"op":"triage"' in line and not os.path.exists(lost):
        open(lost, "w").close()
        worker.kill()
        os._exit(255)
    worker.stdin.write(line)
    worker.stdin.flush()
worker.stdin.close()
sys.exit(worker.wait())
"""


class RemoteWorker(support.TestCase):
    def worker(self, *more):
        return [str(support.program_folder() / "accelopt"), "worker", "--device", "cpu", *more]

    def shell(self, before):
        """A command that runs some shell code and then is the worker."""
        return shlex.join(["sh", "-c", before + "; exec " + shlex.join(self.worker())])

    def run_small(self, command, *more, task=None):
        return self.accelopt("run", task or self.task(), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 2, "--worker",
                             command, *more)

    def check_improved(self, finished):
        self.assertEqual((finished.code, finished.last["outcome"]), (0, "improved"), finished)
        self.assertGreater(finished.last["speedup"]["low"], 1.5)

    def test_a_second_process_behind_banners(self):
        seen = self.folder / "environment"
        command = self.shell(f"echo 'Welcome to the host'; echo 'motd on stderr' >&2; printf 'last login: '; env > {seen}")
        self.environment["BLACKBOX_KEY"] = SECRET
        self.environment["OTHER_API_TOKEN"] = SECRET
        self.environment["UNUSUAL"] = SECRET
        self.workspace.mkdir()
        (self.workspace / "accelopt.toml").write_text('[models.unused]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
                                                      'key_env = "UNUSUAL"\n', encoding="utf-8")
        finished = self.run_small(command, "--agents", "recipes")
        self.check_improved(finished)
        notes = " ".join(line["text"] for line in finished.lines if line["type"] == "note")
        self.assertIn(socket.gethostname(), notes)
        self.assertRegex(notes, r"device cpu \(.*cores")
        environment = seen.read_text(encoding="utf-8")
        self.assertIn("PATH=", environment)
        self.assertNotIn(SECRET, environment, "keys stay with the coordinator")

    def test_eval_and_its_quoting(self):
        odd = self.folder / "a folder with $HOME and 'quotes'"
        odd.mkdir()
        script = odd / "start it"
        script.write_text("#!/bin/sh\nexec " + shlex.join(self.worker()) + ' "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        verdict = self.succeed("eval", self.task(), self.file("faster.cpp", support.FASTER), "--json", "--worker", shlex.quote(str(script)))
        self.assertEqual((verdict.last["status"], verdict.last["verdict"]), ("PASSED", "FASTER"), verdict)

    def test_what_goes_wrong_at_the_start(self):
        hello = '{"accelopt":"worker","cores":1,"device":"cpu","host":"h","machine":"m","protocol":77,"system":"s",' \
                '"target":"cpu","version":"9.8.7"}'
        task = self.task()
        for command, patterns in [
            ("no-such-launcher host accelopt worker", ["no-such-launcher", "no such file"]),
            ("sh -c 'exec no-such-accelopt worker'", ["exit code 127", "no-such-accelopt", "PATH"]),
            ("sh -c 'echo host is down for repair >&2; exit 9'", ["exit code 9 before it said hello", "down for repair"]),
            ("sh -c 'yes this is no worker'", ["speaks, but not as a worker", "this is no worker"]),
            (f"sh -c {shlex.quote('echo ' + shlex.quote(hello) + '; cat')}", ["accelopt 9.8.7", "version 77", "same accelopt"]),
            (f"sh -c {shlex.quote('echo ' + shlex.quote(hello.replace('77', '1').replace('cpu', 'cuda')) + '; cat')}",
             ["measures on cuda", "target cpu"]),
        ]:
            with self.subTest(command):
                self.assert_says(self.accelopt("eval", task, "--worker", command), 1, *patterns)

    def test_doctor_greets_a_worker(self):
        greeted = self.accelopt("doctor", "--json", "--worker", self.shell("echo Welcome"))
        line = next(line for line in greeted.lines if line["name"] == "worker")
        self.assertEqual(line["state"], "ok", line)
        self.assertIn(socket.gethostname(), line["detail"])
        gone = self.accelopt("doctor", "--json", "--worker", "sh -c 'echo no route to host >&2; exit 255'")
        line = next(line for line in gone.lines if line["name"] == "worker")
        self.assertEqual((gone.code, line["state"]), (5, "missing"), gone)
        self.assertIn("no route to host", line["detail"])
        self.assertIn("accelopt worker", line["advice"])

    def test_what_the_command_line_refuses(self):
        task = self.task()
        for arguments, patterns in [
            (["--worker", "ssh 'host"], ["quote", "not closed"]),
            (["--worker", "ssh host", "--device", "cpu:1"], ["--device", "worker's own command"]),
            (["--worker", "  "], ["empty"]),
        ]:
            with self.subTest(arguments):
                self.assert_says(self.accelopt("eval", task, *arguments), 2, *patterns)
        self.assert_says(self.accelopt("run", task, "--workspace", self.workspace, "--worker", "a", "--defer", "b"), 2, "--defer", "one of them")

    def test_a_connection_that_is_lost_in_the_middle(self):
        lost = self.folder / "lost"
        line = self.file("line.py", LINE)
        finished = self.run_small(shlex.join([sys.executable, str(line), str(lost), *self.worker()]))
        self.assertTrue(lost.exists(), "the first connection was lost")
        self.check_improved(finished)
        greetings = [note for note in finished.lines if note["type"] == "note" and "measuring on" in note["text"]]
        self.assertEqual(len(greetings), 2, "one fresh worker")
        self.assertNotIn("RUNTIME_ERROR", finished.last["counts"])

    def test_a_run_goes_on_elsewhere(self):
        """Begun through a worker that is gone for good after a while, resumed through another."""
        task = self.task()
        never = self.run_small("sh -c 'exit 3'", task=task)
        self.assert_says(never, 1, "exit code 3", "accelopt doctor --worker")
        self.assertEqual(self.succeed("runs", "--workspace", self.workspace, "--json").lines, [], "what never began is no run")
        lost = self.folder / "lost"
        line = self.file("line.py", LINE)
        gone = shlex.join(["sh", "-c", f"test -e {lost} && exit 3; exec {shlex.join([sys.executable, str(line), str(lost), *self.worker()])}"])
        finished = self.run_small(gone, task=task)
        self.assert_says(finished, 1, "exit code 3", "accelopt resume")
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json", "--worker", shlex.join(self.worker()))
        self.check_improved(resumed)

    def test_nothing_is_left_behind(self):
        """A killed coordinator takes its worker's end of the line with it."""
        pid_file = self.folder / "pid"
        running = self.start("run", self.task(), "--workspace", self.workspace, "--json", "--worker", self.shell(f"echo $$ > {pid_file}"))
        support.until(lambda: pid_file.exists() and pid_file.read_text().strip(), "the worker starts", running)
        running.kill()
        pid = int(pid_file.read_text())
        support.until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the worker ends without its coordinator")

    def test_over_a_local_ssh(self):
        server = local_ssh.LocalSsh(self.folder / "ssh")
        self.addCleanup(server.close)
        cache = f"XDG_CACHE_HOME={support.CACHE}"
        finished = self.run_small(shlex.join([*server.command, "env", cache, *self.worker()]))
        self.check_improved(finished)
        refused = self.accelopt("eval", "task", "--worker", shlex.join([*server.command, "/nowhere/accelopt", "worker"]))
        self.assert_says(refused, 1, "exit code 127", "/nowhere/accelopt", "whole path")


if __name__ == "__main__":
    support.main()
