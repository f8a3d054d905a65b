# SPDX-License-Identifier: Apache-2.0
"""The fork server: reads requests, runs each in a confined child, writes answers. It runs no solution's code itself."""

from __future__ import annotations

import argparse
import base64
import contextlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any, BinaryIO

from . import answer, children, confine, frames, state
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
                return interpreting.interpret(self, checked(request, "interpret"))
            checked(json.loads(line), "interpret")
            if self.interpreting is None:
                self.interpreting = interpreting.Interpreter(self.options)
            try:
                return self.interpreting.ask(line)
            except (BrokenPipeError, EOFError):
                self.interpreting = None  # the next request starts another
                raise Failure("internal", "the interpreter's server has ended") from None
        raise Failure("request", f"op: {op!r} is not known")

    def capture(self, request: dict[str, Any]) -> dict[str, Any]:
        from . import candidate
        limits = request["limits"]
        with private_folder(self.options.scratch) as folder:
            confinement = confine.Confinement(self.isolation, limits, folder, confine.system_folders(self.options.triton))
            most = limits["cubin_bytes"] + frames.MOST_JSON

            def work() -> tuple[Any, list[bytes]]:
                return timed(limits["host_s"], lambda: candidate.outcome(request, os.path.join(folder, "cache"), candidate.capture))
            value, blobs = children.run(work, confinement, most)
        ok = answer.opened(value)
        answer.check_capture(ok, blobs, request)
        for cubin, blob in zip(ok["cubins"], blobs):
            cubin["data"] = base64.b64encode(blob).decode()
        return ok


    def trace(self, request: dict[str, Any]) -> dict[str, Any]:
        """The instructions of an NKI kernel. What is in them is checked where it is used."""
        from . import candidate, tracing
        limits = request["limits"]
        with private_folder(self.options.scratch) as folder:
            confinement = confine.Confinement(self.isolation, limits, folder, confine.system_folders(*tracing.FOLDERS))

            def work() -> tuple[Any, list[bytes]]:
                return timed(limits["host_s"], lambda: candidate.outcome(request, folder, tracing.trace))
            value, _ = children.run(work, confinement, frames.MOST_JSON)
        ok = answer.opened(value)
        answer.need(set(ok) == {"traces", "seconds"} and isinstance(ok["traces"], list), "its fields")
        return ok


def timed(seconds: float, work: Any) -> Any:
    """The work, with its host part limited: candidate.capture turns that off before it compiles."""
    from .compiling import CLOCK_FACTOR, limit_time
    limit_time(seconds, CLOCK_FACTOR * seconds)
    return work()


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
        load_front_end(options)
        confine.be_private()
        with contextlib.suppress(OSError):
            confine.reap_orphans()
        server.isolation = confine.probe(options.without.split(","))
        if not options.nki:
            warm_up(options)
    except Failure as failure:
        server.say({"error": failure.json()})
        return 1
    except Exception as error:
        server.say({"error": Failure("setup", f"{type(error).__name__}: {error}").json()})
        return 1
    return server.serve()
