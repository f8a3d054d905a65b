# SPDX-License-Identifier: Apache-2.0
"""sum, max and their like: on the host where values are known, by two built-in kernels (sum, abs().amax()) on device data."""

from __future__ import annotations

import itertools
import math
from collections import namedtuple
from typing import Any, Callable, Sequence

from . import host, shapes, state
from .dtypes import BY_NAME, DType
from .errors import refuse
from .storage import allocate

ValuesIndices = namedtuple("ValuesIndices", "values indices")


def chosen(tensor: Any, dim: Any) -> list[int]:
    if dim is None or dim == ():
        return list(range(tensor.ndim))
    return sorted({shapes.normalized(d, tensor.ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))})


def kept_shape(tensor: Any, dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if i in dims else extent for i, extent in enumerate(tensor.shape))


def on_device(kind: str, tensor: Any, dims: Sequence[int], keepdim: bool, dtype: DType) -> Any:
    """By a built-in kernel of the device."""
    shape = kept_shape(tensor, dims)
    storage = allocate(dtype, shapes.numel(shape), "scratch")
    target = host.Tensor(storage, 0, dtype, shape, shapes.contiguous_strides(shape))
    tensor.storage_.ready()
    if target.numel():
        state.session().sink.reduce(kind, tensor.window, target.window, list(dims))
    return target if keepdim else target.squeeze(*dims) if dims else target


def on_host(call: str, function: Callable[[list], Any], tensor: Any, dims: Sequence[int], keepdim: bool, dtype: DType) -> Any:
    if not tensor.storage_.is_known():
        refuse(call, host.ARITHMETIC)
    rest = [i for i in range(tensor.ndim) if i not in dims]
    values = tensor.permute(*rest, *dims).values_(call) if tensor.ndim else tensor.values_(call)
    length = shapes.numel([tensor.shape[i] for i in dims])
    count = shapes.numel([tensor.shape[i] for i in rest])
    if length == 0 and function in (min, max):
        raise RuntimeError(f"{call}: of no elements")
    results = [function(values[i * length:(i + 1) * length]) for i in range(count)]
    shape = kept_shape(tensor, dims) if keepdim else [tensor.shape[i] for i in rest]
    return host.made(results, dtype, shape, tensor.storage_.on_host)


def total(tensor: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None, axis: Any = None) -> Any:
    dims = chosen(tensor, dim if axis is None else axis)
    dtype = dtype or (tensor.dtype if tensor.dtype.floating else BY_NAME["int64"])
    if tensor.storage_.is_known():
        return on_host("Tensor.sum", lambda row: math.fsum(row) if dtype.floating else sum(row), tensor, dims, keepdim, dtype)
    return on_device("sum", tensor, dims, keepdim, dtype)


def _extreme(call: str, function: Callable) -> Callable:
    def reduced(tensor: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, host.Tensor):
            return host.elementwise(call, function, (tensor, dim))
        if dim is None:
            return on_host(call, function, tensor, chosen(tensor, None), False, tensor.dtype)
        dims = chosen(tensor, dim)
        values = on_host(call, function, tensor, dims, keepdim, tensor.dtype)
        indices = on_host(call, lambda row: row.index(function(row)), tensor, dims, keepdim, BY_NAME["int64"])
        return ValuesIndices(values, indices)
    return reduced


