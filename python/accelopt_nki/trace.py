# SPDX-License-Identifier: Apache-2.0
"""What a kernel has issued: buffers, views of them, loops, instructions."""

from __future__ import annotations

import contextlib
import math
import sys
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Sequence

from .catalogue import NkiError, need

INFINITIES = {math.inf: "inf", -math.inf: "-inf"}  # JSON has no number for them
BANK = 512  # elements of a partition of a bank of PSUM
MOST_INSTRUCTIONS = 400_000
MOST_BUFFERS = 400_000
MOST_ITERATIONS = 1_000_000
MOST_SCOPES = 2_000_000

kernel_files: set[str] = set()  # names that the code objects of the kernel's files have
lines: dict[tuple[int, int], int] = {}  # by a code object's id, for its hash is slow, and where in it
codes: dict[int, CodeType] = {}  # by those ids, which are theirs as long as they are here


def line_now() -> int:
    """The kernel's line that is being executed; 0: none is."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename in kernel_files:
            key = (id(code), frame.f_lasti)
            line = lines.get(key)
            if line is None:  # Python reads its table of lines from the beginning each time
                line = lines[key] = frame.f_lineno
                codes[id(code)] = code
            return line
        frame = frame.f_back
    return 0


def function_now() -> CodeType | None:
    """The function of the kernel's files that is being executed."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in kernel_files:
            return frame.f_code
        frame = frame.f_back
    return None


@dataclass(slots=True)
class Buffer:
    """Memory of its own: a tensor in HBM, or one tile on the chip."""

    number: int
    kind: str  # input, output, scratch, constant, sbuf, psum
    name: str
    shape: tuple[int, ...]
    fill: Any = None  # what it holds before anything is written: a number, or "identity"
    line: int = 0
    scope: int = 0
    mutable: bool = False  # a parameter that the kernel may store to
    temporary: bool = False  # the result of an instruction, which has no other name yet
    reads: int = 0
    writes: int = 0
    box: Any = None  # of a temporary one: what a mask let be written
    row: int = 0  # elements from one partition to the next; 0: it is no tile

    def __post_init__(self) -> None:
        if self.kind in ("sbuf", "psum"):
            self.row = self.shape[1]


@dataclass(slots=True)
class Instruction:
    """One operation on views. docs/nki.md says which operands, operations and numbers each has."""

    op: str
    target: Any
    sources: list[Any]
    operations: list[str] = field(default_factory=list)
    numbers: list[float | None] = field(default_factory=list)
    flags: int = 0
    line: int = 0
    iteration: int = 0
    assigns: bool = False  # only gives a temporary result its place


