# SPDX-License-Identifier: Apache-2.0
"""Results on a pipe: a JSON object and then bytes, with their lengths in front. What is read is bounded and hostile."""

from __future__ import annotations

import json
import math
import os
import struct
from typing import Any

HEADER = struct.Struct("<4sII")  # magic, bytes of JSON, number of blobs; then a u32 length for each blob
MAGIC = b"ACp1"
MOST_JSON = 32 << 20
MOST_BLOBS = 4096


def packed(value: Any, blobs: list[bytes] = []) -> bytes:
    text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    lengths = b"".join(struct.pack("<I", len(blob)) for blob in blobs)
    return HEADER.pack(MAGIC, len(text), len(blobs)) + lengths + text + b"".join(blobs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:32]} is no number of JSON's")
    return value


def strict_json(text: bytes) -> Any:
    """@error ValueError: no JSON, NaN or infinities, or nested too deeply."""
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def unpacked(data: bytes, most_blob_bytes: int) -> tuple[Any, list[bytes]]:
    """@error ValueError: these bytes are no result."""
    if len(data) < HEADER.size:
        raise ValueError(f"{len(data)} bytes")
    magic, text_bytes, count = HEADER.unpack_from(data)
    if magic != MAGIC or text_bytes > MOST_JSON or count > MOST_BLOBS or len(data) < HEADER.size + 4 * count:
        raise ValueError("no header")
    lengths = struct.unpack_from(f"<{count}I", data, HEADER.size)
    start = HEADER.size + 4 * count
    if len(data) != start + text_bytes + sum(lengths) or sum(lengths) > most_blob_bytes:
        raise ValueError("its length is not what its header says")
    value = strict_json(data[start:start + text_bytes])
    blobs, place = [], start + text_bytes
    for length in lengths:
        blobs.append(data[place:place + length])
        place += length
    return value, blobs


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:1 << 20]):]
