# SPDX-License-Identifier: Apache-2.0
"""Issues instructions: what language.py and isa.py offer comes down to these."""

from __future__ import annotations

import math
from typing import Any, Sequence

from . import dtypes, trace
from .catalogue import NkiError, need
from .indices import Box, box_of, broadcast, is_empty, is_number
from .tensors import Blocks, Reduced, Tensor, matched, temporary
from .trace import Instruction

ARITHMETIC = ("add", "subtract", "multiply", "divide", "max", "min")
COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
FUNCTIONS = ("copy", "exp", "log", "sqrt", "rsqrt", "square", "abs", "tanh", "sigmoid", "silu", "relu", "reciprocal", "sin", "gelu", "erf",
             "sign", "softplus")
ALIASES = {"maximum": "max", "minimum": "min", "absolute": "abs", "true_divide": "divide", "mul": "multiply", "sub": "subtract",
           "amax": "max", "amin": "min", "sum": "add"}


def operation(value: Any, known: Sequence[str], what: str) -> str:
    """The name of nl.add, np.add or np.max. @error NkiError: it is none of these."""
    name = getattr(value, "nki_name", None)
    name = ALIASES.get(name, name)
    if name not in known:
        raise NkiError("err_unsupported_value", f"{what} takes none of op={getattr(value, 'nki_name', value)!r}")
    return name


def issue(op: str, target: Tensor, sources: Sequence[Tensor], box: Box | None = None, operations: Sequence[str] = (),
          numbers: Sequence[float | None] = (), flags: int = 0, boxes: Sequence[Box | None] | None = None) -> Tensor:
    """Nothing where a mask leaves nothing. `boxes`: those of the sources, where they are not the target's."""
    if not is_empty(box):
        if box is None and boxes is None:
            views = [s.view() for s in sources]
        else:
            views = [s.view(b) for s, b in zip(sources, boxes if boxes is not None else [cut(box, s) for s in sources])]
        trace.current().issue(Instruction(op, target.view(box), views, list(operations),
                                          [None if n is None else float(n) for n in numbers], flags))
    return target


def cut(box: Box | None, source: Tensor) -> Box | None:
    """The box for a source that has one element along some axes."""
    if box is None:
        return None
    return [(0, 1) if n == 1 else one for one, n in zip(box, source.shape)]


