# SPDX-License-Identifier: Apache-2.0
"""Indexing, and arithmetic on values that the host knows. On anything else arithmetic is refused, or a built-in kernel."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, Sequence

from . import dtypes, shapes, state
from .dtypes import BY_NAME, DType
from .errors import refuse
from .storage import Uniform, allocate, constant

ARITHMETIC = ("arithmetic on device data is no part of a plan: write it as a @triton.jit kernel, "
              "or declare the input as visible to the host")
UNKNOWN = "reads device data on the host: only inputs that the task declares as visible to the host can be read"
WRITTEN = "reads device data on the host: a kernel may have written it"

Tensor: Any = None  # the class; tensor.py sets it, since it needs this module


# Indexing.
def index(tensor: Any, key: Any, written: bool = False) -> Any:
    keys = list(key) if isinstance(key, tuple) else [key]
    if isinstance(key, list):
        keys = [tensor_of(key, BY_NAME["int64"], tensor.storage_.on_host)]
    consumed = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if Ellipsis in [k for k in keys if not isinstance(k, Tensor)]:
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[place:place + 1] = [slice(None)] * (tensor.ndim - consumed)
    if consumed > tensor.ndim:
        raise IndexError(f"too many indices for tensor of dimension {tensor.ndim}")
    result, dim = tensor, 0
    for item in keys:
        if item is None:
            result = result.unsqueeze(dim)
            dim += 1
        elif isinstance(item, slice):
            result, dim = _sliced(result, item, dim), dim + 1
        elif isinstance(item, Tensor) and (item.shape or item.dtype.name == "bool"):
            if written:
                refuse("Tensor.__setitem__", "with an index tensor: write it as a @triton.jit kernel")
            result, dim = _taken(result, item, dim), dim + item.ndim
        elif isinstance(item, (list, tuple)):
            taken = tensor_of(item, BY_NAME["int64"], tensor.storage_.on_host)
            result, dim = _taken(result, taken, dim), dim + taken.ndim
        else:
            result = result.select(dim, item)
    return result


def _sliced(tensor: Any, key: slice, dim: int) -> Any:
    numbers = slice(*(None if part is None else part.__index__() for part in (key.start, key.stop, key.step)))
    start, stop, step = numbers.indices(tensor.shape[dim])
    if step <= 0:
        raise ValueError("step must be greater than zero")
    length = max(0, -(-(stop - start) // step))
    shape = (*tensor.shape[:dim], length, *tensor.shape[dim + 1:])
    strides = (*tensor.strides_[:dim], tensor.strides_[dim] * step, *tensor.strides_[dim + 1:])
    return tensor._viewed(shape, strides, start * tensor.strides_[dim] if length else 0)


def _taken(tensor: Any, chosen: Any, dim: int) -> Any:
    """Rows by an index tensor: by a built-in kernel, or on the host where everything is known."""
    if chosen.dtype.name == "bool":
        mask = chosen.values_("Tensor.__getitem__ (mask)")
        if chosen.ndim != 1:
            refuse("Tensor.__getitem__", "with a mask of several axes")
        chosen = tensor_of([i for i, kept in enumerate(mask) if kept], BY_NAME["int64"], tensor.storage_.on_host)
    if tensor.storage_.pending() and tensor.storage_.is_known() and chosen.storage_.is_known():
        return _taken_on_host(tensor, chosen, dim)
    if dim:
        order = [dim, *(i for i in range(tensor.ndim) if i != dim)]
        back = [*range(chosen.ndim, chosen.ndim + dim), *range(chosen.ndim), *range(chosen.ndim + dim, chosen.ndim + tensor.ndim - 1)]
        return _taken(tensor.permute(order), chosen, 0).permute(back)
    if chosen.dtype.name not in ("int32", "int64"):
        chosen = chosen.to(BY_NAME["int64"])
    if chosen.storage_.on_host:
        chosen = chosen.cuda()
    flat = chosen.reshape(-1)
    shape = (*chosen.shape, *tensor.shape[1:])
    rows = (chosen.numel(), *tensor.shape[1:])
    target = Tensor(allocate(tensor.dtype, shapes.numel(rows), "scratch"), 0, tensor.dtype, rows, shapes.contiguous_strides(rows))
    tensor.storage_.ready()
    flat.storage_.ready()
    if target.numel():
        state.session().sink.gather(tensor.window, flat.window, target.window)
    return target.view(shape)


def _taken_on_host(tensor: Any, chosen: Any, dim: int) -> Any:
    picked = [tensor.select(dim, int(i)) for i in chosen.values_("Tensor.__getitem__")]
    values: list = []
    outer = shapes.numel(tensor.shape[:dim])
    rows = [row.values_("Tensor.__getitem__") for row in picked]
    inner = shapes.numel(tensor.shape[dim + 1:])
    for block in range(outer):
        for row in rows:
            values += row[block * inner:(block + 1) * inner]
    return made(values, tensor.dtype, (*tensor.shape[:dim], *chosen.shape, *tensor.shape[dim + 1:]), tensor.storage_.on_host)


def dense_strides(tensor: Any) -> Sequence[int]:
    """What clone() keeps: the order of the axes in memory, without gaps."""
    if any(s == 0 and e > 1 for e, s in zip(tensor.shape, tensor.strides_)) or tensor.is_contiguous():
        return shapes.contiguous_strides(tensor.shape)
    order = sorted(range(tensor.ndim), key=lambda i: -tensor.strides_[i])
    strides = [0] * tensor.ndim
    for axis, stride in zip(order, shapes.contiguous_strides([tensor.shape[i] for i in order])):
        strides[axis] = stride
    return tuple(strides)


# Tensors from values.
def made(values: list, dtype: DType, shape: Sequence[int], on_host: bool) -> Any:
    values = [dtypes.rounded(value, dtype) for value in values]
    return Tensor(constant(dtype, values, len(values), on_host), 0, dtype, shape, shapes.contiguous_strides(shape))


def flattened(data: Any) -> tuple[list, tuple[int, ...]]:
    if isinstance(data, Tensor):
        return data.values_("torch.tensor"), tuple(data.shape)
    if isinstance(data, (list, tuple, range)):
        parts = [flattened(item) for item in data]
        inner = {shape for _, shape in parts}
        if len(inner) > 1:
            raise ValueError("expected sequences of equal length")
        return list(itertools.chain.from_iterable(values for values, _ in parts)), (len(parts), *(inner.pop() if inner else ()))
    if not isinstance(data, (int, float)):
        refuse("torch.tensor", f"from a {type(data).__name__}")
    return [data], ()


def tensor_of(data: Any, dtype: DType | None, on_host: bool) -> Any:
    values, shape = flattened(data)
    if dtype is None:
        if isinstance(data, Tensor):
            dtype = data.dtype
        elif all(isinstance(value, bool) for value in values) and values:
            dtype = BY_NAME["bool"]
        else:
            dtype = BY_NAME["int64" if all(isinstance(value, int) for value in values) and values else "float32"]
    return made(values, dtype, shape, on_host)


def nested(values: list, shape: Sequence[int]) -> Any:
    if not shape:
        return values[0]
    step = shapes.numel(shape[1:])
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


# Arithmetic.
def promoted(*operands: Any) -> DType:
    """The type of a result, as torch promotes: tensors by kind and width, Python numbers by their kind alone."""
    found = [x.dtype for x in operands if isinstance(x, Tensor)]
    floats = [dtype for dtype in found if dtype.floating]
    if floats:
        widest = max(floats, key=lambda dtype: dtype.itemsize)
        return BY_NAME["float32"] if {"float16", "bfloat16"} <= {dtype.name for dtype in floats} else widest
    if any(isinstance(x, float) for x in operands):
        return BY_NAME["float32"]
    whole = [dtype for dtype in found if dtype.name != "bool"]
    if whole:
        return max(whole, key=lambda dtype: (dtype.itemsize, dtype.signed))
    return BY_NAME["int64" if any(isinstance(x, int) and not isinstance(x, bool) for x in operands) else "bool"]


def elementwise(call: str, function: Callable, operands: Sequence[Any], dtype: DType | None = None) -> Any:
    tensors = [x for x in operands if isinstance(x, Tensor)]
    for tensor in tensors:
        if not tensor.storage_.is_known():
            refuse(call, ARITHMETIC)
    shape = shapes.broadcast(*(x.shape for x in tensors))
    columns = [x.expand(shape).values_(call) if isinstance(x, Tensor) else itertools.repeat(x, shapes.numel(shape)) for x in operands]
    on_host = all(x.storage_.on_host or not x.shape for x in tensors) and any(x.storage_.on_host for x in tensors)
    return made([function(*row) for row in zip(*columns)], dtype or promoted(*operands), shape, on_host)


def _quotient(a: float, b: float) -> float:
    return a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


BINARY: dict[str, tuple[Callable, str]] = {  # the kind of result: "", "bool", "float"
    "add": (operator.add, ""), "sub": (operator.sub, ""), "mul": (operator.mul, ""), "truediv": (_quotient, "float"),
    "floordiv": (operator.floordiv, ""), "mod": (operator.mod, ""), "pow": (operator.pow, ""), "and": (operator.and_, ""),
    "or": (operator.or_, ""), "xor": (operator.xor, ""), "lshift": (operator.lshift, ""), "rshift": (operator.rshift, ""),
    "lt": (operator.lt, "bool"), "le": (operator.le, "bool"), "gt": (operator.gt, "bool"), "ge": (operator.ge, "bool"),
    "eq": (operator.eq, "bool"), "ne": (operator.ne, "bool"),
}
UNARY: dict[str, tuple[Callable, str]] = {
    "neg": (operator.neg, ""), "logical_not": (operator.not_, "bool"), "sqrt": (_root, "float"), "ceil": (math.ceil, ""),
    "floor": (math.floor, ""), "exp": (math.exp, "float"), "log2": (math.log2, "float"), "log": (math.log, "float"),
}


def result_type(kind: str, operands: Sequence[Any]) -> DType:
    dtype = promoted(*operands)
    if kind == "bool":
        return BY_NAME["bool"]
    return BY_NAME["float32"] if kind == "float" and not dtype.floating else dtype


def binary(name: str, a: Any, b: Any) -> Any:
    if not isinstance(b, (Tensor, int, float)) or not isinstance(a, (Tensor, int, float)):
        return NotImplemented
    function, kind = BINARY[name]
    return elementwise(f"Tensor.{name}", function, (a, b), result_type(kind, (a, b)))


def unary(name: str, a: Any) -> Any:
    function, kind = UNARY[name]
    return elementwise(f"Tensor.{name}", function, (a,), result_type(kind, (a,)))


def install(tensor_class: Any) -> None:
    """Gives the class its operators and its methods of the same names."""
    global Tensor
    Tensor = tensor_class
    for name in BINARY:
        forward = lambda a, b, name=name: binary(name, a, b)
        setattr(tensor_class, f"__{name}__", forward)
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(tensor_class, f"__r{name}__", lambda a, b, name=name: binary(name, b, a))
            setattr(tensor_class, f"__i{name}__", lambda a, b, name=name: _in_place(name, a, b))
    for name, method in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
                         "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne", "pow": "pow"}.items():
        setattr(tensor_class, method, lambda a, b, name=name: binary(name, a, b))
        setattr(tensor_class, method + "_", lambda a, b, name=name: _in_place(name, a, b))
    for name in UNARY:
        setattr(tensor_class, name, lambda a, name=name: unary(name, a))
    tensor_class.__neg__ = lambda a: unary("neg", a)
    tensor_class.__invert__ = lambda a: unary("logical_not", a) if a.dtype.name == "bool" else binary("xor", a, -1)
    tensor_class.__matmul__ = lambda a, b: refuse("Tensor.__matmul__", ARITHMETIC)
    tensor_class.__abs__ = lambda a: a.abs()
    from . import reductions
    reductions.install(tensor_class)
    for name, dtype in {"long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
                        "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}.items():
        setattr(tensor_class, name, lambda a, dtype=dtype: a.to(BY_NAME[dtype]))


def _in_place(name: str, a: Any, b: Any) -> Any:
    return a.copy_(binary(name, a, b).to(a.dtype))


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.values_("torch.equal") == b.values_("torch.equal")


__all__ = ["Uniform"]
