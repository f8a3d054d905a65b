# SPDX-License-Identifier: Apache-2.0
"""Index tensors (nl.arange and what is computed of it), and masks. Both are affine: an offset, and a stride per axis."""

from __future__ import annotations

from typing import Any, Sequence

from .catalogue import NkiError, need


MOST_PATTERNS = 100_000
WHOLE = slice(None)


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


def is_number(value: Any) -> bool:
    """A bool is the result of a comparison by Python, and no operand."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Pattern:
    """How an index tensor goes along its axes. There is one object for equal ones, so that what is computed of it is computed once."""

    __slots__ = ("items", "ranks", "shape", "strides", "sums")
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], Pattern] = {}

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.shape, self.strides = shape, strides
        self.items: dict[tuple[bool, ...], Pattern] = {}
        self.sums: dict[Pattern, Pattern] = {}
        self.ranks: dict[int, tuple[int, ...]] = {}

    @staticmethod
    def of(shape: Sequence[int], strides: Sequence[int]) -> Pattern:
        key = (tuple(shape), tuple(strides))
        if key not in Pattern.known:
            if len(Pattern.known) > MOST_PATTERNS:
                Pattern.known.clear()  # equal ones from before are other objects from now on, which costs time alone
            Pattern.known[key] = Pattern(*key)
        return Pattern.known[key]

    def aligned(self, rank: int) -> tuple[int, ...]:
        """Strides in a broadcast shape of this many axes."""
        if rank not in self.ranks:
            rows = tuple(s if n > 1 else 0 for n, s in zip(self.shape, self.strides))
            self.ranks[rank] = (0,) * (rank - len(rows)) + rows
        return self.ranks[rank]

    def taken(self, news: tuple[bool, ...]) -> Pattern:
        """With new axes of one element where it says so, and its own in between and after them."""
        if news not in self.items:
            axes = iter(zip(self.shape, self.strides))
            pairs = [(1, 0) if new else next(axes) for new in news]
            pairs += axes
            self.items[news] = Pattern.of([n for n, _ in pairs], [s for _, s in pairs])
        return self.items[news]

    def plus(self, other: Pattern) -> Pattern:
        if other not in self.sums:
            shape = broadcast([self.shape, other.shape])
            self.sums[other] = Pattern.of(shape, [a + b for a, b in zip(self.aligned(len(shape)), other.aligned(len(shape)))])
        return self.sums[other]


class Index:
    """value[i0, i1, ...] = offset + sum of strides[k] * ik"""

    __slots__ = ("column", "offset", "pattern", "row")

    def __init__(self, offset: int, pattern: Pattern) -> None:
        self.offset, self.pattern = offset, pattern
        self.column: Index | None = None  # self[:, None] and self[None, :], once somebody asked
        self.row: Index | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.pattern.shape

    @property
    def ndim(self) -> int:
        return len(self.pattern.shape)

    def __getitem__(self, key: Any) -> Index:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) == 2:
            first, second = keys
            if second is None and self.column is not None and first == WHOLE:
                return self.column
            if first is None and self.row is not None and second == WHOLE:
                return self.row
        made = self.taken(keys)
        if len(keys) == 2 and keys[0] is None and keys[1] is not None:
            self.row = made
        elif len(keys) == 2 and keys[1] is None and keys[0] is not None:
            self.column = made
        return made

    def taken(self, keys: Sequence[Any]) -> Index:
        news = tuple([item is None for item in keys])
        whole = [item for item in keys if item is not None]
        if len(whole) > len(self.pattern.shape) or whole.count(WHOLE) != len(whole):
            raise NkiError("err_cannot_assign_to_index", "an index tensor takes : and None alone")
        return Index(self.offset, self.pattern.taken(news))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NkiError("err_cannot_assign_to_index", "this is an index tensor")

    def aligned(self, rank: int) -> tuple[int, ...]:
        return self.pattern.aligned(rank)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Index):
            return Index(self.offset + other.offset, self.pattern.plus(other.pattern))
        return Index(self.offset + int(other), self.pattern) if is_integer(other) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if not is_integer(other):
            return NotImplemented
        return Index(int(self.offset * other), Pattern.of(self.shape, [s * other for s in self.pattern.strides]))

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

    def __eq__(self, other: Any) -> Any:
        if not is_integer(other) and not isinstance(other, Index):
            return NotImplemented
        difference = self - other
        return Mask([difference, -difference])

    def __ne__(self, other: Any) -> Any:
        if not is_integer(other) and not isinstance(other, Index):
            return NotImplemented
        raise NkiError("err_unsupported_expression_in_mask", "what != leaves is no box; use < and > in masks of their own")

    __hash__ = object.__hash__

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

    def __eq__(self, other: Any) -> Any:
        raise NkiError("err_unsupported_expression_in_mask", "masks are joined by &, and not compared")

    __ne__ = __or__ = __ror__ = __xor__ = __rxor__ = __eq__

    def __invert__(self) -> Any:
        raise NkiError("err_unsupported_expression_in_mask", "masks are joined by &; write the opposite comparison")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise NkiError("err_control_flow_condition_depending_on_arange", "a condition depends on nl.arange")


Box = list[tuple[int, int]]  # begin and end along each axis


def box_of(mask: Any, shape: Sequence[int]) -> Box | None:
    """What a mask leaves of a tile; none: all of it. @error NkiError."""
    if mask is None or mask is True:
        return None
    if mask is False:
        return [(0, 0) for _ in shape]
    need(isinstance(mask, Mask), "err_unsupported_expression_in_mask", f"a {type(mask).__name__} is no mask")
    box = [(0, count) for count in shape]
    for condition in mask.conditions:
        need(condition.ndim <= len(shape), "err_unsupported_expression_in_mask", f"it has {condition.ndim} axes, and the tile {len(shape)}")
        moving = [(axis, stride) for axis, stride in enumerate(condition.aligned(len(shape))) if stride]
        need(len(moving) <= 1, "err_unsupported_expression_in_mask", "a comparison goes along several axes")
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
            axes.append(Index(begin, Pattern.of(shape, strides)))
        return Grid.Axes(axes)

    class Axes(tuple):
        p = property(lambda self: self[0])
        x = property(lambda self: self[1])
        y = property(lambda self: self[2])
        z = property(lambda self: self[3])
