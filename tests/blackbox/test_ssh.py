# SPDX-License-Identifier: Apache-2.0
"""A search through a worker behind a real ssh, whose connection is cut in every stage: nothing is lost, nothing is measured twice."""

import collections
import json
import shlex
import socket
import sys
import threading

import local_ssh
import steady
import support

# The worker's stages, as requests name them.
STAGES = ("open", "build", "triage", "profile", "verify_held_out", "playoff", "confirm")

# Stands between coordinator and ssh client, and keeps every answer that reached the coordinator: near.py LOG PORT STAGE WHEN CLIENT...
# The first time that a request of STAGE is passed on ("asked"), or is answered ("answered"; the answer is lost), it has the connection
# cut by whoever listens at PORT.
NEAR = """\
import json, os, socket, subprocess, sys, threading
log, port, stage, when, *client = sys.argv[1:]
ssh = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
asked = {}
def cut():
    try:
        os.close(os.open(log + ".cut", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    with socket.create_connection(("127.0.0.1", int(port))) as control:
        control.recv(1)
    return True
def answers():
    for line in ssh.stdout:
        said = json.loads(line)
        request = asked.get(said.get("id"))
        if request and ("result" in said or "error" in said):
            if request["op"] == stage and when == "answered" and cut():
                break
            with open(log, "a") as kept:
                kept.write(json.dumps(request, sort_keys=True) + "\\n")
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    os._exit(ssh.wait())
threading.Thread(target=answers, daemon=True).start()
for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" in request and request["op"] not in ("cancel", "stop_waiting"):
        asked[request.pop("id")] = request
    try:
        ssh.stdin.write(line)
        ssh.stdin.flush()
    except BrokenPipeError:
        break
    if request["op"] == stage and when == "asked" and cut():
        break
else:
    ssh.stdin.close()
os._exit(ssh.wait())
"""


class Ssh(steady.SteadyTestCase):
    def setUp(self):
        super().setUp()
        self.ssh = local_ssh.LocalSsh(self.folder / "ssh")
        self.addCleanup(self.ssh.close)
        self.near = self.file("near.py", NEAR)
        self.control = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=self.cut_when_asked, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.control.close)
        self.addCleanup(self.control.shutdown, socket.SHUT_RDWR)

    def cut_when_asked(self):
        while True:
            try:
                asking, _ = self.control.accept()
            except OSError:
                return  # closed
            self.ssh.cut()
            asking.close()

    def search(self, name, stage="none", when="never"):
        """A run through one worker: what it came to, its notes, and how often each request was answered."""
        log = self.folder / f"{name}.log"
        worker = [sys.executable, self.near, log, self.control.getsockname()[1], stage, when, *self.ssh.command, self.worker]
        arguments = self.run_arguments(self.folder / name)
        arguments[arguments.index("--worker") + 1] = shlex.join(map(str, worker))
        finished = self.succeed(*arguments)
        answered = collections.Counter(log.read_text(encoding="utf-8").splitlines())
        notes = [line["text"] for line in finished.lines if line["type"] == "note"]
        return finished.last, notes, answered, log.with_name(log.name + ".cut").exists()

    def test_cut_in_every_stage(self):
        whole, questions = self.uninterrupted()
        over_ssh, _, measured, _ = self.search("whole")
        self.assertEqual(over_ssh["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        self.assertEqual({json.loads(request)["op"] for request in measured}, set(STAGES), "every stage is part of this run")
        without_opening = lambda answered: {request: times for request, times in answered.items() if json.loads(request)["op"] != "open"}  # noqa: E731
        for when in ("asked", "answered") if support.takes_long() else ("asked",):
            for stage in STAGES:
                with self.subTest(stage=stage, when=when):
                    result, notes, answered, cut = self.search(f"{stage} {when}", stage, when)
                    self.assertTrue(cut, "the connection was cut")
                    self.assertEqual(result["decision_hash"], whole["decision_hash"])
                    self.assertEqual(result["counts"], whole["counts"])
                    self.assertEqual(self.model.take()[0], questions, "no question is asked twice, none is left out")
                    self.assertEqual(without_opening(answered), without_opening(measured), "as without the cut: nothing lost, nothing twice")

    def test_a_server_that_is_gone_for_good(self):
        """The run ends with an error that says what ssh said, and goes on elsewhere with what it has."""
        whole, questions = self.uninterrupted()
        self.model.hold_from(sum(questions.values()) // 2)
        arguments = self.run_arguments(self.workspace)
        arguments[arguments.index("--worker") + 1] = shlex.join(map(str, [*self.ssh.command, self.worker]))
        running = self.start(*arguments)
        support.until(self.model.holds, "half of its questions are asked", running)
        self.ssh.refuse()
        self.ssh.cut()
        self.model.let_go()
        finished = running.finish()
        self.assert_says(finished, 1, "connection", "accelopt resume")
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json", "--worker", self.worker)
        self.assertEqual(resumed.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[1], questions, "no question is answered twice")


if __name__ == "__main__":
    support.main()
