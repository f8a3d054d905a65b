# SPDX-License-Identifier: Apache-2.0
"""neuronxcc.nki.isa"""

from __future__ import annotations

from typing import Any

from . import dtypes, operations
from .catalogue import absent as _absent
from .operations import Token
from .tensors import Tensor


class Engine:
    def __init__(self, name: str) -> None:
        self.name = name


unknown_engine, tensor_engine, vector_engine, scalar_engine, gpsimd_engine = (
    Engine(n) for n in ("unknown", "tensor", "vector", "scalar", "gpsimd"))


def nc_matmul(stationary: Any, moving: Any, *, is_stationary_onezero: Any = False, is_moving_onezero: Any = False, mask: Any = None,
              is_transpose: Any = False) -> Tensor:
    return operations.nc_matmul(stationary, moving, bool(is_transpose), mask)


def nc_transpose(data: Any, *, mask: Any = None, dtype: Any = None, engine: Any = None) -> Tensor:
    dtypes.check(dtype)
    data = operations.tile(data, "nc_transpose")
    operations.need(engine is not vector_engine or max(data.shape) <= 32, "err_size_of_dimension_exceed_arch_limit",
                    f"VectorE transposes 32 by 32 elements at most, and not {data.shape}")
    return operations.transpose(data, mask)


def activation(op: Any, data: Any, *, bias: Any = None, scale: Any = 1.0, mask: Any = None, dtype: Any = None) -> Tensor:
    return operations.activation(op, data, bias, scale, mask, dtype)


def tensor_scalar(data: Any, op0: Any, operand0: Any, reverse0: Any = False, op1: Any = None, operand1: Any = None, reverse1: Any = False, *,
                  dtype: Any = None, mask: Any = None, engine: Any = None) -> Tensor:
    return operations.tensor_scalar(data, op0, operand0, reverse0, op1, operand1, reverse1, mask, dtype)


def tensor_tensor(data1: Any, data2: Any, op: Any, *, dtype: Any = None, mask: Any = None, engine: Any = None) -> Tensor:
    return operations.tensor_tensor(data1, data2, op, mask, dtype)


def scalar_tensor_tensor(*, data: Any, op0: Any, operand0: Any, op1: Any, operand1: Any, reverse0: Any = False, reverse1: Any = False,
                         dtype: Any = None, mask: Any = None) -> Tensor:
    first = operations.tensor_scalar(data, op0, operand0, reverse0, mask=mask)
    pair = (operand1, first) if reverse1 else (first, operand1)
    return operations.tensor_tensor(*pair, op1, mask, dtype)


def tensor_tensor_scan(data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: Any = False, reverse1: Any = False, *,
                       dtype: Any = None, mask: Any = None) -> Tensor:
    return operations.tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0, reverse1, mask, dtype)


def tensor_reduce(op: Any, data: Any, axis: Any, *, mask: Any = None, dtype: Any = None, negate: Any = False, keepdims: Any = False) -> Tensor:
    return operations.tensor_reduce(op, data, axis, mask, dtype, negate, keepdims)


def reciprocal(data: Any, *, dtype: Any = None, mask: Any = None) -> Tensor:
    result = operations.activation(Token("reciprocal"), data, mask=mask, dtype=dtype)
    return result


def memset(shape: Any, value: Any, dtype: Any, *, mask: Any = None, engine: Any = None) -> Tensor:
    dtypes.check(dtype)
    return operations.memset(tuple(int(n) for n in shape), value, mask)


def tensor_copy(src: Any, *, mask: Any = None, dtype: Any = None, engine: Any = None) -> Tensor:
    return operations.copy(src, mask, dtype)


def __getattr__(name: str) -> Any:
    raise AttributeError(_absent("isa", name))
