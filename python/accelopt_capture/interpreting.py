# SPDX-License-Identifier: Apache-2.0
"""Solutions by Triton's interpreter. Triton decides when it is imported whether it interprets, so that this is done by
another server, which the first one starts when it is asked."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from . import answer, children, confine
from .dtypes import BY_NAME
from .errors import Failure
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


def interpret(server: Any, request: dict[str, Any]) -> dict[str, Any]:
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
            from . import candidate
            return serving.timed(limits["host_s"], lambda: candidate.outcome(request, private, run))
        value, blobs = children.run(work, confinement, 32 << 20)
        ok = answer.opened(value)
        answer.need(not blobs and set(ok) == {"choices", "findings", "reads", "seconds"}, "its fields")
        answer.check_common(ok)
        answer.need(isinstance(ok["reads"], dict), "reads")
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


def run(request: dict[str, Any], private: str) -> tuple[dict[str, Any], list[bytes]]:
    """In the solution's process."""
    import time

    from . import candidate, errors, repairs, session, state
    from .compiling import limit_time
    from .memory import Memory
    repairs.install(request["arch"])
    begun = time.monotonic()
    configurations = "first" if request["configurations"] == "all" else request["configurations"]
    current = session.Session(session.NoPlan(), request["device"], configurations, request["limits"]["configurations"])
    state.begin(current)
    try:
        entry = candidate.load(request)
        request = {**request, "convention": candidate.convention_of(entry, request)}
        for workload in request["workloads"]:
            memory = current.sink = Memory(workload["name"], request["folder"], private)
            value, _ = candidate.call(entry, request, workload)
            if request["convention"] == "value":
                candidate.take_outputs(memory, value, workload["outputs"])
            memory.finish()
    finally:
        if errors.first_refusal is not None:
            raise errors.first_refusal
    limit_time(0, 0)
    return {"choices": current.choices, "findings": current.findings, "reads": current.reads,
            "seconds": {"host": round(time.monotonic() - begun, 4)}}, []