def _plain(call: str, function: Callable, dtype: str | None = None) -> Callable:
    def reduced(tensor: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
        return on_host(call, function, tensor, chosen(tensor, dim), keepdim, BY_NAME[dtype] if dtype else tensor.dtype)
    return reduced


def mean(tensor: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    return on_host("Tensor.mean", lambda row: math.fsum(row) / len(row), tensor, chosen(tensor, dim), keepdim, dtype or tensor.dtype)


def cumulative(call: str, function: Callable) -> Callable:
    def scanned(tensor: Any, dim: int = 0, dtype: DType | None = None, axis: int | None = None) -> Any:
        if not tensor.storage_.is_known():
            refuse(call, host.ARITHMETIC)
        dim = shapes.normalized(dim if axis is None else axis, tensor.ndim)
        dtype = dtype or (tensor.dtype if tensor.dtype.floating else BY_NAME["int64"])
        order = [*(i for i in range(tensor.ndim) if i != dim), dim]
        moved = tensor.permute(order)
        values, length = moved.values_(call), tensor.shape[dim]
        rows = [list(itertools.accumulate(values[i:i + length], function)) for i in range(0, len(values), length or 1)]
        result = host.made(list(itertools.chain.from_iterable(rows)), dtype, moved.shape, tensor.storage_.on_host)
        return result.permute([order.index(i) for i in range(tensor.ndim)])
    return scanned


def sort(tensor: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> ValuesIndices:
    if not tensor.storage_.is_known():
        refuse("Tensor.sort", host.ARITHMETIC)
    if tensor.ndim != 1:
        refuse("Tensor.sort", "of more than one axis")
    values = tensor.values_("Tensor.sort")
    order = sorted(range(len(values)), key=lambda i: values[i], reverse=descending)
    on_cpu = tensor.storage_.on_host
    return ValuesIndices(host.made([values[i] for i in order], tensor.dtype, tensor.shape, on_cpu),
                         host.made(order, BY_NAME["int64"], tensor.shape, on_cpu))


def nonzero(tensor: Any, as_tuple: bool = False) -> Any:
    if not tensor.storage_.is_known():
        refuse("Tensor.nonzero", host.ARITHMETIC)
    if tensor.ndim != 1:
        refuse("Tensor.nonzero", "of more than one axis")
    found = [i for i, value in enumerate(tensor.values_("Tensor.nonzero")) if value]
    flat = host.made(found, BY_NAME["int64"], (len(found),), tensor.storage_.on_host)
    return (flat,) if as_tuple else flat.view(-1, 1)


def repeat_interleave(tensor: Any, repeats: Any, dim: int | None = None, output_size: int | None = None) -> Any:
    if isinstance(repeats, int) and not tensor.storage_.is_known():  # a strided copy
        tensor = tensor.reshape(-1) if dim is None else tensor
        dim = shapes.normalized(dim or 0, tensor.ndim)
        wide = tensor.unsqueeze(dim + 1).expand(*tensor.shape[:dim + 1], repeats, *tensor.shape[dim + 1:])
        return wide.reshape(*tensor.shape[:dim], -1, *tensor.shape[dim + 1:])
    if not tensor.storage_.is_known():
        refuse("Tensor.repeat_interleave", host.ARITHMETIC)
    if tensor.ndim != 1:
        refuse("Tensor.repeat_interleave", "of more than one axis")
    values = tensor.values_("Tensor.repeat_interleave")
    counts = repeats.values_("Tensor.repeat_interleave") if isinstance(repeats, host.Tensor) else [repeats]
    counts = counts * len(values) if len(counts) == 1 else counts
    result = [value for value, count in zip(values, counts) for _ in range(count)]
    return host.made(result, tensor.dtype, (len(result),), tensor.storage_.on_host)


def repeat(tensor: Any, *times: Any) -> Any:
    """Whole copies beside each other: a strided copy."""
    counts = shapes.sizes(times)
    shape = (*[1] * (len(counts) - tensor.ndim), *tensor.shape)
    paired = [extent for size in shape for extent in (1, size)]
    wide = [extent for count, size in zip(counts, shape) for extent in (count, size)]
    return tensor.reshape(paired).expand(wide).reshape([count * size for count, size in zip(counts, shape)])


def clamp(tensor: Any, min: Any = None, max: Any = None) -> Any:
    def within(value: Any, low: Any, high: Any) -> Any:
        value = low if low is not None and value < low else value
        return high if high is not None and value > high else value
    return host.elementwise("Tensor.clamp", within, (tensor, min, max), tensor.dtype)


class Absolute:
    """abs() of device data: amax() and max() of it are a built-in kernel, everything else is refused."""

    def __init__(self, tensor: Any) -> None:
        self.tensor_ = tensor

    def amax(self, dim: Any = (), keepdim: bool = False) -> Any:
        return on_device("abs_amax", self.tensor_, chosen(self.tensor_, dim), keepdim, self.tensor_.dtype)

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        result = self.amax(() if dim is None else dim, keepdim)
        return result if dim is None else ValuesIndices(result, _NoIndices())

    shape = property(lambda self: self.tensor_.shape)
    dtype = property(lambda self: self.tensor_.dtype)
    device = property(lambda self: self.tensor_.device)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse("Tensor.abs", host.ARITHMETIC + "; only abs().amax() is a built-in")


class _NoIndices:
    def __getattr__(self, name: str) -> Any:
        refuse("Tensor.max", "places of the largest absolute values are not computed")


def absolute(tensor: Any) -> Any:
    if tensor.storage_.is_known():
        return host.elementwise("Tensor.abs", abs, (tensor,), tensor.dtype)
    return Absolute(tensor)


def install(tensor_class: Any) -> None:
    for name, function in {
        "sum": total, "max": _extreme("Tensor.max", max), "min": _extreme("Tensor.min", min),
        "amax": _plain("Tensor.amax", max), "amin": _plain("Tensor.amin", min), "prod": _plain("Tensor.prod", math.prod),
        "any": _plain("Tensor.any", any, "bool"), "all": _plain("Tensor.all", all, "bool"),
        "argmax": _plain("Tensor.argmax", lambda row: row.index(max(row)), "int64"),
        "argmin": _plain("Tensor.argmin", lambda row: row.index(min(row)), "int64"),
        "count_nonzero": _plain("Tensor.count_nonzero", lambda row: sum(1 for value in row if value), "int64"),
        "mean": mean, "cumsum": cumulative("Tensor.cumsum", lambda a, b: a + b), "sort": sort,
        "argsort": lambda tensor, dim=-1, descending=False, stable=False: sort(tensor, dim, descending).indices,
        "nonzero": nonzero, "repeat_interleave": repeat_interleave, "repeat": repeat, "tile": repeat, "clamp": clamp, "abs": absolute,
        "maximum": lambda a, b: host.elementwise("Tensor.maximum", max, (a, b)),
        "minimum": lambda a, b: host.elementwise("Tensor.minimum", min, (a, b)),
        "diff": lambda a: a[1:] - a[:-1],
    }.items():
        setattr(tensor_class, name, function)
