# SPDX-License-Identifier: Apache-2.0
"""Tensors and tiles: strided views without numbers."""

from __future__ import annotations

import functools
import math
from typing import Any, Sequence

from . import trace
from .catalogue import NkiError, need
from .dtypes import DType, float32
from .indices import Box, Index, Pattern, broadcast, box_of, is_empty, is_integer, is_number
from .trace import Buffer, Instruction, LoopIndex

CHIP = ("sbuf", "psum")


class Blocks:
    """The tiles of a tensor on the chip, each made when it is first used."""

    def __init__(self, kind: str, name: str, tile: tuple[int, ...], fill: Any) -> None:
        self.kind, self.name, self.tile, self.fill = kind, name, tile, fill
        self.size = math.prod(tile)
        self.row = self.size // max(1, tile[0])
        self.line = trace.line_now()
        self.scope = trace.current().scope
        self.made: dict[int, Buffer] = {}

    def buffer(self, number: int) -> Buffer:
        if number not in self.made:
            one = trace.current().buffer(self.kind, self.name, (self.tile[0], self.size // max(1, self.tile[0])), fill=self.fill,
                                         line=self.line)
            one.scope = self.scope
            self.made[number] = one
        return self.made[number]


class View:
    """What an instruction is given: a buffer, an offset, and a number of elements and a stride for each axis."""

    __slots__ = ("axes", "buffer", "offset")

    def __init__(self, buffer: Buffer, offset: int, axes: list[tuple[int, int]]) -> None:
        self.buffer, self.offset, self.axes = buffer, offset, axes


class Plan:
    """What indices of these patterns make of a tensor's axes, wherever they begin."""

    __slots__ = ("axes", "limits", "rows", "shape")

    def __init__(self, tensor: Tensor, keys: Sequence[Any]) -> None:
        self.shape = broadcast([key.shape for key in keys if isinstance(key, Index)])
        rank = len(self.shape)
        need(all(n > 0 for n in self.shape), "err_unsupported_value", f"{tensor.storage.name} is indexed by an empty nl.arange")
        if rank < 2 and tensor.on_chip:
            raise NkiError("err_1d_arange_not_supported", f"{tensor.storage.name} is indexed by nl.arange with one axis")
        strides = [0] * rank
        self.rows = []  # of each axis of the tensor: elements, stride, how the index goes, and how far to both sides
        for axis, key in enumerate(keys):
            count, stride = tensor.axes[axis]
            own = key.aligned(rank) if isinstance(key, Index) else (0,) * rank
            if axis < tensor.blocks and any(own):
                raise NkiError("err_failed_to_infer_tile_from_local_tensor",
                               f"a block axis of {tensor.storage.name} is indexed by nl.arange")
            for place, step in enumerate(own):
                strides[place] += step * stride
            spans = [step * (n - 1) for step, n in zip(own, self.shape) if step]
            self.rows.append((count, stride, own, sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)))
        self.axes = list(zip(self.shape, strides))
        # Of each axis: its stride, and from where to where an index may begin that goes along it like this.
        self.limits = [(stride, -below, count - 1 - above) for count, stride, _, below, above in self.rows]


