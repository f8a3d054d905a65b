# SPDX-License-Identifier: Apache-2.0
"""What a kernel has issued: buffers, views of them, loops, instructions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Sequence

from .catalogue import NkiError, need

MOST_INSTRUCTIONS = 400_000
MOST_BUFFERS = 400_000
MOST_ITERATIONS = 1_000_000

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


@dataclass(slots=True)
class Buffer:
    """Memory of its own: a tensor in HBM, or one tile on the chip."""

    number: int
    kind: str  # input, output, scratch, constant, sbuf, psum
    name: str
    shape: tuple[int, ...]
    fill: Any = None  # what it holds before anything is written: a number, or "identity"
    line: int = 0
    iteration: int = 0
    temporary: bool = False  # the result of an instruction, which has no other name yet
    reads: int = 0
    writes: int = 0
    box: Any = None  # of a temporary one: what a mask let be written


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
        self.scope = 0  # the iteration that a tile lives in: those of Python's own range are none
        self.instructions: list[Instruction] = []

    def buffer(self, kind: str, name: str, shape: Sequence[int], **more: Any) -> Buffer:
        if len(self.buffers) >= MOST_BUFFERS:
            raise NkiError("err_unsupported_value", f"over {MOST_BUFFERS} tiles")
        one = Buffer(len(self.buffers), kind, name, tuple(shape), line=more.pop("line", 0) or line_now(), iteration=self.scope, **more)
        self.buffers.append(one)
        return one

    def issue(self, instruction: Instruction) -> None:
        if len(self.instructions) >= MOST_INSTRUCTIONS:
            raise NkiError("err_unsupported_value", f"over {MOST_INSTRUCTIONS} instructions")
        instruction.line = instruction.line or line_now()
        instruction.iteration = self.here
        for source in instruction.sources:
            self.check_scope(source.buffer)
            source.buffer.reads += 1
        self.check_scope(instruction.target.buffer)
        instruction.target.buffer.writes += 1
        self.instructions.append(instruction)

    def check_scope(self, buffer: Buffer) -> None:
        if buffer.iteration == 0:
            return
        place = self.here
        while place > buffer.iteration:
            place = self.iterations[place][0]
        if place != buffer.iteration:
            raise NkiError("err_local_variable_used_out_of_scope",
                           f"{buffer.name} of line {buffer.line} lives in one iteration of its loop")

    def loop(self, kind: str, values: range) -> Any:
        """Iterates; values know their loop."""
        return self.iterate(kind, values, scoped=True)

    def iterate(self, kind: str, values: range, *, scoped: bool) -> Any:
        number = len(self.loops)
        self.loops.append((line_now(), kind, len(values)))
        outside, scope = self.here, self.scope
        try:
            for place, value in enumerate(values):
                need(len(self.iterations) < MOST_ITERATIONS, "err_unsupported_value", f"over {MOST_ITERATIONS} iterations")
                self.here = len(self.iterations)
                if scoped:
                    self.scope = self.here
                self.iterations.append((outside, number, place))
                yield LoopIndex(value, place)
        finally:
            self.here, self.scope = outside, scope

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
        instructions = [[one.op, one.line, one.iteration, view(one.target), [view(s) for s in one.sources], one.operations, one.numbers,
                         one.flags] for one in self.folded()]
        return {"buffers": [[b.kind, b.name, b.line, b.fill, list(b.shape)] for b in self.buffers], "views": [list(v) for v in views],
                "loops": [list(one) for one in self.loops], "iterations": [list(one) for one in self.iterations],
                "instructions": instructions}


def folds(before: Instruction, one: Instruction) -> bool:
    value = one.sources[-1].buffer
    if before.target.buffer is not value or not value.temporary or value.reads != 1 or value.writes != 1:
        return False
    if before.target.axes and [n for n, _ in before.target.axes] != [n for n, _ in one.sources[-1].axes]:
        return False
    space = one.target.buffer.kind
    if before.op == "matmul":
        return space == "psum" and (one.op == "copy" or before.flags & 1 == 0)
    if one.op != "copy":
        return False
    return space == "sbuf" if before.op == "load" else space in ("sbuf", "psum")


class LoopIndex(int):
    """The index of a loop, as a plain number; `first` says whether its loop has just begun."""

    first: bool

    def __new__(cls, value: int, place: int) -> LoopIndex:
        self = super().__new__(cls, value)
        self.first = place == 0
        return self


class Range:
    """Python's range in a kernel: the compiler takes it for nl.sequential_range, except that tiles outlive it."""

    def __init__(self, *bounds: int) -> None:
        self.values = range(*bounds)

    def __iter__(self) -> Any:
        return current().iterate("sequential", self.values, scoped=False)

    def __reversed__(self) -> Any:
        return reversed(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __contains__(self, value: Any) -> bool:
        return value in self.values


_current: Trace | None = None


def begin() -> Trace:
    global _current
    _current = Trace()
    return _current


def current() -> Trace:
    """@error NkiError: no kernel is being traced."""
    if _current is None:
        raise NkiError("err_nki_api_outside_of_nki_kernel", "there is no kernel that this could be a part of")
    return _current
