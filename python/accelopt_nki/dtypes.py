# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import struct
from typing import Any

from .catalogue import NkiError


class DType:
    """A type of elements, and of numbers: float32(x) is x as a float32 holds it."""

    def __init__(self, name: str, itemsize: int, floating: bool) -> None:
        self.name, self.itemsize, self.floating = name, itemsize, floating
        self.type = self

    def __call__(self, value: Any = 0) -> float | int:
        if not self.floating:
            return int(value) % (1 << (8 * self.itemsize)) if self.name.startswith("u") else int(value)
        try:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: Any) -> bool:
        return self.name == (other.name if isinstance(other, DType) else other)

    def __hash__(self) -> int:
        return hash(self.name)


float32 = DType("float32", 4, True)
OTHERS = {name: DType(name, size, floating) for name, size, floating in (
    ("float16", 2, True), ("bfloat16", 2, True), ("int32", 4, False), ("uint32", 4, False), ("int8", 1, False), ("uint8", 1, False),
    ("int16", 2, False), ("uint16", 2, False), ("bool_", 1, False))}


def check(dtype: Any) -> None:
    """Tiles are float32. @error NkiError."""
    if dtype is not None and dtype != float32 and getattr(dtype, "name", dtype) != "float32":
        raise NkiError("err_unsupported_dtype", f"a tile of {getattr(dtype, 'name', dtype)}")
