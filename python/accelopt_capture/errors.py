# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, by kind, and where in the solution it happened."""

from __future__ import annotations

import sys
import traceback
from types import FrameType, TracebackType
from typing import Any

KINDS = ("refused", "compile", "python", "contract", "limit", "crashed", "request", "protocol", "internal", "setup")
MESSAGE_CHARACTERS = 2000
TEXT_CHARACTERS = 16384

# Names of the solution's files, as its code objects have them. Set in the process that runs it.
solution_files: set[str] = set()


class Failure(Exception):
    """An error of the protocol."""

    def __init__(self, kind: str, message: str, **where: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.where = {key: value for key, value in where.items() if value is not None}

    def json(self) -> dict[str, Any]:
        message = " ".join(self.message.split())[:MESSAGE_CHARACTERS]
        where = {key: value[:TEXT_CHARACTERS] if isinstance(value, str) else value for key, value in self.where.items()}
        return {"kind": self.kind, "message": message, **where}


class Refused(BaseException):
    """What cannot be captured. No Exception: a solution must not take its fallback and hide it."""

    def __init__(self, call: str, reason: str, kind: str = "refused") -> None:
        super().__init__(f"{call}: {reason}")
        self.failure = Failure(kind, f"{call}: {reason}", call=call, **solution_line(sys._getframe(1)))


# The first refusal of this process. It decides, whatever the solution does about the exception.
first_refusal: Refused | None = None

# What a solution may import, in words.
importable = "torch, triton"


def refuse(call: str, reason: str, kind: str = "refused") -> Any:
    """Raises the refusal, now and at every later occasion."""
    global first_refusal
    if first_refusal is None:
        first_refusal = Refused(call, reason, kind)
    raise first_refusal


def reset_refusal() -> None:
    global first_refusal
    first_refusal = None


def solution_line(frame: FrameType | None) -> dict[str, Any]:
    """File and line of the innermost frame that is the solution's, if there is one."""
    while frame is not None:
        if frame.f_code.co_filename in solution_files:
            return {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        frame = frame.f_back
    return {}


def from_exception(error: BaseException) -> Failure:
    """What the solution's exception says, cut to its own lines."""
    interpreted = type(error).__name__ == "InterpreterError"
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:  # Triton's, around the real one
        error = error.__cause__
    if isinstance(error, SyntaxError) and error.filename in solution_files:
        return Failure("python", f"{type(error).__name__}: {error.msg}", file=error.filename, line=error.lineno or 1)
    frames = [frame for frame in walk(error.__traceback__) if frame[0].f_code.co_filename in solution_files]
    where: dict[str, Any] = {}
    if frames:
        frame, line = frames[-1]
        text = "".join(f"{f.f_code.co_filename}:{n}: in {f.f_code.co_name}\n" for f, n in frames[-32:])
        where = {"file": frame.f_code.co_filename, "line": line, "text": text}
    if isinstance(error, ModuleNotFoundError):
        return Failure("refused", f"import of {error.name}: only {importable}, the standard library and the solution's own "
                       "files can be imported", call=f"import {error.name}", **where)
    if isinstance(error, MemoryError):
        return Failure("limit", "the solution needs more memory than it may have", call="memory_bytes", **where)
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    if interpreted and not isinstance(error, AssertionError) and any(is_tritons(frame) for frame, _ in walk(error.__traceback__)[-1:]):
        return Failure("refused", f"Triton's interpreter failed ({message}); verify the kernel on a device", call="triton.jit", **where)
    return Failure("python", message, **where)


def is_tritons(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("triton.")


def kernel_line(error: BaseException) -> dict[str, Any]:
    """Where in a kernel Triton was when it failed, if it was reading one."""
    from triton.runtime.jit import JITCallable
    function, node = None, None
    for frame, _ in walk(error.__traceback__):
        if isinstance(frame.f_locals.get("self"), JITCallable):
            function, node = frame.f_locals["self"], None
        elif hasattr(frame.f_locals.get("node"), "lineno"):
            node = frame.f_locals["node"]
    if function is None or node is None:
        return {}
    code = function.fn.__code__  # Triton counts from its first line
    return {"file": code.co_filename, "line": code.co_firstlineno + node.lineno - 1, "call": function.__name__}


def walk(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    frames = []
    while trace is not None:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return frames