class Trace:
    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.loops: list[tuple[int, str, int]] = []
        self.iterations: list[tuple[int, int, int]] = [(0, -1, 0)]  # parent, loop, index; the first one is the kernel
        self.here = 0
        self.scope = 0  # what a tensor that is made now lives in: the kernel, an iteration, or a branch
        self.scopes: list[tuple[str, int]] = [("kernel", 0)]  # kind and line
        self.open = [True]
        self.functions: set[CodeType] = set()  # of kernels
        self.instructions: list[Instruction] = []

    def buffer(self, kind: str, name: str, shape: Sequence[int], **more: Any) -> Buffer:
        if len(self.buffers) >= MOST_BUFFERS:
            raise NkiError("err_unsupported_value", f"over {MOST_BUFFERS} tiles")
        fill = more.get("fill")
        need(fill == fill, "err_unsupported_value", f"{name} is filled with nan")
        one = Buffer(len(self.buffers), kind, name, tuple(shape), line=more.pop("line", 0) or line_now(), scope=self.scope, **more)
        self.buffers.append(one)
        return one

    def issue(self, instruction: Instruction) -> None:
        if len(self.instructions) >= MOST_INSTRUCTIONS:
            raise NkiError("err_unsupported_value", f"over {MOST_INSTRUCTIONS} instructions")
        instruction.line = instruction.line or line_now()
        instruction.iteration = self.here
        for number in instruction.numbers:
            need(number == number, "err_unsupported_value", "an operand is nan")
        for source in instruction.sources:
            if not self.open[source.buffer.scope]:
                self.refuse(source.buffer)
            source.buffer.reads += 1
        if not self.open[instruction.target.buffer.scope]:
            self.refuse(instruction.target.buffer)
        instruction.target.buffer.writes += 1
        self.instructions.append(instruction)

    def in_kernel(self) -> bool:
        """Whether what is being executed is a kernel's own body."""
        return function_now() in (*self.functions, None)

    def refuse(self, buffer: Buffer) -> None:
        kind, line = self.scopes[buffer.scope]
        where = f"one iteration of the loop of line {line}" if kind == "iteration" else f"a block of line {line}"
        raise NkiError("err_local_variable_used_out_of_scope", f"{buffer.name} of line {buffer.line} was made in {where}, and is used outside of it")

    def enter(self, kind: str, line: int) -> int:
        """Opens a scope. Returns the one around it."""
        need(len(self.open) < MOST_SCOPES, "err_unsupported_value", f"over {MOST_SCOPES} iterations and branches")
        outside, self.scope = self.scope, len(self.open)
        self.scopes.append((kind, line))
        self.open.append(True)
        return outside

    def leave(self, scope: int, outside: int) -> None:
        self.open[scope] = False
        self.scope = outside

    def loop(self, kind: str, values: range) -> Any:
        """Iterates; values know their loop."""
        number, line = len(self.loops), line_now()
        self.loops.append((line, kind, len(values)))
        outside, scope, inside = self.here, self.scope, 0
        try:
            for place, value in enumerate(values):
                need(len(self.iterations) < MOST_ITERATIONS, "err_unsupported_value", f"over {MOST_ITERATIONS} iterations")
                if inside:
                    self.leave(inside, scope)
                self.here = len(self.iterations)
                self.iterations.append((outside, number, place))
                self.enter("iteration", line)
                inside = self.scope
                yield LoopIndex(value, place)
        finally:
            if inside:
                self.leave(inside, scope)
            self.here = outside

    def folded(self) -> list[Instruction]:
        """Without the assignments that only say where the instruction before them writes, and where a matrix
        multiplication is added to what is in PSUM."""
        out: list[Instruction] = []
        for one in self.instructions:
            before = out[-1] if out else None
            if before is not None and one.assigns and folds(before, one):
                before.target = one.target
                if one.op == "tensor_tensor":
                    before.flags |= 1
            else:
                out.append(one)
        return out

    def json(self) -> dict[str, Any]:
        views: dict[tuple[int, ...], int] = {}
        known: dict[int, tuple[int, ...]] = {}  # axes that several views have, by the list that they are in

        def view(one: Any) -> int:
            axes = known.get(id(one.axes))
            if axes is None:
                axes = known[id(one.axes)] = tuple([number for axis in one.axes for number in axis])
            key = (one.buffer.number, one.offset, *axes)
            return views.setdefault(key, len(views))
        instructions = [[one.op, one.line, one.iteration, view(one.target), [view(s) for s in one.sources], one.operations,
                         [INFINITIES.get(n, n) for n in one.numbers], one.flags] for one in self.folded()]
        return {"buffers": [[b.kind, b.name, b.line, INFINITIES.get(b.fill, b.fill), list(b.shape)] for b in self.buffers], "views": [list(v) for v in views],
                "loops": [list(one) for one in self.loops], "iterations": [list(one) for one in self.iterations],
                "instructions": instructions}


def folds(before: Instruction, one: Instruction) -> bool:
    value = one.sources[-1].buffer
    if before.target.buffer is not value or not value.temporary or value.reads != 1 or value.writes != 1:
        return False
    if before.target.axes and [n for n, _ in before.target.axes] != [n for n, _ in one.sources[-1].axes]:
        return False
    space = one.target.buffer.kind
    if before.op == "broadcast" and before.target.buffer.shape[1] <= BANK:
        return False  # it lies in PSUM, and is copied from there
    if before.op == "matmul":
        return space == "psum" and (one.op == "copy" or before.flags & 1 == 0)
    if one.op != "copy":
        return False
    if before.op == "transpose":
        return space == "psum"  # where TensorE writes
    return space == "sbuf" if before.op == "load" else space in ("sbuf", "psum")


class LoopIndex(int):
    """The index of a loop, as a plain number; `first` says whether its loop has just begun."""

    first: bool

    def __new__(cls, value: int, place: int) -> LoopIndex:
        self = super().__new__(cls, value)
        self.first = place == 0
        return self


class Range:
    """Python's range in a kernel: the compiler takes it for nl.sequential_range."""

    def __init__(self, *bounds: int) -> None:
        self.values = range(*bounds)

    def __iter__(self) -> Any:
        return current().loop("sequential", self.values)

    def __reversed__(self) -> Any:
        return reversed(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __contains__(self, value: Any) -> bool:
        return value in self.values


_next: Trace | None = None
_current: Trace | None = None  # none outside of a kernel


def begin() -> Trace:
    """What the kernel that is called next leaves."""
    global _next
    _next = Trace()
    return _next


@contextlib.contextmanager
def kernel(code: CodeType) -> Any:
    """While a kernel is being called, which may call others."""
    global _current
    outside = _current
    _current = outside or _next
    if _current is not None:
        _current.functions.add(code)
    try:
        yield
    finally:
        _current = outside


def current() -> Trace:
    """@error NkiError: no kernel is being traced."""
    if _current is None:
        raise NkiError("err_nki_api_outside_of_nki_kernel", "there is no kernel that this could be a part of")
    return _current
