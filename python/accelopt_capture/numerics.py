# SPDX-License-Identifier: Apache-2.0
"""Elements as numpy arrays of floats, for the types that numpy does not have: bfloat16 and the two of 8 bits."""

from __future__ import annotations

import functools

import numpy as np

from .dtypes import BY_NAME, SMALL, DType, small_value

STORED = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8, "bool": np.bool_}


def stored(dtype: DType) -> np.dtype:
    """The numpy type that has an element's bytes."""
    return np.dtype(STORED.get(dtype.name, dtype.name))


@functools.cache
def _table(name: str) -> np.ndarray:
    return np.array([small_value(bits, name) for bits in range(256)], dtype=np.float32)


def decoded(data: np.ndarray, dtype: DType) -> np.ndarray:
    """Stored elements as numbers that numpy computes with."""
    if dtype.name == "bfloat16":
        return (data.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if dtype.name in SMALL:
        return _table(dtype.name)[data]
    return data


def encoded(values: np.ndarray, dtype: DType, toward_zero: bool = False, saturate: bool = False) -> np.ndarray:
    """Numbers as stored elements: to the nearest, ties to even; or toward zero."""
    if dtype.name == "bfloat16":
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        nearest = bits if toward_zero else bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        result = (nearest >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(values), np.uint16(0x7FC0), result).reshape(np.shape(values))
    if dtype.name in SMALL:
        return _small(np.asarray(values, dtype=np.float32), dtype.name, toward_zero, saturate)
    if dtype.name == "bool":
        return values != 0
    with np.errstate(all="ignore"):
        if not dtype.floating and values.dtype.kind == "f":
            return values.astype(np.int64).astype(stored(dtype))
        return values.astype(stored(dtype))


def _small(values: np.ndarray, name: str, toward_zero: bool, saturate: bool) -> np.ndarray:
    """By place among the finite values of 8 bits; their bits are in order."""
    table = _table(name)
    count = int(np.isfinite(table[:128]).sum())
    finite = table[:count]
    magnitude = np.abs(values)
    below = np.clip(np.searchsorted(finite, magnitude, side="right") - 1, 0, count - 1)
    above = np.minimum(below + 1, count - 1)
    low, high = magnitude - finite[below], finite[above] - magnitude
    up = (high < low) | ((high == low) & (above % 2 == 0))
    bits = np.where(up & ~np.bool_(toward_zero), above, below).astype(np.uint8)
    step = finite[-1] - finite[-2]
    beyond = magnitude >= finite[-1] + step / 2
    overflow = np.uint8(count - 1) if saturate else np.uint8(count)  # infinity, or the NaN that stands in its place
    bits = np.where(beyond & ~np.isnan(values), overflow, bits)
    bits = np.where(np.isnan(values), np.uint8(127), bits)
    return bits | (np.signbit(values).astype(np.uint8) << np.uint8(7))


def converted(data: np.ndarray, source: DType, target: DType) -> np.ndarray:
    return data if source is target else encoded(decoded(data, source), target)


TRITON = {"bf16": BY_NAME["bfloat16"], "fp8e4nv": BY_NAME["float8_e4m3fn"], "fp8e5": BY_NAME["float8_e5m2"],
          "fp16": BY_NAME["float16"], "fp32": BY_NAME["float32"], "fp64": BY_NAME["float64"]}