def tile(value: Any, what: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise NkiError("err_unsupported_value", f"{what} takes a tile, not a {type(value).__name__}")
    if not value.on_chip:
        raise NkiError("err_unsupported_memory", f"{what} takes a tile in SBUF or PSUM, and {value.storage.name} is in HBM")
    if value.blocks:
        raise NkiError("err_failed_to_infer_tile_from_local_tensor", f"{what} of {value.storage.name}")
    return value


def load(source: Any, mask: Any = None, dtype: Any = None) -> Tensor:
    dtypes.check(dtype)
    need(isinstance(source, Tensor) and not source.on_chip, "err_unsupported_memory", "nl.load takes a tensor in HBM")
    shape = source.shape if source.ndim > 1 else (*source.shape, 1)
    if source.ndim <= 1:
        source = Tensor(source.storage, source.offset, [*source.axes, (1, 1)], 0, [(n, o, (*s, 0)) for n, o, s in source.bounds])
    box = box_of(mask, shape)
    return issue("load", temporary("load", "sbuf", shape, box), [source], box)


def store(target: Any, value: Any, mask: Any = None) -> None:
    need(isinstance(target, Tensor) and not target.on_chip, "err_unsupported_memory", "nl.store writes to a tensor in HBM")
    need(target.storage.kind != "input" or target.storage.mutable, "err_cannot_update_immutable_parameter", f"{target.storage.name} is a parameter of the kernel")
    need(target.storage.kind in ("input", "output", "scratch"), "err_unsupported_memory", f"{target.storage.name} is not written to")
    if is_number(value):
        value = memset(target.shape, value)
    source = tile(value, "nl.store")
    if source.storage.kind == "psum":
        source = issue("copy", temporary("store", "sbuf", source.shape), [source])
    if target.ndim == 1:
        target = Tensor(target.storage, target.offset, [*target.axes, (1, 1)], 0, [(n, o, (*s, 0)) for n, o, s in target.bounds])
    source = matched(source, target.shape, "nl.store")
    box = box_of(mask, target.shape)
    issue("store", target, [source], box)


def memset(shape: Sequence[int], value: Any, mask: Any = None) -> Tensor:
    need(is_number(value), "err_unsupported_value", f"a tile is filled with a {type(value).__name__}")
    box = box_of(mask, shape)
    return issue("memset", temporary("memset", "sbuf", shape, box), [], box, numbers=[value])


def copy(source: Any, mask: Any = None, dtype: Any = None) -> Tensor:
    dtypes.check(dtype)
    source = tile(source, "nl.copy")
    box = box_of(mask, source.shape)
    return issue("copy", temporary("copy", "sbuf", source.shape, box), [source], box)


def vector(value: Any, data: Tensor, what: str) -> Tensor:
    """A tile of one element per partition of the data."""
    value = tile(value, what)
    need(math.prod(value.shape[1:]) == 1 and value.shape[0] == data.shape[0], "err_num_partition_mismatch",
         f"{what}: a tile of {value.shape} beside one of {data.shape}")
    view = value.view()
    return Tensor(view.buffer, view.offset, [view.axes[0], *((1, 0) for _ in data.shape[1:])])


def activation(op: Any, data: Any, bias: Any = None, scale: Any = 1.0, mask: Any = None, dtype: Any = None) -> Tensor:
    """op(data * scale + bias)"""
    dtypes.check(dtype)
    name = operation(op, FUNCTIONS, "activation")
    data = tile(data, "activation")
    box = box_of(mask, data.shape)
    sources, flags, number = [data], 0, None
    if bias is not None:
        need(isinstance(bias, Tensor), "err_activation_bias_invalid_type", f"a bias is a {type(bias).__name__}")
        sources.append(vector(bias, data, "a bias"))
        flags |= 1
    if isinstance(scale, Tensor):
        need(math.prod(scale.shape[1:]) == 1 and scale.shape[0] == data.shape[0], "err_activation_scale_scalar_or_vector",
             f"a scale of shape {scale.shape} beside data of {data.shape}")
        sources.append(vector(scale, data, "a scale"))
        flags |= 2
    else:
        need(is_number(scale), "err_activation_scale_invalid_type", f"a scale is a {type(scale).__name__}")
        number = scale
    return issue("activation", temporary("activation", "sbuf", data.shape, box), sources, box, [name], [number], flags)


def tensor_scalar(data: Any, op0: Any, operand0: Any, reverse0: Any = False, op1: Any = None, operand1: Any = None, reverse1: Any = False,
                  mask: Any = None, dtype: Any = None) -> Tensor:
    """(data op0 operand0) op1 operand1"""
    dtypes.check(dtype)
    data = tile(data, "tensor_scalar")
    box = box_of(mask, data.shape)
    sources, names, numbers = [data], [], []
    for op, operand in ((op0, operand0), (op1, operand1)):
        if op is None:
            continue
        names.append(operation(op, ARITHMETIC + COMPARISONS, "tensor_scalar"))
        if isinstance(operand, Tensor):
            sources.append(vector(operand, data, "an operand of tensor_scalar"))
            numbers.append(None)
        else:
            need(is_number(operand), "err_unsupported_value", f"an operand of tensor_scalar is a {type(operand).__name__}")
            numbers.append(operand)
    flags = (1 if reverse0 else 0) | (2 if reverse1 else 0)
    return issue("tensor_scalar", temporary("tensor_scalar", "sbuf", data.shape, box), sources, box, names, numbers, flags)


def tensor_tensor(a: Any, b: Any, op: Any, mask: Any = None, dtype: Any = None) -> Tensor:
    dtypes.check(dtype)
    name = op if isinstance(op, str) else operation(op, ARITHMETIC + COMPARISONS, "tensor_tensor")
    a, b = tile(a, "tensor_tensor"), tile(b, "tensor_tensor")
    if a.shape[0] != b.shape[0]:
        raise NkiError("err_num_partition_mismatch", f"tiles of {a.shape} and {b.shape}")
    b = matched(b, a.shape, "tensor_tensor")
    box = box_of(mask, a.shape)
    return issue("tensor_tensor", temporary("tensor_tensor", "sbuf", a.shape, box), [a, b], box, [name])


class Token:
    """An operation by name, where the name alone is wanted."""

    def __init__(self, name: str) -> None:
        self.nki_name = name


def binary(name: str, a: Any, b: Any, mask: Any = None, dtype: Any = None) -> Any:
    """nl.add(a, b): on tiles that broadcast, or a tile and a number."""
    if is_number(a) and is_number(b):
        raise NkiError("err_unsupported_value", f"nl.{name} of two numbers")
    if is_number(b):
        return tensor_scalar(a, Token(name), b, mask=mask, dtype=dtype)
    if is_number(a):
        return tensor_scalar(b, Token(name), a, True, mask=mask, dtype=dtype)
    a, b = tile(a, f"nl.{name}"), tile(b, f"nl.{name}")
    shape = broadcast([a.shape, b.shape])
    if a.shape[0] != shape[0]:
        a = broadcast_to(a, (shape[0], *a.shape[1:]))
    if b.shape[0] != shape[0]:
        b = broadcast_to(b, (shape[0], *b.shape[1:]))
    if a.shape == b.shape:
        return tensor_tensor(a, b, Token(name), mask, dtype)
    if a.shape == shape and math.prod(b.shape[1:]) == 1:
        return tensor_scalar(a, Token(name), b, mask=mask, dtype=dtype)
    if b.shape == shape and math.prod(a.shape[1:]) == 1:
        return tensor_scalar(b, Token(name), a, True, mask=mask, dtype=dtype)
    return tensor_tensor(stretched(a, shape), stretched(b, shape), Token(name), mask, dtype)


def stretched(value: Tensor, shape: Sequence[int]) -> Tensor:
    """Read again and again along axes of one element."""
    view = value.view()
    axes = [(1, 0)] * (len(shape) - len(view.axes)) + view.axes
    return Tensor(view.buffer, view.offset, [(n, s if own == n else 0) for n, (own, s) in zip(shape, axes)])


def combine_into(target: Tensor, name: str, value: Any) -> None:
    """target op= value"""
    target = tile(target, "an assignment")
    if is_number(value):
        issue("tensor_scalar", target, [target], None, [name], [value])
        return
    value = tile(value, "an assignment")
    if value.shape[0] == target.shape[0] and value.shape != target.shape and math.prod(value.shape[1:]) == 1:
        issue("tensor_scalar", target, [target, vector(value, target, "an operand")], None, [name], [None])
        return
    value = matched(value, target.shape, "an assignment")
    box = getattr(value.storage, "box", None) if getattr(value.storage, "temporary", False) else None
    if is_empty(box):
        return
    issue("tensor_tensor", target, [target, value], box, [name])
    trace.current().instructions[-1].assigns = name == "add"


def reduce_into(target: Tensor, reduced: Reduced) -> None:
    """The destination of nl.loop_reduce: initialised when its loops begin, and combined with afterwards."""
    value = matched(tile(reduced.value, "nl.loop_reduce"), target.shape, "nl.loop_reduce")
    box = box_of(reduced.mask, target.shape)
    if reduced.first:
        issue("copy", target, [value], box)
    else:
        issue("tensor_tensor", target, [target, value], box, [reduced.operation])


def tensor_reduce(op: Any, data: Any, axis: Any, mask: Any = None, dtype: Any = None, negate: Any = False, keepdims: Any = True) -> Tensor:
    """Along any axes but the first: the others are moved before them, in a view."""
    dtypes.check(dtype)
    name = op if isinstance(op, str) else operation(op, ("add", "subtract", "multiply", "max", "min"), "tensor_reduce")
    data = tile(data, "tensor_reduce")
    axes = sorted(a + data.ndim if a < 0 else a for a in (axis if isinstance(axis, (tuple, list)) else [axis]))
    need(axes and len({*axes}) == len(axes) and axes[0] > 0 and axes[-1] < data.ndim, "err_unsupported_value",
         f"a reduction along the axes {axes} of {data.ndim}: each once, without the partition axis")
    kept = [a for a in range(data.ndim) if a not in axes]
    order = kept + axes
    box = box_of(mask, data.shape)
    if order != sorted(order):
        data = permuted(data, order)
        box = None if box is None else [box[a] for a in order]
    shape = [n if place < len(kept) else 1 for place, n in enumerate(data.shape)]
    left = None if box is None else [one if place < len(kept) else (0, 1) for place, one in enumerate(box)]
    target = temporary("tensor_reduce", "sbuf", shape, left)
    if not is_empty(box):
        issue("reduce", target, [data], left, [name], [len(axes)], 1 if negate else 0, boxes=[box])
    if not keepdims:
        return Tensor(target.storage, 0, target.axes[:max(len(kept), 2)])  # a tile has two axes at least
    if order != sorted(order):
        back = [order.index(a) for a in range(len(order))]
        target.storage.box = None if left is None else [left[place] for place in back]
        target = permuted(target, back)
    return target


def permuted(value: Tensor, order: Sequence[int]) -> Tensor:
    """With its axes in this order, the partition axis first: nothing is moved."""
    bounds = [(limit, low, tuple(strides[a] for a in order)) for limit, low, strides in value.bounds]
    return Tensor(value.storage, value.offset, [value.axes[a] for a in order], bounds=bounds)


def tensor_tensor_scan(data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: Any = False, reverse1: Any = False,
                       mask: Any = None, dtype: Any = None) -> Tensor:
    """r[i] = (data0[i] op0 r[i-1]) op1 data1[i], the operands of either operation the other way round where it is reversed"""
    dtypes.check(dtype)
    data0, data1 = tile(data0, "tensor_tensor_scan"), tile(data1, "tensor_tensor_scan")
    need(data0.shape[0] == data1.shape[0], "err_num_partition_mismatch", f"tiles of {data0.shape} and {data1.shape}")
    data1 = matched(data1, data0.shape, "tensor_tensor_scan")
    names = [operation(op, ARITHMETIC, "tensor_tensor_scan") for op in (op0, op1)]
    sources, number = [data0, data1], None
    if isinstance(initial, Tensor):
        sources.append(vector(initial, data0, "the initial value of a scan"))
    else:
        need(is_number(initial), "err_unsupported_value", f"the initial value of a scan is a {type(initial).__name__}")
        number = initial
    box = box_of(mask, data0.shape)
    return issue("scan", temporary("tensor_tensor_scan", "sbuf", data0.shape, box), sources, box, names, [number],
                 (1 if reverse0 else 0) | (2 if reverse1 else 0))


def nc_matmul(stationary: Any, moving: Any, transposes: bool = False, mask: Any = None) -> Tensor:
    """stationary[K, M].T @ moving[K, N], in PSUM."""
    stationary, moving = tile(stationary, "nc_matmul"), tile(moving, "nc_matmul")
    for one in (stationary, moving):
        need(one.storage.kind == "sbuf", "err_unsupported_memory", "nc_matmul takes tiles in SBUF")
    if stationary.shape[0] != moving.shape[0]:
        raise NkiError("err_num_partition_mismatch",
                       f"nc_matmul of {stationary.shape} and {moving.shape}: their first axes are multiplied along")
    stationary = stationary if stationary.ndim == 2 else flattened(stationary)
    shape = (stationary.shape[1], *moving.shape[1:])
    box = box_of(mask, shape)
    boxes = None if box is None else [[(0, stationary.shape[0]), box[0]], [(0, moving.shape[0]), *box[1:]]]
    return issue("matmul", temporary("nc_matmul", "psum", shape, box), [stationary, moving], box,
                 numbers=[math.prod(shape[1:])], flags=2 if transposes else 0, boxes=boxes)


def flattened(value: Tensor) -> Tensor:
    """With its free axes as one, where that is one stride."""
    view = value.view()
    count, stride = 1, 1
    for n, s in reversed(view.axes[1:]):
        if n == 1:
            continue
        need(count == 1 or s == count * stride, "err_unsupported_value", "a stationary tile needs one stride along its columns")
        stride = s if count == 1 else stride
        count *= n
    return Tensor(view.buffer, view.offset, [view.axes[0], (count, stride)])


def transpose(data: Any, mask: Any = None) -> Tensor:
    """Through the tensor engine. [P, F] to [F, P], in PSUM."""
    data = tile(data, "transpose")
    box = box_of(mask, data.shape)
    need(box is None or box == [(0, n) for n in data.shape], "err_unsupported_expression_in_mask",
         "a mask leaves a part of what is transposed: transpose that part, data[0:rows, 0:columns]")
    need(data.ndim == 2, "err_exceed_max_supported_dimension", f"a transpose of a tile of {data.ndim} axes")
    need(max(data.shape) <= 128, "err_size_of_dimension_exceed_arch_limit", f"a transpose of a tile of {data.shape}; at most 128 by 128")
    if data.storage.kind == "psum":
        data = copy(data)
    return issue("transpose", temporary("transpose", "psum", (data.shape[1], data.shape[0])), [data], None, boxes=[None])


def matmul(x: Any, y: Any, transpose_x: Any = False, mask: Any = None) -> Tensor:
    """x[M, K] @ y[K, N]; x is transposed first, unless it is there as [K, M]."""
    x, y = tile(x, "nl.matmul"), tile(y, "nl.matmul")
    if not transpose_x:
        x = copy(transpose(x))
    return nc_matmul(x, y, False, mask)


def broadcast_to(value: Tensor, shape: Sequence[int]) -> Tensor:
    """From one partition to all: by the tensor engine. Along other axes nothing is moved."""
    value = tile(value, "broadcast_to")
    shape = tuple(shape)
    broadcast([value.shape, shape])
    if value.shape[0] == shape[0]:
        return stretched(value, shape)
    value = stretched(value, (value.shape[0], *shape[1:]))
    return issue("broadcast", temporary("broadcast_to", "sbuf", shape), [value], None, boxes=[None])


def declare(shape: Sequence[int], kind: str, name: str, fill: Any, partition: int) -> Tensor:
    """A tensor on the chip; axes before the partition axis are blocks."""
    tile_shape = tuple(shape[partition:])
    need(len(tile_shape) >= 2 or partition == 0, "err_failed_to_infer_tile_from_local_tensor", f"{name}: a tile has two axes at least")
    from .tensors import dense
    blocks = Blocks(kind, name, tile_shape if len(tile_shape) > 1 else (*tile_shape, 1), fill)
    return Tensor(blocks, 0, dense(tuple(shape)), partition)
