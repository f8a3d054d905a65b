# SPDX-License-Identifier: Apache-2.0
"""neuronxcc.nki.language"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable

from . import dtypes, operations, trace
from .catalogue import NkiError, need
from .catalogue import absent as _absent
from .dtypes import OTHERS, float32
from .indices import Grid, Index, Pattern, is_integer
from .tensors import Reduced, Tensor, dense, temporary

bfloat16, float16, int32, uint32, int8, uint8 = (OTHERS[n] for n in ("bfloat16", "float16", "int32", "uint32", "int8", "uint8"))
fp32 = float32
mgrid = Grid()


class Memory:
    def __init__(self, name: str) -> None:
        self.name = name


sbuf, psum, hbm, shared_hbm, private_hbm = (Memory(n) for n in ("sbuf", "psum", "hbm", "shared_hbm", "private_hbm"))


class tile_size:
    pmax, psum_fmax, gemm_stationary_fmax, gemm_moving_fmax, bn_stats_fmax, psum_min_align, sbuf_min_align = 128, 512, 128, 512, 512, 4, 1
    total_available_sbuf_size = 176 << 10  # trn1's, unless the request names another chip's (kernels.use_chip)


class par_dim(int):
    """The partition axis of a shape."""


def ndarray(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", fill: Any = None) -> Tensor:
    dtypes.check(dtype)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    need(shape and all(is_integer(n) and n > 0 for n in shape), "err_unsupported_value", f"a tensor of shape {shape}")
    space = getattr(buffer, "name", "sbuf")
    name = str(name)[:64] or "tensor"
    if space.endswith("hbm"):
        need(fill is None, "err_hbm_tensor_with_init_value_not_supported", f"{name} is filled with {fill}")
        if space == "shared_hbm":
            need(trace.current().scope == 0, "err_shared_hbm_must_in_kernel_level", f"{name} is made in a loop or a branch")
            need(trace.current().in_kernel(), "err_shared_hbm_must_in_kernel_level", f"{name} is made in a function that the kernel calls")
        buffer = trace.current().buffer("output" if space == "shared_hbm" else "scratch", name, shape, fill=fill)
        return Tensor(buffer, 0, dense(tuple(int(n) for n in shape)))
    partitions = [axis for axis, n in enumerate(shape) if isinstance(n, par_dim)]
    need(len(partitions) <= 1, "err_unsupported_value", "a tensor has one partition axis")
    return operations.declare([int(n) for n in shape], space, name, fill, partitions[0] if partitions else 0)


def full(shape: Any, fill_value: Any, dtype: Any, *, buffer: Any = None, name: str = "", lazy_initialization: Any = False) -> Tensor:
    need(operations.is_number(fill_value), "err_unsupported_value", f"a tensor is filled with a {type(fill_value).__name__}")
    need(fill_value == fill_value, "err_unsupported_value", "a tensor is filled with nan")
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=float(fill_value))


def zeros(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", lazy_initialization: Any = False) -> Tensor:
    return full(shape, 0.0, dtype, buffer=buffer, name=name)


def ones(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "") -> Tensor:
    return full(shape, 1.0, dtype, buffer=buffer, name=name)


def zeros_like(a: Tensor, dtype: Any = None, *, buffer: Any = None, name: str = "") -> Tensor:
    return zeros(a.shape, dtype or float32, buffer=buffer, name=name)


def shared_constant(constant: Any, dtype: Any = None) -> Tensor:
    """A constant of numpy's in HBM."""
    dtypes.check(dtype)
    fill, shape = getattr(constant, "fill", None), getattr(constant, "shape", None)
    need(fill is not None, "err_unsupported_value", f"shared_constant takes an array of numpy's, not a {type(constant).__name__}")
    buffer = trace.current().buffer("constant", "constant", shape, fill=fill)
    buffer.scope = 0
    return Tensor(buffer, 0, dense(shape))


@functools.lru_cache(1024, typed=True)
def arange(*bounds: int) -> Index:
    values = range(*bounds)
    return Index(values.start, Pattern.of([len(values)], [values.step]))


def ds(start: Any, size: int) -> Any:
    return slice(start, start + size)


def affine_range(*bounds: int) -> Any:
    return trace.current().loop("affine", range(*bounds))


def sequential_range(*bounds: int) -> Any:
    return trace.current().loop("sequential", range(*bounds))


