# SPDX-License-Identifier: Apache-2.0
"""Solutions by Triton's interpreter. Triton decides when it is imported whether it interprets, so that this is done by
another server, which the first one starts when it is asked."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from . import answer, children, confine, recording
from .dtypes import BY_NAME
from .errors import Failure
from .request import checked
from .shapes import numel


class Interpreter:
    """The other server, as the first one sees it."""

    def __init__(self, options: argparse.Namespace) -> None:
        command = [sys.executable, "-I", "-S", os.path.dirname(os.path.abspath(__file__)), "--triton", options.triton, "--interpreter"]
        command += ["--without", options.without, "--scratch", options.scratch]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children.known_children.add(self.process.pid)
        ready = self.read()
        if "error" in ready:
            raise Failure("internal", f"the interpreter does not start: {ready['error'].get('message')}")

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def ask(self, line: bytes) -> dict[str, Any]:
        """@error Failure: what the other server answers."""
        assert self.process.stdin is not None
        self.process.stdin.write(line if line.endswith(b"\n") else line + b"\n")
        self.process.stdin.flush()
        reply = self.read()
        if "error" in reply:
            raise Failure(reply["error"].pop("kind"), reply["error"].pop("message"), **reply["error"])
        return reply["ok"]


def ask(server: Any, line: bytes) -> dict[str, Any]:
    """In the first server: what the workloads were captured by is interpreted by the other one. @error Failure."""
    request = checked(json.loads(line), "interpret")
    if request["configurations"] == "all":
        request["configurations"] = "first"
    deadline = time.monotonic() + request["limits"]["wall_s"]
    recorded = [server.recorder.recorded(request, workload, deadline) for workload in request["workloads"]]
    if server.interpreting is None:
        server.interpreting = Interpreter(server.options)
    try:
        server.interpreting.ask(json.dumps({**json.loads(line), "recorded": recorded}).encode())
    except (BrokenPipeError, EOFError):
        server.interpreting = None  # the next request starts another
        raise Failure("internal", "the interpreter's server has ended") from None
    ok = {"choices": recorded[0]["choices"], "findings": recorded[0]["findings"], "reads": recorded[0]["plan"]["reads"]}
    return {**ok, "seconds": {"host": round(request["limits"]["wall_s"] - (deadline - time.monotonic()), 4)}}


def interpret(server: Any, request: dict[str, Any], recorded: list[dict[str, Any]]) -> dict[str, Any]:
    """In the other server. @error Failure."""
    from . import server as serving
    limits, folder = request["limits"], request["folder"]
    for path, size in input_files(request):
        if not os.path.isfile(path) or os.path.getsize(path) != size:
            raise Failure("request", f"folder: {os.path.basename(path)} is not there, or has not {size} bytes")
    with serving.private_folder(server.options.scratch) as private:
        readable = [*confine.system_folders(server.options.triton), folder]
        confinement = confine.Confinement(server.isolation, limits, private, readable)

        def work() -> Any:
            from . import replaying
            recording.limit_host(limits["host_s"])
            return recording.outcome(lambda: replaying.run({**request, "recorded": recorded}, private))
        try:
            value, blobs = children.run(work, confinement, 32 << 20, time.monotonic() + limits["wall_s"])
        except Failure as failure:
            if failure.kind == "crashed" and "SIGSEGV" in failure.message:
                raise Failure("crashed", f"{failure.message}; likely a kernel stores to an input, which is read-only, or far outside a tensor") from None
            raise
        ok = answer.opened(value)
        answer.need(not blobs and ok == {}, "its fields")
        for name, size in output_files(request):
            fetch(os.path.join(private, name), os.path.join(folder, name), size)
    return ok


def input_files(request: dict[str, Any]) -> list[tuple[str, int]]:
    return [(os.path.join(request["folder"], f"{workload['name']}.{spec['name']}.bin"), size_of(spec))
            for workload in request["workloads"] for spec in workload["inputs"] if "shape" in spec]


def output_files(request: dict[str, Any]) -> list[tuple[str, int]]:
    files = []
    for workload in request["workloads"]:
        files += [(f"{workload['name']}.{spec['name']}.bin", size_of(spec)) for spec in workload["outputs"]]
        files += [(f"{workload['name']}.{spec['name']}.out.bin", size_of(spec)) for spec in workload["inputs"] if spec.get("inout")]
    return files


def size_of(spec: dict[str, Any]) -> int:
    return numel(spec["shape"]) * BY_NAME[spec["dtype"]].itemsize


def fetch(source: str, target: str, size: int) -> None:
    """Copies a result; a link, or a file of another size, is none. @error Failure: crashed."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise answer.malformed(f"no {os.path.basename(source)}") from None
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size != size:
            raise answer.malformed(f"the size of {os.path.basename(source)}")
        with open(target, "wb") as result:
            left = size
            while left:
                chunk = file.read(min(left, 1 << 20))
                if not chunk:
                    raise answer.malformed(os.path.basename(source))
                result.write(chunk)
                left -= len(chunk)
