# SPDX-License-Identifier: Apache-2.0
"""Element types: their names in tasks, in torch and in Triton's signatures, and Python values as their bytes."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class DType:
    name: str  # as in task.toml
    torch: str  # as torch prints it, without "torch."
    itemsize: int
    floating: bool
    signed: bool
    code: str  # of struct and memoryview; empty where neither knows it

    @property
    def is_floating_point(self) -> bool:
        return self.floating

    @property
    def is_signed(self) -> bool:
        return self.signed

    @property
    def is_complex(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"torch.{self.torch}"

    def __reduce__(self) -> str:
        return self.torch


def _make(name: str, itemsize: int, floating: bool, signed: bool, code: str, torch: str = "") -> DType:
    return DType(name, torch or name, itemsize, floating, signed, code)


ALL = [
    _make("float64", 8, True, True, "d"), _make("float32", 4, True, True, "f"), _make("float16", 2, True, True, "e"),
    _make("bfloat16", 2, True, True, ""), _make("float8_e4m3fn", 1, True, True, ""), _make("float8_e5m2", 1, True, True, ""),
    _make("int64", 8, False, True, "q"), _make("int32", 4, False, True, "i"), _make("int16", 2, False, True, "h"),
    _make("int8", 1, False, True, "b"), _make("uint64", 8, False, False, "Q"), _make("uint32", 4, False, False, "I"),
    _make("uint16", 2, False, False, "H"), _make("uint8", 1, False, False, "B"), _make("bool", 1, False, False, "?"),
]
BY_NAME = {dtype.name: dtype for dtype in ALL}
# Of the types that have no struct code: bits of exponent and fraction, bias, and whether they have infinities.
SMALL = {"bfloat16": (8, 7, 127, True), "float8_e4m3fn": (4, 3, 7, False), "float8_e5m2": (5, 2, 15, True)}


def small_bits(value: float, name: str) -> int:
    """The nearest value's bits, ties to even; values too large become infinity, or NaN where there is none."""
    exponent_bits, fraction_bits, bias, infinities = SMALL[name]
    top = (1 << exponent_bits) - 1
    sign = int(math.copysign(1.0, value) < 0) << (exponent_bits + fraction_bits)
    nan = top << fraction_bits | ((1 << fraction_bits) - 1 if not infinities else 1 << (fraction_bits - 1))
    overflow = top << fraction_bits if infinities else nan
    if math.isnan(value):
        return sign | nan
    if math.isinf(value):
        return sign | overflow
    magnitude = abs(value)
    if magnitude == 0.0:
        return sign
    exponent = max(math.frexp(magnitude)[1] - 1, 1 - bias)
    steps = round(math.ldexp(magnitude, fraction_bits - exponent))  # round() takes ties to even
    bits = steps + ((exponent + bias - 1) << fraction_bits)  # a carry moves into the exponent by itself
    return sign | (overflow if bits >= overflow else bits)


def small_value(bits: int, name: str) -> float:
    exponent_bits, fraction_bits, bias, infinities = SMALL[name]
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) & 1 else 1.0
    if exponent == (1 << exponent_bits) - 1:
        if infinities:
            return math.nan if fraction else sign * math.inf
        if fraction == (1 << fraction_bits) - 1:
            return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits)


def to_bytes(value: float | int | bool, dtype: DType) -> bytes:
    """A Python number as an element; whole numbers wrap around, floats round to the nearest."""
    if dtype.name in SMALL:
        return small_bits(float(value), dtype.name).to_bytes(dtype.itemsize, "little")
    if dtype.name == "bool":
        return b"\1" if value else b"\0"
    if not dtype.floating:
        if isinstance(value, float) and not math.isfinite(value):
            value = 0 if math.isnan(value) else (1 << 63) - 1 if value > 0 else -(1 << 63)
        return (int(value) & ((1 << 8 * dtype.itemsize) - 1)).to_bytes(dtype.itemsize, "little")
    try:
        return struct.pack("<" + dtype.code, float(value))
    except OverflowError:  # beyond the largest finite value
        return struct.pack("<" + dtype.code, math.copysign(math.inf, value))


def to_bits(value: float | int | bool, dtype: DType) -> int:
    return int.from_bytes(to_bytes(value, dtype), "little")


def values_of(data: bytes | memoryview, dtype: DType) -> list:
    """The elements of these bytes as Python numbers."""
    if dtype.name in SMALL:
        words = struct.unpack(f"<{len(data) // dtype.itemsize}{'H' if dtype.itemsize == 2 else 'B'}", data)
        return [small_value(word, dtype.name) for word in words]
    if dtype.name == "bool":
        return [byte != 0 for byte in bytes(data)]
    return list(struct.unpack(f"<{len(data) // dtype.itemsize}{dtype.code}", data))


def bytes_of(values: list, dtype: DType) -> bytes:
    return b"".join(to_bytes(value, dtype) for value in values)


def rounded(value: float | int | bool, dtype: DType) -> float | int | bool:
    """The value that an element of this type would have."""
    return values_of(to_bytes(value, dtype), dtype)[0]
