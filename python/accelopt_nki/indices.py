# SPDX-License-Identifier: Apache-2.0
"""Index tensors (nl.arange and what is computed of it), and masks. Both are affine: an offset, and a stride per axis."""

from __future__ import annotations

from typing import Any, Sequence

from .catalogue import NkiError, need


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """As NumPy's. @error NkiError: the shapes do not go together."""
    if len(shapes) == 1 or (len(shapes) == 2 and shapes[0] == shapes[1]):
        return tuple(shapes[0])
    rank = max(map(len, shapes), default=0)
    out = [1] * rank
    for shape in shapes:
        for axis, count in enumerate(shape, rank - len(shape)):
            if count == 1 or count == out[axis]:
                continue
            if out[axis] != 1:
                raise NkiError("err_shape_mismatch", f"shapes {' and '.join(str(tuple(s)) for s in shapes)} do not broadcast")
            out[axis] = count
    return tuple(out)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Index:
    """value[i0, i1, ...] = offset + sum of strides[k] * ik"""

    def __init__(self, offset: int, shape: Sequence[int], strides: Sequence[int]) -> None:
        self.offset, self.shape, self.strides = int(offset), tuple(shape), tuple(strides)
        self.rows: tuple[int, ...] | None = None  # the strides of axes that have several elements, once they are asked for

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, key: Any) -> Index:
        keys = key if isinstance(key, tuple) else (key,)
        shape: list[int] = []
        strides: list[int] = []
        axis = 0
        for item in keys:
            if item is None:
                shape.append(1)
                strides.append(0)
            else:
                need(item == slice(None) and axis < self.ndim, "err_cannot_assign_to_index", "an index tensor takes : and None alone")
                shape.append(self.shape[axis])
                strides.append(self.strides[axis])
                axis += 1
        return Index(self.offset, shape + list(self.shape[axis:]), strides + list(self.strides[axis:]))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NkiError("err_cannot_assign_to_index", "this is an index tensor")

    def aligned(self, rank: int) -> tuple[int, ...]:
        """Strides in a broadcast shape of this many axes."""
        if self.rows is None:
            self.rows = tuple([s if n > 1 else 0 for n, s in zip(self.shape, self.strides)])
        return self.rows if rank == len(self.rows) else (0,) * (rank - len(self.rows)) + self.rows

    def moved(self, offset: int) -> Index:
        out = Index(offset, self.shape, self.strides)
        out.rows = self.rows
        return out

    def __add__(self, other: Any) -> Any:
        if is_integer(other):
            return self.moved(self.offset + other)
        if not isinstance(other, Index):
            return NotImplemented
        shape = broadcast([self.shape, other.shape])
        mine, others = self.aligned(len(shape)), other.aligned(len(shape))
        return Index(self.offset + other.offset, shape, [a + b for a, b in zip(mine, others)])

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return Index(self.offset * other, self.shape, [s * other for s in self.strides]) if is_integer(other) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other if is_integer(other) or isinstance(other, Index) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __ge__(self, other: Any) -> Any:
        return Mask([self - other])

    def __gt__(self, other: Any) -> Any:
        return Mask([self - other - 1])

    def __le__(self, other: Any) -> Any:
        return Mask([-(self - other)])

    def __lt__(self, other: Any) -> Any:
        return Mask([-(self - other) - 1])

    def __bool__(self) -> bool:
        raise NkiError("err_control_flow_condition_depending_on_arange", "a condition depends on nl.arange")


class Mask:
    """Where all of these are not negative."""

    def __init__(self, conditions: list[Index]) -> None:
        self.conditions = conditions

    def __and__(self, other: Any) -> Any:
        if isinstance(other, bool):
            return self if other else False
        return Mask(self.conditions + other.conditions) if isinstance(other, Mask) else NotImplemented

    __rand__ = __and__

    def __bool__(self) -> bool:
        raise NkiError("err_control_flow_condition_depending_on_arange", "a condition depends on nl.arange")


Box = list[tuple[int, int]]  # begin and end along each axis


def box_of(mask: Any, shape: Sequence[int]) -> Box | None:
    """What a mask leaves of a tile; none: all of it. @error NkiError."""
    if mask is None or mask is True:
        return None
    if mask is False:
        return [(0, 0) for _ in shape]
    need(isinstance(mask, Mask), "err_unsupported_mask", f"a {type(mask).__name__} is no mask")
    box = [(0, count) for count in shape]
    for condition in mask.conditions:
        need(condition.ndim <= len(shape), "err_unsupported_mask", f"it has {condition.ndim} axes, and the tile {len(shape)}")
        moving = [(axis, stride) for axis, stride in enumerate(condition.aligned(len(shape))) if stride]
        need(len(moving) <= 1, "err_unsupported_mask", "a comparison goes along several axes")
        if not moving:
            if condition.offset < 0:
                return [(0, 0) for _ in shape]
            continue
        axis, stride = moving[0]
        begin, end = box[axis]
        if stride > 0:
            begin = max(begin, -(condition.offset // stride))
        else:
            end = min(end, condition.offset // -stride + 1)
        box[axis] = (begin, max(begin, end))
    return box


def is_empty(box: Box | None) -> bool:
    return box is not None and any(begin >= end for begin, end in box)


class Grid:
    """nl.mgrid[0:P, 0:F]: an index tensor per axis, which .p, .x, .y, .z name."""

    def __getitem__(self, key: Any) -> Grid.Axes:
        slices = key if isinstance(key, tuple) else (key,)
        rank = len(slices)
        axes = []
        for axis, one in enumerate(slices):
            need(isinstance(one, slice) and one.stop is not None, "err_unsupported_value", "nl.mgrid takes slices with an end")
            begin, step = one.start or 0, one.step or 1
            count = max(0, -(-(one.stop - begin) // step))
            shape, strides = [1] * rank, [0] * rank
            shape[axis], strides[axis] = count, step
            axes.append(Index(begin, shape, strides))
        return Grid.Axes(axes)

    class Axes(tuple):
        p = property(lambda self: self[0])
        x = property(lambda self: self[1])
        y = property(lambda self: self[2])
        z = property(lambda self: self[3])