def static_range(*bounds: int) -> Any:
    return trace.current().loop("static", range(*bounds))


def load(src: Any, *, mask: Any = None, dtype: Any = None) -> Tensor:
    return operations.load(src, mask, dtype)


def store(dst: Any, value: Any, *, mask: Any = None) -> None:
    operations.store(dst, value, mask)


def copy(src: Any, *, mask: Any = None, dtype: Any = None) -> Tensor:
    return operations.copy(src, mask, dtype)


def matmul(x: Any, y: Any, *, transpose_x: Any = False, mask: Any = None) -> Tensor:
    return operations.matmul(x, y, transpose_x, mask)


def transpose(x: Any, *, dtype: Any = None, mask: Any = None) -> Tensor:
    dtypes.check(dtype)
    return operations.transpose(x, mask)


def broadcast_to(src: Any, *, shape: Any) -> Tensor:
    return operations.broadcast_to(src, shape)


def loop_reduce(x: Any, op: Any, loop_indices: Any, *, dtype: Any = None, mask: Any = None) -> Reduced:
    dtypes.check(dtype)
    indices = list(loop_indices) if isinstance(loop_indices, (tuple, list)) else [loop_indices]
    need(indices and all(isinstance(i, trace.LoopIndex) for i in indices), "err_unsupported_value", "loop_indices are indices of loops")
    return Reduced(x, operations.operation(op, ("add", "multiply", "max", "min"), "loop_reduce"), all(i.first for i in indices), mask)


class Operation:
    """Both what is called, nl.add(a, b), and what is passed, op=nl.add."""

    def __init__(self, name: str, call: Callable) -> None:
        self.nki_name, self.call = name, call

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __repr__(self) -> str:
        return f"nl.{self.nki_name}"


def _binary(name: str) -> Operation:
    def call(x: Any, y: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        return operations.binary(operations.ALIASES.get(name, name), x, y, mask, dtype)
    return Operation(name, call)


def _unary(name: str) -> Operation:
    def call(x: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        return operations.activation(Operation(name, call), x, mask=mask, dtype=dtype)
    return Operation(name, call)


def _reduction(name: str) -> Operation:
    def call(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, keepdims: Any = False, negate: Any = False) -> Any:
        return operations.tensor_reduce(operations.ALIASES.get(name, name), x, axis, mask, dtype, negate, keepdims)
    return Operation(name, call)


add, subtract, multiply, divide, maximum, minimum = map(_binary, ("add", "subtract", "multiply", "divide", "maximum", "minimum"))
equal, not_equal, greater, greater_equal, less, less_equal = map(_binary, operations.COMPARISONS)
exp, log, sqrt, rsqrt, square, tanh, sigmoid, silu, relu, abs, sin, gelu, erf, sign, softplus = map(
    _unary, ("exp", "log", "sqrt", "rsqrt", "square", "tanh", "sigmoid", "silu", "relu", "abs", "sin", "gelu", "erf", "sign", "softplus"))
max, min, sum = map(_reduction, ("max", "min", "sum"))


def reciprocal(x: Any, *, dtype: Any = None, mask: Any = None) -> Tensor:
    from . import isa
    return isa.reciprocal(x, dtype=dtype, mask=mask)


def negative(x: Any, *, dtype: Any = None, mask: Any = None) -> Tensor:
    return operations.tensor_scalar(x, multiply, -1.0, mask=mask, dtype=dtype)


def mean(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, keepdims: Any = False) -> Tensor:
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    return operations.tensor_scalar(sum(x, axis, mask=mask, keepdims=keepdims), multiply, 1.0 / math.prod(x.shape[a] for a in axes), dtype=dtype)


def softmax(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None) -> Tensor:
    shifted = exp(subtract(x, max(x, axis, mask=mask, keepdims=True), mask=mask), mask=mask)
    return multiply(shifted, reciprocal(sum(shifted, axis, mask=mask, keepdims=True)), mask=mask, dtype=dtype)


def device_print(*_: Any, **__: Any) -> None:
    """Prints nothing: there are no numbers."""


def program_id(axis: Any) -> int:
    return 0


def num_programs(axes: Any = None) -> int:
    return 1


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(_absent("language", name))


__all__ = [name for name in globals() if not name.startswith("_")]
_ = (NkiError, temporary)
