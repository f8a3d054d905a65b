# SPDX-License-Identifier: Apache-2.0
"""What the fakes of NVIDIA's tools share: they run the program that they are given, over the fake driver."""

import os
import signal
import subprocess
import sys
import time


def hang() -> None:
    """Never comes back."""
    while True:
        signal.pause()


def options(arguments: list[str], flags: set[str]) -> tuple[dict[str, str], list[str]]:
    """Options with a value, up to the program, and the program's command line."""
    out: dict[str, str] = {}
    at = 0
    while at < len(arguments) and arguments[at].startswith("--"):
        if arguments[at] in flags:
            out[arguments[at]] = ""
            at += 1
        else:
            out[arguments[at]] = arguments[at + 1]
            at += 2
    return out, arguments[at:]


def run(command: list[str], guard: bool = False) -> tuple[int, list[str]]:
    """The program's exit code (below 0: a signal) and the trace of the fake driver."""
    trace = os.path.join(os.environ["TMPDIR"], "trace")
    environment = dict(os.environ, ACCELOPT_FAKE_TRACE=trace)
    if guard:
        environment["ACCELOPT_FAKE_GUARD"] = "1"
    sys.stdout.flush()
    code = subprocess.run(command, env=environment, check=False).returncode
    lines: list[str] = []
    if os.path.exists(trace):
        with open(trace, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.remove(trace)
    return code, lines


def start_apart(command: list[str]) -> int:
    """Starts the program in a session of its own, as a launcher may, and returns its number once its kernels run."""
    trace = os.path.join(os.environ["TMPDIR"], "trace")
    process = subprocess.Popen(command, env=dict(os.environ, ACCELOPT_FAKE_TRACE=trace), start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if os.path.exists(trace):
            with open(trace, encoding="utf-8") as file:
                if "profiler on" in file.read():
                    break
        time.sleep(0.01)
    return process.pid


def log(path: str, line: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