class Tensor:
    """A view of a tensor: `axes` are (elements, stride), `bounds` what its indices have to keep to, which is looked at when it is
    used, since a mask may shrink it: none, where all of it is inside."""

    __slots__ = ("axes", "blocks", "bounds", "extents", "offset", "partition", "plans", "storage")

    def __init__(self, storage: Buffer | Blocks, offset: int, axes: list[tuple[int, int]], blocks: int = 0,
                 bounds: Sequence[tuple[int, int, tuple[int, ...]]] = (), partition: int | None = None,
                 extents: tuple[int, ...] | None = None) -> None:
        self.storage, self.offset, self.axes, self.blocks, self.bounds, self.extents = storage, offset, axes, blocks, bounds, extents
        self.partition = blocks if partition is None else partition
        self.plans: dict[tuple[Any, ...], Plan] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        if self.extents is None:
            self.extents = tuple([count for count, _ in self.axes])
        return self.extents

    @property
    def dtype(self) -> DType:
        return float32

    @property
    def ndim(self) -> int:
        return len(self.axes)

    @property
    def on_chip(self) -> bool:
        return self.storage.kind in CHIP

    @property
    def space(self) -> str:
        return self.storage.kind if self.on_chip else "hbm"

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        one = math.prod(self.shape) == 1
        raise NkiError("err_dynamic_control_flow_not_supported" if one else "err_ambiguous_tensor_truth_value",
                       f"{self.storage.name} is asked for its truth value")

    def __iter__(self) -> Any:
        raise NkiError("err_ambiguous_tensor_truth_value", f"{self.storage.name} is iterated over")

    # Views.
    def view(self, box: Box | None = None) -> View:
        """As an instruction takes it, shrunk to the box. @error NkiError: out of bounds, several tiles."""
        if self.blocks:
            raise NkiError("err_failed_to_infer_tile_from_local_tensor", f"{self.storage.name} is used with block axes")
        axes = self.axes
        if box is None and not self.bounds:
            storage = self.storage
            if axes and axes[0][0] > 1 and axes[0][1] != storage.row != 0:
                raise self.stepping(axes[0])
            if isinstance(storage, Blocks):
                number, offset = divmod(self.offset, storage.size)
                return View(storage.made.get(number) or storage.buffer(number), offset, axes)
            return View(storage, self.offset, axes)
        if box:
            axes = [(end - begin, stride) for (begin, end), (_, stride) in zip(box, self.axes)]
        if axes and axes[0][0] > 1 and axes[0][1] != self.storage.row != 0:
            raise self.stepping(axes[0])
        for limit, low, strides in self.bounds:
            high = low
            for place, stride in enumerate(strides):
                if stride == 0:
                    continue
                first, span = stride * box[place][0] if box else 0, stride * (axes[place][0] - 1)
                low += first + (span if span < 0 else 0)
                high += first + (span if span > 0 else 0)
            if low < 0 or high >= limit:
                raise NkiError("err_tensor_access_out_of_bound",
                               f"{self.storage.name} is accessed from {low} to {high} along an axis of {limit}")
        offset = self.offset
        if box:
            for (begin, _), (_, stride) in zip(box, self.axes):
                offset += begin * stride
        if isinstance(self.storage, Blocks):
            number, offset = divmod(offset, self.storage.size)
            return View(self.storage.buffer(number), offset, axes)
        return View(self.storage, offset, axes)

    def stepping(self, partitions: tuple[int, int]) -> NkiError:
        count, stride = partitions
        how = "the same partition for each" if stride == 0 else f"steps of {stride} elements where a partition has {self.storage.row}"
        return NkiError("err_unsupported_partition_step", f"{self.storage.name} is accessed through {count} partitions by {how}")

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) == len(self.axes):
            starts, patterns = [], []
            for one in keys:  # most kernels: numbers and index tensors
                kind = type(one)
                if kind is Index:
                    starts.append(one.offset)
                    patterns.append(one.pattern)
                elif kind is int or kind is LoopIndex:
                    starts.append(one)
                    patterns.append(None)
                else:
                    break
            else:
                if patterns.count(None) < len(keys):
                    return self.placed(keys, starts, tuple(patterns))
        keys = self.completed(list(keys))
        if any(isinstance(one, Index) for one in keys):
            return self.advanced(keys)
        return self.basic(keys)

    def completed(self, keys: list[Any]) -> list[Any]:
        """With a key for every axis."""
        rank = len(self.axes)
        if len(keys) == rank and not any(k is None or k is Ellipsis for k in keys):
            return keys
        consumed = sum(1 for k in keys if k is not None and k is not Ellipsis)
        need(consumed <= rank, "err_tensor_access_out_of_bound", f"{consumed} indices for a tensor of {rank} axes")
        if not any(k is Ellipsis for k in keys):
            keys = [*keys, Ellipsis]
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        fill = [slice(None)] * (rank - consumed)
        if any(isinstance(k, Index) for k in keys) and fill:
            raise NkiError("err_unsupported_mixing_basic_advanced_tensor_indexing", f"{len(fill)} axes have no index")
        return keys[:place] + fill + keys[place + 1:]

    def advanced(self, keys: Sequence[Any]) -> Tensor:
        starts, patterns = [], []
        for key in keys:
            if isinstance(key, Index):
                starts.append(key.offset)
                patterns.append(key.pattern)
            elif is_integer(key):
                starts.append(int(key))
                patterns.append(None)
            elif isinstance(key, Tensor):
                raise self.indirect(key)
            else:
                raise NkiError("err_unsupported_mixing_basic_advanced_tensor_indexing",
                               f"{self.storage.name} is indexed by slices and nl.arange")
        return self.placed(keys, starts, tuple(patterns))

    def indirect(self, key: Tensor) -> NkiError:
        name = "err_copy_dynamic_indirect_indices_not_natively_supported" if self.on_chip else "err_indirect_indices_free_dim"
        return NkiError(name, f"{self.storage.name} is indexed by what {key.storage.name} holds")

    def placed(self, keys: Sequence[Any], starts: list[int], patterns: tuple[Pattern | None, ...]) -> Tensor:
        """Where the indices, which have these patterns, begin at these places of each axis."""
        if self.plans is None:
            self.plans = {}
        plan = self.plans.get(patterns)
        if plan is None:
            plan = self.plans[patterns] = Plan(self, keys)
        offset = self.offset
        for start, (stride, low, high) in zip(starts, plan.limits):
            if not low <= start <= high:
                break
            offset += start * stride
        else:
            return Tensor(self.storage, offset, plan.axes, extents=plan.shape)
        offset, inside = self.offset, True
        for axis, (count, stride, _, below, above) in enumerate(plan.rows):
            start = starts[axis]
            if start < 0 and patterns[axis] is None:
                start = starts[axis] = start + count
            offset += start * stride
            if start + below < 0 or start + above >= count:
                inside = False
        bounds = () if inside else [(row[0], start, row[2]) for row, start in zip(plan.rows, starts)]
        return Tensor(self.storage, offset, plan.axes, 0, bounds, extents=plan.shape)

    def basic(self, keys: Sequence[Any]) -> Tensor:
        offset, axes, blocks = self.offset, [], 0
        axis = 0
        for key in keys:
            if key is None:
                axes.append((1, 0))
                continue
            count, stride = self.axes[axis]
            if is_integer(key):
                at = key + count if key < 0 else int(key)
                need(0 <= at < count, "err_tensor_access_out_of_bound", f"index {key} of {self.storage.name} along an axis of {count}")
                offset += at * stride
                if self.on_chip and axis == self.partition:
                    axes.append((1, stride))  # a tile keeps its partition axis
            else:
                if isinstance(key, Tensor):
                    raise self.indirect(key)
                need(isinstance(key, slice), "err_unsupported_value", f"{self.storage.name} is indexed by a {type(key).__name__}")
                begin, end, step = (default if part is None else part.__index__()
                                    for part, default in ((key.start, 0), (key.stop, count), (key.step, 1)))
                begin, end = begin + count if begin < 0 else begin, end + count if end < 0 else end
                need(0 <= begin <= end <= count and step > 0, "err_tensor_access_out_of_bound",
                     f"{self.storage.name}[{begin}:{end}] along an axis of {count}")
                need(begin < end, "err_unsupported_value", f"{self.storage.name}[{begin}:{end}] has no elements")
                offset += begin * stride
                axes.append((-(-(end - begin) // step), stride * step))
                blocks += axis < self.blocks
            axis += 1
        if self.on_chip and not blocks and len(axes) == 1:
            axes.append((1, 1))  # a tile has two axes at least
        return Tensor(self.storage, offset, axes, blocks)

    def __setitem__(self, key: Any, value: Any) -> None:
        assign(self[key], value)

    def reshape(self, shape: Any, *more: int) -> Tensor:
        """Of a whole tensor in HBM: nothing is moved."""
        new = tuple(int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape, *more)))
        need(not self.on_chip and self.axes == dense(self.shape), "err_unsupported_memory", "reshape takes a whole tensor in HBM")
        need(math.prod(new) == math.prod(self.shape), "err_shape_mismatch", f"{self.shape} cannot be reshaped to {new}")
        return Tensor(self.storage, self.offset, dense(new))

    def broadcast_to(self, shape: Any) -> Tensor:
        from .operations import broadcast_to
        return broadcast_to(self, shape)

    # Operators.
    def _binary(name: str, swapped: bool = False) -> Any:  # type: ignore[misc]
        def method(self: Tensor, other: Any) -> Tensor:
            from .operations import binary
            return binary(name, other, self) if swapped else binary(name, self, other)
        return method

    def _in_place(name: str) -> Any:  # type: ignore[misc]
        def method(self: Tensor, other: Any) -> Tensor:
            from .operations import combine_into
            combine_into(self, name, other)
            return self
        return method

    __add__, __radd__ = _binary("add"), _binary("add", True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", True)
    __truediv__, __rtruediv__ = _binary("divide"), _binary("divide", True)
    __iadd__, __isub__, __imul__, __itruediv__ = _in_place("add"), _in_place("subtract"), _in_place("multiply"), _in_place("divide")

    __lt__, __le__, __gt__, __ge__ = _binary("less"), _binary("less_equal"), _binary("greater"), _binary("greater_equal")

    # Tiles of ones and zeros; with what is neither a tile nor a number, as `scale == None`, Python's own answer.
    def __eq__(self, other: Any) -> Any:
        from .operations import binary
        return binary("equal", self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        from .operations import binary
        return binary("not_equal", self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Tensor:
        return self * -1.0


@functools.lru_cache(4096)
def dense(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Nobody changes the axes of a tensor or of a view."""
    axes, stride = [], 1
    for count in reversed(shape):
        axes.append((count, stride))
        stride *= count
    return axes[::-1]


def same(a: Tensor, b: Tensor) -> bool:
    return a.storage is b.storage and a.offset == b.offset and a.axes == b.axes


class Reduced:
    """nl.loop_reduce: what it is assigned to is its other operand."""

    def __init__(self, value: Tensor, operation: str, first: bool, mask: Any) -> None:
        self.value, self.operation, self.first, self.mask = value, operation, first, mask


def temporary(name: str, kind: str, shape: Sequence[int], box: Box | None = None) -> Tensor:
    """A new tile for the result of an instruction."""
    shape = tuple(shape) if len(shape) > 1 else (*shape, 1)
    buffer = trace.current().buffer(kind, name, (shape[0], math.prod(shape[1:])), temporary=True)
    buffer.box = box
    return Tensor(buffer, 0, dense(shape), extents=shape)


def matched(value: Tensor, shape: Sequence[int], what: str) -> Tensor:
    """The value as a view of this shape, which may differ in axes of one element."""
    if value.shape == tuple(shape):
        return value
    if [n for n in value.shape if n != 1] != [n for n in shape if n != 1]:
        raise NkiError("err_shape_mismatch", f"{what}: a value of shape {value.shape} for one of {tuple(shape)}")
    if value.shape[0] != shape[0]:
        raise NkiError("err_num_partition_mismatch", f"{what}: a value of shape {value.shape} for one of {tuple(shape)}")
    rest = [axis for axis in value.axes if axis[0] != 1]
    axes = [rest.pop(0) if n != 1 else (1, 0) for n in shape]
    need(not value.blocks, "err_failed_to_infer_tile_from_local_tensor", what)
    view = value.view()
    return Tensor(view.buffer, view.offset, axes)


def assign(target: Tensor, value: Any) -> None:
    need(target.on_chip, "err_unsupported_memory", "a tensor in HBM is written by nl.store")
    if isinstance(value, Reduced):
        from .operations import reduce_into
        reduce_into(target, value)
        return
    if is_number(value):
        trace.current().issue(Instruction("memset", target.view(), [], numbers=[float(value)]))
        return
    if not isinstance(value, Tensor):
        raise NkiError("err_unsupported_value", f"a {type(value).__name__} is assigned to a tile")
    if same(target, value):
        return
    need(value.on_chip, "err_unsupported_memory", "a tensor in HBM is read by nl.load")
    if math.prod(value.shape) > math.prod(target.shape):
        raise NkiError("err_store_dst_shape_smaller_than_other_shape", f"a value of shape {value.shape} is assigned to {target.shape}")
    value = matched(value, target.shape, "assignment")
    box = value.storage.box if isinstance(value.storage, Buffer) and value.storage.temporary else None
    if box is not None and len(box) != target.ndim:
        box = None
    if is_empty(box):
        return
    trace.current().issue(Instruction("copy", target.view(box), [value.view(box)], assigns=True))


__all__ = ["Blocks", "Tensor", "View", "assign", "box_of", "dense", "matched", "temporary"]
