# SPDX-License-Identifier: Apache-2.0
"""Functions of torch that make tensors: memory, and contents that the host knows."""

from __future__ import annotations

import math
from typing import Any

from . import host, shapes
from . import tensor as make
from .dtypes import BY_NAME
from .dtypes import DType as dtype
from .tensor import Device as device
from .tensor import Size, Tensor

__all__ = ["arange", "as_tensor", "broadcast_shapes", "broadcast_tensors", "cat", "empty", "empty_like", "empty_strided", "full",
           "full_like", "index_select", "is_tensor", "linspace", "ones", "ones_like", "scalar_tensor", "stack", "tensor", "where",
           "zeros", "zeros_like"]

default_dtype = [BY_NAME["float32"]]
default_device = ["cpu"]


def on_host_(where: Any) -> bool:
    return device(default_device[0] if where is None else where).type == "cpu"


def _kind(kind: Any, values: Any = 1.0) -> dtype:
    if kind is not None:
        return kind
    if isinstance(values, bool):
        return BY_NAME["bool"]
    return default_dtype[0] if not isinstance(values, int) else BY_NAME["int64"]


# Allocation.
def empty(*size: Any, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.empty(shapes.sizes(size or (_.get("size", ()),)), _kind(dtype), on_host_(device))


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.empty(shapes.sizes((size,)), _kind(dtype), on_host_(device), shapes.sizes((stride,)))


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.full(shapes.sizes((size,)), fill_value, _kind(dtype, fill_value), on_host_(device))


def zeros(*size: Any, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.full(shapes.sizes(size or (_.get("size", ()),)), 0, _kind(dtype), on_host_(device))


def ones(*size: Any, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.full(shapes.sizes(size or (_.get("size", ()),)), 1, _kind(dtype), on_host_(device))


def _like(other: Tensor, where: Any) -> bool:
    return other.storage_.on_host if where is None else on_host_(where)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    strides = host.dense_strides(input)
    return make.empty(input.shape, dtype or input.dtype, _like(input, device), strides)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return make.full(input.shape, fill_value, dtype or input.dtype, _like(input, device))


def zeros_like(input: Tensor, **options: Any) -> Tensor:
    return full_like(input, 0, **options)


def ones_like(input: Tensor, **options: Any) -> Tensor:
    return full_like(input, 1, **options)


# What the host makes up.
def tensor(data: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return host.tensor_of(data, dtype, on_host_(device) if not isinstance(data, Tensor) else _like(data, device))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


def scalar_tensor(value: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return tensor(value, dtype=dtype or default_dtype[0], device=device)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    count = max(0, math.ceil((end - start) / step))
    whole = all(isinstance(x, int) for x in (start, end, step))
    kind = dtype or (BY_NAME["int64"] if whole else default_dtype[0])
    return host.made([start + i * step for i in range(count)], kind, (count,), on_host_(device))


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    gap = (end - start) / max(steps - 1, 1)
    return host.made([start + i * gap for i in range(steps)], _kind(dtype), (steps,), on_host_(device))


def cat(tensors: Any, dim: int = 0, *, axis: Any = None) -> Tensor:
    parts = [t for t in tensors if not (t.ndim == 1 and t.shape[0] == 0)] or list(tensors[:1])
    dim = shapes.normalized(dim if axis is None else axis, parts[0].ndim)
    kind, first = host.promoted(*parts), parts[0]
    shape = list(first.shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    if all(part.storage_.pending() and part.storage_.is_known() for part in parts):
        result = make.full(shape, 0, kind, first.storage_.on_host)
    else:
        result = make.empty(shape, kind, False)
    start = 0
    for part in parts:
        result.narrow(dim, start, part.shape[dim]).copy_(part)
        start += part.shape[dim]
    return result


def stack(tensors: Any, dim: int = 0) -> Tensor:
    return cat([t.unsqueeze(dim) for t in tensors], shapes.normalized(dim, tensors[0].ndim + 1))


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    if input is None:
        return condition.nonzero(as_tuple=True)
    kind = host.promoted(*(x for x in (input, other)))
    return host.elementwise("torch.where", lambda c, a, b: a if c else b, (condition, input, other), kind)



def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    return input[(slice(None),) * shapes.normalized(dim, input.ndim) + (index,)]


Tensor.index_select = index_select


def broadcast_shapes(*all_shapes: Any) -> Size:
    return Size(shapes.broadcast(*all_shapes))


def broadcast_tensors(*tensors: Tensor) -> list:
    shape = shapes.broadcast(*(t.shape for t in tensors))
    return [t.expand(shape) for t in tensors]


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)
