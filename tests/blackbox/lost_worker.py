# SPDX-License-Identifier: Apache-2.0
"""Runs through a worker that is lost in a chosen stage, and how often each of its requests was answered."""

import collections
import json
import shlex
import socket
import sys
import threading

import steady

# The worker's stages, as requests name them.
STAGES = ("open", "build", "triage", "profile", "verify_held_out", "playoff", "confirm")

# Stands between coordinator and the command of a worker, and keeps every answer that reached the coordinator: near.py LOG PORT STAGE WHEN COMMAND...
# The first time that a request of STAGE is passed on ("asked"), or is answered ("answered"; the answer is lost), it has the connection
# cut by whoever listens at PORT. SIGTERM is for the command: it ends when that has ended.
NEAR = """\
import json, os, signal, socket, subprocess, sys, threading
signal.signal(signal.SIGTERM, lambda *_: None)
log, port, stage, when, *command = sys.argv[1:]
client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
    for line in client.stdout:
        said = json.loads(line)
        request = asked.get(said.get("id"))
        if request and ("result" in said or "error" in said):
            if request["op"] == stage and when == "answered" and cut():
                break
            with open(log, "a") as kept:
                kept.write(json.dumps(request, sort_keys=True) + "\\n")
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    os._exit(client.wait())
threading.Thread(target=answers, daemon=True).start()
for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" in request and request["op"] not in ("cancel", "stop_waiting"):
        asked[request.pop("id")] = request
    try:
        client.stdin.write(line)
        client.stdin.flush()
    except BrokenPipeError:
        break
    if request["op"] == stage and when == "asked" and cut():
        break
else:
    client.stdin.close()
os._exit(client.wait())
"""


def without_opening(answered):
    """A fresh worker opens the task again: that alone may be done twice."""
    return {request: times for request, times in answered.items() if json.loads(request)["op"] != "open"}


class LostWorkerTestCase(steady.SteadyTestCase):
    """A test says in `command(name)` how its worker is started, and in `lose` how it is lost."""

    def setUp(self):
        super().setUp()
        self.near = self.file("near.py", NEAR)
        self.control = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=self.lose_when_asked, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.control.close)
        self.addCleanup(self.control.shutdown, socket.SHUT_RDWR)

    def lose_when_asked(self):
        while True:
            try:
                asking, _ = self.control.accept()
            except OSError:
                return  # closed
            try:
                self.lose()
            finally:
                asking.close()

    def watched(self, name, command, stage="none", when="never"):
        """The worker command, and the file in which its answered requests are kept."""
        log = self.folder / f"{name}.log"
        return shlex.join(map(str, [sys.executable, self.near, log, self.control.getsockname()[1], stage, when, *command])), log

    def arguments_with(self, name, *workers):
        arguments = self.run_arguments(self.folder / name)
        at = arguments.index("--worker")
        return arguments[:at] + [argument for worker in workers for argument in ("--worker", worker)] + arguments[at + 2:]

    def search(self, name, stage="none", when="never"):
        """A run through one worker: its result, how often each request was answered, and whether the worker was lost."""
        worker, log = self.watched(name, self.command(name), stage, when)
        finished = self.succeed(*self.arguments_with(name, worker))
        return finished.last, collections.Counter(log.read_text(encoding="utf-8").splitlines()), log.with_name(log.name + ".cut").exists()

    def check_lost_in(self, stages, moments):
        """Loses the worker in each of the stages; the run is the one that nothing befalls."""
        whole, questions = self.uninterrupted()
        alike, measured, _ = self.search("whole")
        self.assertEqual(alike["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[0], questions)
        self.assertEqual({json.loads(request)["op"] for request in measured}, set(STAGES), "every stage is part of this run")
        for when in moments:
            for stage in stages:
                with self.subTest(stage=stage, when=when):
                    result, answered, lost = self.search(f"{stage}-{when}", stage, when)
                    self.assertTrue(lost, "the worker was lost")
                    self.assertEqual(result["decision_hash"], whole["decision_hash"])
                    self.assertEqual(result["counts"], whole["counts"])
                    self.assertEqual(self.model.take()[0], questions, "no question is asked twice, none is left out")
                    self.assertEqual(without_opening(answered), without_opening(measured), "as if it had not been lost: nothing lost, nothing twice")
