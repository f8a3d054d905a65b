# SPDX-License-Identifier: Apache-2.0
"""Tensors between files and PyTorch."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import torch

FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


class BadRequest(Exception):
    """What was asked makes no sense, or what came out is not what the task says. One line."""


def dtype_of(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise BadRequest(f"this PyTorch has no dtype {name}")
    return dtype


def scalar_of(spec: dict[str, Any]) -> Any:
    value = spec["value"]
    return float(value) if isinstance(value, str) else value


def from_file(folder: pathlib.Path, spec: dict[str, Any], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of its own memory. @error BadRequest: the file has another size."""
    data = bytearray((folder / spec["file"]).read_bytes())
    if len(data) != dtype.itemsize * math.prod(spec["shape"]):
        raise BadRequest(f"{spec['file']} has {len(data)} bytes, which is not {spec['shape']} of {dtype}")
    if not data:
        return torch.empty(spec["shape"], dtype=dtype)
    return torch.frombuffer(data, dtype=torch.uint8).view(dtype).view(spec["shape"])


def to_file(folder: pathlib.Path, spec: dict[str, Any], value: torch.Tensor, dtype: torch.dtype) -> None:
    flat = value.detach().to(device="cpu", dtype=dtype).contiguous().view(-1)
    (folder / spec["file"]).write_bytes(flat.view(torch.uint8).numpy().tobytes())


def in_order(returned: Any, outputs: list[dict[str, Any]]) -> list[torch.Tensor]:
    """What a function returned, as the task's outputs. @error BadRequest: it is something else."""
    if isinstance(returned, dict):
        missing = [spec["name"] for spec in outputs if spec["name"] not in returned]
        if missing:
            raise BadRequest(f"it returned no {missing[0]}, but {', '.join(map(str, returned)) or 'nothing'}")
        values = [returned[spec["name"]] for spec in outputs]
    else:
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(values) != len(outputs):
        raise BadRequest(f"it returned {len(values)} values; the task has {len(outputs)} outputs")
    for spec, value in zip(outputs, values):
        if not isinstance(value, torch.Tensor):
            raise BadRequest(f"output {spec['name']} is a {type(value).__name__}, not a tensor")
        if list(value.shape) != spec["shape"]:
            raise BadRequest(f"output {spec['name']} has shape {list(value.shape)}; the task says {spec['shape']}")
    return values
