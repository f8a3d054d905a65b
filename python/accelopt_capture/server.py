# SPDX-License-Identifier: Apache-2.0
"""The fork server: reads requests, runs each in a confined child, writes answers. It runs no solution's code itself."""

from __future__ import annotations

import argparse
import base64
import contextlib
import gc
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, BinaryIO, Callable

from . import answer, children, confine, frames, machine_code, recording, state
from .errors import Failure
from .request import ARCHITECTURES, checked
from .session import NoPlan, Session

PROTOCOL = 1
TRITON = "3.6.0"
MOST_LINE = 256 << 20
STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")


class Server:
    def __init__(self, options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> None:
        self.options = options
        self.source, self.sink = source, sink
        self.isolation = confine.Isolation()
        self.interpreting: Any = None  # another server, which has Triton's interpreter loaded
        self.recorder = recording.Recorder(self)
        self.machine_code = machine_code.Kept()

    def say(self, line: dict[str, Any]) -> None:
        # A solution's words may hold halves of characters, which are no text.
        text = json.dumps(line, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        self.sink.write(text.encode("utf-8", "replace") + b"\n")
        self.sink.flush()

    def serve(self) -> int:
        self.say({"ready": self.ready()})
        while True:
            line = self.source.readline(MOST_LINE + 1)
            if not line:
                return 0
            if len(line) > MOST_LINE:
                self.say({"id": None, "error": Failure("protocol", f"a line of over {MOST_LINE} bytes").json()})
                return 1
            self.say(self.answer(line))

    def ready(self) -> dict[str, Any]:
        if self.options.nki:
            return {"protocol": PROTOCOL, "python": sys.version.split()[0], "isolation": str(self.isolation)}
        import triton
        from triton import knobs
        numpy = None
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            numpy = importlib.metadata.version("numpy")
        return {"protocol": PROTOCOL, "triton": triton.__version__, "python": sys.version.split()[0],
                "ptxas": knobs.nvidia.ptxas.version, "numpy": numpy, "architectures": list(ARCHITECTURES),
                "isolation": str(self.isolation)}

    def answer(self, line: bytes) -> dict[str, Any]:
        identity = None
        try:
            request = parsed(line)
            identity = request.get("id")
            if isinstance(identity, bool) or not isinstance(identity, (int, str)):
                identity = None
                raise Failure("request", "id: an integer or a string")
            return {"id": identity, "ok": self.carried_out(request, line)}
        except Failure as failure:
            return {"id": identity, "error": failure.json()}
        except Exception as error:  # a defect here must not end the server
            return {"id": identity, "error": Failure("internal", f"{type(error).__name__}: {error}").json()}

    def carried_out(self, request: dict[str, Any], line: bytes) -> dict[str, Any]:
        op = request.get("op")
        if op == "ping":
            return {}
        if self.options.nki:
            if op != "trace":
                raise Failure("request", f"op: {op!r} is not known")
            return self.trace(checked(request, "trace"))
        if op == "capture" and not self.options.interpreter:
            return self.capture(checked(request, "capture"))
        if op == "interpret":
            from . import interpreting
            if self.options.interpreter:
                recorded = request.pop("recorded")
                return interpreting.interpret(self, checked(request, "interpret"), recorded)
            return interpreting.ask(self, line)
        raise Failure("request", f"op: {op!r} is not known")

    def capture(self, request: dict[str, Any]) -> dict[str, Any]:
        limits, begun = request["limits"], time.monotonic()
        deadline = begun + limits["wall_s"]
        recorded = self.recorder.record_all(request, deadline)
        host_s = time.monotonic() - begun
        most = limits["cubin_bytes"] + frames.MOST_JSON
        kept = self.machine_code.of(request)

        def work(folder: str) -> tuple[Any, list[bytes]]:
            from . import linking
            until = deadline - limits["wall_s"] * 0.1 - 1.0  # time to put the answer together, before patience is lost
            return recording.outcome(lambda: linking.build(request, recorded, os.path.join(folder, "cache"), until, kept))
        value, blobs = self.confined(work, limits, most, deadline)
        ok = answer.opened(value)
        if isinstance(ok.get("seconds"), dict):
            ok["seconds"]["host"] = round(host_s, 4)
        compiled = ok.pop("compiled", None)
        answer.check_capture(ok, blobs, request)
        self.machine_code.keep(request, compiled, blobs)
        ok["compiled"] = len(compiled)
        for cubin, blob in zip(ok["cubins"], blobs):
            cubin["data"] = base64.b64encode(blob).decode()
        return ok

    def confined(self, work: Callable[[str], Any], limits: dict[str, int], most: int, deadline: float,
                 readable: list[str] | None = None, **confinement: Any) -> tuple[Any, list[bytes]]:
        """What the work gives in a process of its own, which is given its private folder. @error Failure."""
        with private_folder(self.options.scratch) as folder:
            folders = confine.system_folders(*(readable or [self.options.triton]))
            own = confine.Confinement(self.isolation, limits, folder, folders, **confinement)
            return children.run(lambda: work(folder), own, most, deadline)

    def trace(self, request: dict[str, Any]) -> dict[str, Any]:
        """The instructions of an NKI kernel, as text for each workload. What is in it is read and checked where it is used."""
        from . import candidate, tracing
        limits = request["limits"]

        def work(folder: str) -> tuple[Any, list[bytes]]:
            recording.limit_host(limits["host_s"])
            return candidate.outcome(request, folder, tracing.trace)
        deadline = time.monotonic() + limits["wall_s"]
        value, texts = self.confined(work, limits, frames.MOST_JSON, deadline, readable=tracing.FOLDERS)
        ok = answer.opened(value)
        answer.need(set(ok) == {"seconds"} and all(text.isascii() for text in texts), "its fields")
        return {**ok, "traces": [text.decode("ascii") for text in texts]}


def parsed(line: bytes) -> dict[str, Any]:
    try:
        request = frames.strict_json(line)
    except ValueError as error:
        raise Failure("protocol", f"no JSON: {error}") from None
    if not isinstance(request, dict):
        raise Failure("protocol", "no JSON object")
    return request


@contextlib.contextmanager
def private_folder(scratch: str) -> Any:
    folder = tempfile.mkdtemp(prefix="accelopt-capture-", dir=scratch)
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except RecursionError:  # folders in folders in folders
            subprocess.run(["/bin/rm", "-rf", "--", folder], capture_output=True, check=False)


def load_front_end(options: argparse.Namespace) -> None:
    """@error Failure: setup."""
    if options.nki:
        from . import tracing
        tracing.prepare()
    else:
        load_triton(options)


def load_triton(options: argparse.Namespace) -> None:
    """@error Failure: setup."""
    sys.path[:0] = [STANDIN]
    sys.path.append(options.triton)
    os.environ["TRITON_INTERPRET"] = "1" if options.interpreter else "0"
    state.begin(Session(NoPlan()))
    try:
        import triton
    except ImportError as error:
        raise Failure("setup", f"cannot import triton from {options.triton}: {error}; pip install triton=={TRITON}") from None
    if triton.__version__ != TRITON:
        raise Failure("setup", f"{options.triton} has triton {triton.__version__}; this was measured with {TRITON}: "
                      f"pip install triton=={TRITON}")


def warm_up(options: argparse.Namespace) -> None:
    """Loads and hashes what the first compilation would, in this process, so that children inherit it."""
    from . import warming
    with private_folder(options.scratch) as folder:
        warming.warm(folder)


def protocol_descriptors() -> tuple[BinaryIO, BinaryIO]:
    """The standard descriptors, out of reach of anything that prints."""
    source, sink = os.dup(0), os.dup(1)
    confine.empty_input()
    os.dup2(2, 1)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="accelopt_capture", description="Captures Triton solutions; the protocol is in docs/triton.md.")
    front = parser.add_mutually_exclusive_group(required=True)
    front.add_argument("--triton", metavar="SITE_PACKAGES", help="the folder that has triton")
    front.add_argument("--nki", action="store_true", help="traces NKI kernels, with the package that lies beside this one")
    parser.add_argument("--scratch", metavar="FOLDER", help="where private folders are made")
    parser.add_argument("--without", default="", metavar="LAYERS", help="layers of isolation to do without, with commas between them: "
                        "namespaces, landlock, seccomp, watched")
    parser.add_argument("--interpreter", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.triton = os.path.abspath(options.triton) if options.triton else None
    source, sink = protocol_descriptors()
    server = Server(options, source, sink)
    try:
        options.scratch = os.path.abspath(options.scratch or tempfile.gettempdir())
        tempfile.tempdir = options.scratch
        os.environ.clear()
        os.environ.update(PATH="/usr/bin:/bin", LANG="C.UTF-8", HOME=options.scratch, TMPDIR=options.scratch)
        gc.disable()  # nothing of what is loaded becomes garbage
        load_front_end(options)
        confine.be_private()
        with contextlib.suppress(OSError):
            confine.reap_orphans()
        server.isolation = confine.probe(options.without.split(","))
        if not options.nki:
            warm_up(options)
        gc.freeze()  # a child's collector would write to each page that they share
        gc.enable()
    except Failure as failure:
        server.say({"error": failure.json()})
        return 1
    except Exception as error:
        server.say({"error": Failure("setup", f"{type(error).__name__}: {error}").json()})
        return 1
    return server.serve()
