# SPDX-License-Identifier: Apache-2.0
"""What the black-box tests share: the installed binary in a home of its own, small tasks, and the scripted chat server.

Every test file is run as `python3 test_x.py FOLDER [unittest options]`; FOLDER holds accelopt and accelopt-arena.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAT_SERVER = ROOT / "tests" / "fakes" / "chat_server.py"
SUITE = ROOT / "suites" / "nkibench-cpu"
LONGEST_COMMAND_SECONDS = 150

# The measured peaks of this machine are shared by all tests: measuring them takes two seconds.
CACHE = pathlib.Path(tempfile.gettempdir()) / f"accelopt-blackbox-cache-{os.getuid()}"

BASELINE = """\
#include "task.h"

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        acc += lhs[i * K + k] * rhs[k * N + j];
      }
      y[i * N + j] = acc;
    }
  }
}
"""

# Same answers, several times faster: the compiler writes this one with vectors.
FASTER = """\
#include "task.h"

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float row[N] = {};
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) {
        row[j] += lhs[i * K + k] * rhs[k * N + j];
      }
    }
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j];
  }
}
"""

REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* lhs, const real* rhs, real* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += lhs[i * K + k] * rhs[k * N + j];
      y[i * N + j] = sum;
    }
  }
}
"""

TASK = """\
schema = 1
name = "small_matmul"
op_type = "matmul"
description = "y = lhs @ rhs"
target = "cpu"

[axes]
M = "var"
N = 64
K = 64

[[inputs]]
name = "lhs"
shape = ["M", "K"]
dtype = "float32"
init = "normal(0, 1)"
[[inputs]]
name = "rhs"
shape = ["K", "N"]
dtype = "float32"
init = "normal(0, 1)"

[[outputs]]
name = "y"
shape = ["M", "N"]
dtype = "float32"

[[workloads]]
name = "raced"
axes = { M = 48 }
role = "race"
[[workloads]]
name = "odd"
axes = { M = 13 }
role = "check"
[[workloads]]
name = "hidden"
axes = { M = 31 }
role = "held_out"

[cost]
flops = "2*M*N*K"
bytes = "4*(M*K + K*N + M*N)"

[cpu]
threads = 1
cache = "cold"
"""


def program_folder():
    return pathlib.Path(program_folder.path)


def steady_worker():
    """The options with which kernels are measured by what their sources say: for tests of what is said, not of what is measured."""
    return "--worker", program_folder() / "steady_worker"


def until(condition, what, running=None, seconds=60):
    """Waits until condition() gives something true, and gives that. `running`: a command that must not end before."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if running is not None and running.process.poll() is not None:
            raise AssertionError(f"it ended before {what}\n{running.finished()}")
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.01)
    return found


class Finished:
    """A command that ended: its exit code and what it wrote."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    @property
    def said(self):
        return self.out + self.err

    @property
    def lines(self):
        """The JSON lines of standard output."""
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    @property
    def last(self):
        return self.lines[-1]

    def __str__(self):
        return f"accelopt {' '.join(self.arguments)}: exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Running:
    """A command that goes on, writing into files; killed with everything that it started."""

    def __init__(self, arguments, process, out, err):
        self.arguments, self.process, self.out_path, self.err_path = arguments, process, out, err

    def finish(self, seconds=LONGEST_COMMAND_SECONDS):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end in {seconds} s\n{self.finished()}") from None
        return self.finished()

    def finished(self):
        return Finished(self.arguments, self.process.returncode, self.out_path.read_text(encoding="utf-8", errors="replace"),
                        self.err_path.read_text(encoding="utf-8", errors="replace"))

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        """kill -9 of the program alone: what it leaves behind is part of the test."""
        self.process.kill()
        self.process.wait()


