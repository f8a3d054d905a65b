# SPDX-License-Identifier: Apache-2.0
"""The few names of numpy that kernels use. Nothing computes: there are no numbers."""

from accelopt_nki.dtypes import OTHERS, DType
from accelopt_nki.dtypes import float32 as float32

uint16, uint8, int32, uint32, int8, int16, float16, bool_ = (
    OTHERS[name] for name in ("uint16", "uint8", "int32", "uint32", "int8", "int16", "float16", "bool_"))
pi, inf, nan = 3.141592653589793, float("inf"), float("nan")


class _Operation:
    def __init__(self, name):
        self.nki_name = name

    def __call__(self, *_, **__):
        raise TypeError(f"np.{self.nki_name} computes nothing in a kernel: pass it as op=, or use nl.{self.nki_name}")


add, subtract, multiply, divide, maximum, minimum, max, min, sum, exp, sqrt, square, tanh = map(
    _Operation, ("add", "subtract", "multiply", "divide", "maximum", "minimum", "max", "min", "sum", "exp", "sqrt", "square", "tanh"))


class _Constant:
    def __init__(self, shape, fill):
        self.shape, self.fill, self.dtype = tuple(int(n) for n in shape), fill, float32


def dtype(value):
    if isinstance(value, DType):
        return value
    return float32 if value == "float32" else OTHERS[value]


def identity(n, dtype=float32):
    return _Constant((n, n), "identity")


eye = identity


def _shape(shape):
    return shape if isinstance(shape, (tuple, list)) else (shape,)


def full(shape, fill_value, dtype=float32):
    return _Constant(_shape(shape), float(fill_value))


def zeros(shape, dtype=float32):
    return full(shape, 0.0)


def ones(shape, dtype=float32):
    return full(shape, 1.0)
