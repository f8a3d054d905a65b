# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides, in elements: what views need to know."""

from __future__ import annotations

import itertools
import math
from typing import Iterable, Sequence


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    if 0 in shape:
        return True
    return all(extent == 1 or stride == wanted
               for extent, stride, wanted in zip(shape, strides, contiguous_strides(shape)))


def numel(shape: Sequence[int]) -> int:
    return math.prod(shape)


def normalized(dim: int, rank: int) -> int:
    """A dimension counted from the end, counted from the front."""
    low, high = (-rank, rank - 1) if rank else (-1, 0)
    if not low <= dim <= high:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim % rank if rank else 0


def sizes(arguments: tuple) -> list[int]:
    """view(2, 3) and view((2, 3)) alike; 0-d tensors whose value is known count as their numbers."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        arguments = tuple(arguments[0])
    return [argument.__index__() for argument in arguments]


def resolved(wanted: Sequence[int], count: int) -> tuple[int, ...]:
    """A shape with at most one -1, for so many elements."""
    shape = list(wanted)
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape:
        rest = -math.prod(shape)
        if rest == 0 or count % rest:
            raise RuntimeError(f"shape '{list(wanted)}' is invalid for input of size {count}")
        shape[shape.index(-1)] = count // rest
    if any(extent < 0 for extent in shape) or math.prod(shape) != count:
        raise RuntimeError(f"shape '{list(wanted)}' is invalid for input of size {count}")
    return tuple(shape)


def viewed_strides(shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...] | None:
    """Strides under which the same memory has the wanted shape, or none."""
    if numel(shape) == 0 or is_contiguous(shape, strides):
        return contiguous_strides(wanted)
    # Runs of axes that follow each other in memory; the wanted axes must divide these runs.
    runs: list[list[int]] = []
    for extent, stride in zip(shape, strides):
        if extent == 1:
            continue
        if runs and runs[-1][1] == extent * stride:
            runs[-1][0] *= extent
            runs[-1][1] = stride
        else:
            runs.append([extent, stride])
    result: list[int] = []
    place = len(wanted) - 1
    for extent, stride in reversed(runs):
        covered = 1
        while place >= 0 and (covered < extent or wanted[place] == 1):
            result.append(stride * covered)
            covered *= wanted[place]
            place -= 1
        if covered != extent:
            return None
    while place >= 0:
        if wanted[place] != 1:
            return None
        result.append(1)
        place -= 1
    return tuple(reversed(result))


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    result = []
    for extents in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            raise RuntimeError(f"shapes {', '.join(str(list(shape)) for shape in shapes)} cannot be broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(reversed(result))


def expanded_strides(shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """Strides of the shape broadcast to the wanted one; new axes come in front."""
    lead = len(wanted) - len(shape)
    if lead < 0:
        raise RuntimeError(f"a tensor of shape {list(shape)} cannot be expanded to {list(wanted)}")
    result = [0] * lead
    for extent, stride, target in zip(shape, strides, wanted[lead:]):
        if extent != target and extent != 1:
            raise RuntimeError(f"a tensor of shape {list(shape)} cannot be expanded to {list(wanted)}")
        result.append(stride if extent == target else 0)
    return tuple(result)


def places(shape: Sequence[int], strides: Sequence[int], offset: int) -> Iterable[int]:
    """The offset of every element, row by row."""
    if is_contiguous(shape, strides):
        return range(offset, offset + numel(shape))
    if not shape:
        return [offset]
    rows: list[int] = [offset]
    for extent, stride in zip(shape, strides):
        rows = [row + index * stride for row in rows for index in range(extent)]
    return rows


def extent_in_storage(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to one behind the last; 0 for an empty tensor."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
