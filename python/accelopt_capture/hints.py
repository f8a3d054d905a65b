# SPDX-License-Identifier: Apache-2.0
"""Accesses of several elements at once, which Triton's compiler makes of tl.multiple_of and tl.max_contiguous, in its interpreter, which
ignores such hints. A vector has the address of its first element: where it is not aligned the device faults, and where its elements
are not next to each other, others are accessed."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from triton.runtime import interpreter

from .errors import refuse

VECTOR_BYTES = 16  # at most, and the alignment of a pointer that a launch passes, if it has it
WARP, WARPS = 32, 4
DIVISIBILITY, CONTIGUITY, ARGUMENT = "tt.divisibility", "tt.contiguity", "argument"

# Of the launch that is interpreted.
threads = WARP * WARPS


def launched(original: Callable) -> Callable:
    def launch(self: Any, *arguments: Any, **options: Any) -> Any:
        global threads
        threads = WARP * (options.get("num_warps") or WARPS) * (options.get("num_ctas") or 1)
        return original(self, *arguments, **options)
    return launch


def passed(argument: Any) -> Any:
    """A launch's argument; of a pointer the compiler knows whether it is aligned."""
    handle = getattr(argument, "handle", None)
    if isinstance(handle, interpreter.TensorHandle) and argument.dtype.is_ptr():
        handle.set_attr(ARGUMENT, not handle.data[0] % VECTOR_BYTES)
    return argument


def splat(original: Callable) -> Callable:
    def create_splat(self: Any, kind: Any, scalar: Any) -> Any:
        block = original(self, kind, scalar)
        block.set_attr(ARGUMENT, scalar.attr.get(ARGUMENT, False))
        return block
    return create_splat


def promised(handle: Any) -> tuple[int, int] | None:
    """What both hints say of a block of one axis: a divisor of each group's first element, and the number of elements in a group.
    Only of powers of two is it known what the compiler makes of them."""
    hints = [handle.attr.get(name, [0])[0] for name in (DIVISIBILITY, CONTIGUITY)]
    known = handle.data.ndim == 1 and all(hint > 0 and not hint & hint - 1 for hint in hints)
    return (hints[0], hints[1]) if known else None


def bytes_of(pointers: Any) -> int:
    return max(1, pointers.get_element_ty().primitive_bitwidth // 8)


def addptr(original: Callable) -> Callable:
    """What is promised of offsets holds for an argument's elements there. Of any other sum the compiler may know less."""
    def create_addptr(self: Any, pointers: Any, offsets: Any) -> Any:
        result, promise = original(self, pointers, offsets), promised(offsets)
        if promise and pointers.attr.get(ARGUMENT):
            result.set_attr(DIVISIBILITY, [min(promise[0] * bytes_of(pointers), VECTOR_BYTES)])
            result.set_attr(CONTIGUITY, [promise[1]])
        return result
    return create_addptr


def as_vectors(pointers: Any) -> Any:
    """The addresses of an access without a mask, as a device has them (its width is what Triton 3.6.0 compiles). @error Refused: a
    misaligned one."""
    promise = promised(pointers)
    if promise is None:
        return pointers
    size, (divisor, count) = bytes_of(pointers), promise
    width = min(divisor // size, VECTOR_BYTES // size, count, pointers.data.size // threads)
    if width < 2:
        return pointers
    firsts = pointers.data.reshape(-1, width)[:, :1]
    wrong = np.flatnonzero(firsts % np.uint64(width * size))
    if wrong.size:
        refuse("tl.multiple_of", f"is not true of element {wrong[0] * width}, from which {width} are accessed at once: a device stops at "
               "this address, which is misaligned", "crashed")
    return interpreter.TensorHandle((firsts + np.arange(width, dtype=np.uint64) * np.uint64(size)).reshape(-1), pointers.dtype)


def accessed(original: Callable) -> Callable:
    return lambda self, pointers, *rest: original(self, as_vectors(pointers), *rest)


def install() -> None:
    builder = interpreter.InterpreterBuilder
    builder.create_splat, builder.create_addptr = splat(builder.create_splat), addptr(builder.create_addptr)
    builder.create_load, builder.create_store = accessed(builder.create_load), accessed(builder.create_store)
    interpreter.GridExecutor.__call__ = launched(interpreter.GridExecutor.__call__)