class ChatServer:
    """tests/fakes/chat_server.py on a free port."""

    def __init__(self, folder, script):
        folder.mkdir(parents=True, exist_ok=True)
        self.log_path = folder / "requests.jsonl"
        (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, str(CHAT_SERVER), "--script", str(folder / "script.json"), "--log", str(self.log_path),
             "--until-stdin-closes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self):
        """The log so far; a line that is being written is left out."""
        if not self.log_path.exists():
            return []
        text = self.log_path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def answered(self, role=None):
        return [r for r in self.requests if r["outcome"] == "answered" and role in (None, r["role"])]

    def wait_for(self, enough, seconds=60):
        """Until the log fulfils a condition."""
        until(lambda: enough(self.requests), "the requests come to what is waited for", seconds=seconds)

    def settle(self, seconds=60):
        """After a client was killed: until all that it had asked is in the log."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/settled", timeout=seconds):
            pass

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class TestCase(unittest.TestCase):
    """A folder for each test, with home, workspace and a small task in it."""

    maxDiff = None
    tools = {}  # what doctor says of them: asked once, because it starts each

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="accelopt-blackbox-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.workspace = self.folder / "workspace"
        (self.folder / "home").mkdir()
        CACHE.mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(CACHE),
            "LC_ALL": "C",
            # Runs of one test are to learn nothing from each other, unless that is what is tested.
            "ACCELOPT_KNOWLEDGE": "none",
        }

    def task(self, name="task", definition=TASK, baseline=BASELINE, reference=REFERENCE):
        folder = self.folder / name
        folder.mkdir()
        (folder / "task.toml").write_text(definition, encoding="utf-8")
        (folder / "baseline.cpp").write_text(baseline, encoding="utf-8")
        (folder / "reference.cpp").write_text(reference, encoding="utf-8")
        return folder

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def need_tools(self, *names, no_device=False):
        """Puts the project's own Python environment (NVRTC, Triton) within reach; skips the test without these tools."""
        if "VIRTUAL_ENV" in os.environ:
            self.environment["VIRTUAL_ENV"] = os.environ["VIRTUAL_ENV"]
        if not self.tools:
            self.tools.update({line["name"]: line for line in self.accelopt("doctor", "--json").lines if line["type"] == "check"})
        for name in names:
            if self.tools[name]["state"] != "ok":
                self.skipTest(f"no {name}: {self.tools[name]['detail']}; {self.tools[name]['advice']}")
        if no_device and self.tools["cuda driver"]["state"] == "ok":
            self.skipTest("this machine has a CUDA driver")

    def start(self, *arguments, environment=None):
        self.started = getattr(self, "started", 0) + 1
        out, err = self.folder / f"{self.started}.out", self.folder / f"{self.started}.err"
        with open(out, "wb") as out_file, open(err, "wb") as err_file:
            process = subprocess.Popen([str(program_folder() / "accelopt"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                       stdout=out_file, stderr=err_file, cwd=self.folder,
                                       env=self.environment if environment is None else environment)
        running = Running([*map(str, arguments)], process, out, err)
        self.addCleanup(lambda: process.poll() is None and running.kill())
        return running

    def accelopt(self, *arguments, environment=None, seconds=LONGEST_COMMAND_SECONDS):
        finished = self.start(*arguments, environment=environment).finish(seconds)
        self.assert_no_crash(finished)
        return finished

    def succeed(self, *arguments, **options):
        finished = self.accelopt(*arguments, **options)
        self.assertEqual(finished.code, 0, finished)
        return finished

    def assert_no_crash(self, finished):
        for sign in ("terminate called", "Traceback", "Segmentation fault", "Assertion", "AddressSanitizer", "what():"):
            self.assertNotIn(sign, finished.said, finished)
        self.assertGreaterEqual(finished.code, 0, f"ended by a signal: {finished}")

    def assert_says(self, finished, code, *patterns):
        """The exit code, and a message on standard error in which every pattern is found."""
        self.assertEqual(finished.code, code, finished)
        for pattern in patterns:
            self.assertRegex(finished.err, re.compile(pattern, re.IGNORECASE), finished)

    def server(self, script, name="chat"):
        server = ChatServer(self.folder / name, script)
        self.addCleanup(server.close)
        return server


def with_task(repository, *changes):
    """The repository's refactoring task with these texts exchanged, and with programs in Python that do not look for installed packages as
    they start, a sixth of what a small run takes."""
    toml = repository / "accelopt" / "refactor.toml"
    text = toml.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text, f"{toml} has no {before}"
        text = text.replace(before, after)
    toml.write_text(text.replace('["python3", "{task}/', '["python3", "-S", "{task}/'), encoding="utf-8")


# Taken out of the command line before the tests run.
LONG = "--long" in sys.argv


def takes_long():
    """Whether --long was given, for a test that does more then (make check-long)."""
    return LONG


def main():
    if len(sys.argv) < 2 or not (pathlib.Path(sys.argv[1]) / "accelopt").exists():
        raise SystemExit(f"usage: {sys.argv[0]} FOLDER-OF-ACCELOPT [unittest options]")
    program_folder.path = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.argv = [word for word in sys.argv if word != "--long"]
    unittest.main(verbosity=2)
