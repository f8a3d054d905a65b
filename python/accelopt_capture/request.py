# SPDX-License-Identifier: Apache-2.0
"""Reads a request of the protocol, strictly. What it gives has every field, with its default where the request has none."""

from __future__ import annotations

import base64
import binascii
import math
import os
import re
from typing import Any

from .dtypes import BY_NAME
from .errors import Failure
from .session import H100

ARCHITECTURES = (80, 86, 89, 90)
MOST_FILES, MOST_SOURCE_BYTES, MOST_WORKLOADS, MOST_TENSORS, MOST_AXES = 64, 1 << 20, 256, 64, 16
GIB = 1 << 30
# Default and maximum.
LIMITS: dict[str, tuple[int, int]] = {
    "wall_s": (120, 600), "host_s": (10, 300), "compile_s": (10, 300), "memory_bytes": (2 * GIB, 16 * GIB),
    "total_memory_bytes": (6 * GIB, 64 * GIB), "processes": (32, 256), "jobs": (min(os.cpu_count() or 1, 8), 64),
    "kernels": (256, 1024), "configurations": (64, 256), "ops": (4096, 65536), "upload_bytes": (1 << 20, 64 << 20),
    "cubin_bytes": (64 << 20, 256 << 20), "printed_bytes": (1 << 20, 16 << 20), "file_bytes": (256 << 20, 4 * GIB)}
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\.py", re.ASCII)
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
ENTRY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
FIELDS = {"id", "op", "arch", "files", "entry", "convention", "arguments", "configurations", "workloads", "device", "limits", "folder", "sbuf_bytes"}


def need(condition: bool, message: str) -> None:
    if not condition:
        raise Failure("request", message)


def is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def checked(request: dict[str, Any], op: str) -> dict[str, Any]:
    """@error Failure: request, with what is wrong."""
    unknown = sorted(set(request) - FIELDS)
    need(not unknown, f"unknown fields: {', '.join(unknown)}")
    files = checked_files(request.get("files"))
    entry = request.get("entry")
    need(isinstance(entry, str), "entry: file.py::function")
    file, separator, name = entry.partition("::")
    need(bool(separator) and file in {f["name"] for f in files}, f"entry: no file {file!r} is in files")
    need(ENTRY_NAME.fullmatch(name) is not None, f"entry: {name!r} is no name of a function")
    arch = request.get("arch", 90)
    need(arch in ARCHITECTURES and not isinstance(arch, bool), f"arch: one of {', '.join(map(str, ARCHITECTURES))}")
    convention, arguments = request.get("convention", "destination"), request.get("arguments", "order")
    need(convention in ("destination", "value", "auto"), "convention: destination, value or auto")
    need(arguments in ("order", "names", "auto"), "arguments: order, names or auto")
    limits = checked_limits(request.get("limits", {}), op)
    workloads = checked_workloads(request.get("workloads"), op)
    sbuf_bytes = request.get("sbuf_bytes")
    need(sbuf_bytes is None or is_whole(sbuf_bytes, 1, GIB), "sbuf_bytes: of a partition of the chip")
    return {"op": op, "files": files, "entry": entry, "arch": arch, "convention": convention, "arguments": arguments,
            "configurations": checked_configurations(request.get("configurations", "all")), "limits": limits,
            "workloads": workloads, "device": checked_device(request.get("device", {}), arch), "folder": checked_folder(request, op),
            "sbuf_bytes": sbuf_bytes}


def checked_files(files: Any) -> list[dict[str, str]]:
    need(isinstance(files, list) and 0 < len(files) <= MOST_FILES, f"files: 1 to {MOST_FILES}")
    result, total = [], 0
    for file in files:
        need(isinstance(file, dict) and set(file) == {"name", "content"}, "files: each with name and content")
        name, content = file["name"], file["content"]
        need(isinstance(name, str) and len(name) <= 200 and FILE_NAME.fullmatch(name) is not None, f"files: the name {name!r}")
        need(isinstance(content, str), f"files: the content of {name}")
        try:
            total += len(content.encode())
        except UnicodeEncodeError:
            raise Failure("request", f"files: the content of {name} is no UTF-8") from None
        need(name not in {f["name"] for f in result}, f"files: {name} is there twice")
        result.append({"name": name, "content": content})
    need(total <= MOST_SOURCE_BYTES, f"files: at most {MOST_SOURCE_BYTES} bytes together")
    return result


def checked_limits(limits: Any, op: str) -> dict[str, Any]:
    need(isinstance(limits, dict), "limits: an object")
    unknown = sorted(set(limits) - set(LIMITS))
    need(not unknown, f"limits: unknown {', '.join(unknown)}")
    result: dict[str, Any] = {}
    for name, (default, most) in LIMITS.items():
        value = limits.get(name, default)
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= most
        need(number and (name.endswith("_s") or isinstance(value, int)), f"limits: {name} is a number from 1 to {most}")
        result[name] = value
    if op == "interpret" and "host_s" not in limits:
        result["host_s"] = 120
    return result


def checked_workloads(workloads: Any, op: str) -> list[dict[str, Any]]:
    need(isinstance(workloads, list) and 0 < len(workloads) <= MOST_WORKLOADS, f"workloads: 1 to {MOST_WORKLOADS}")
    seen: set[str] = set()
    for workload in workloads:
        need(isinstance(workload, dict) and set(workload) <= {"name", "inputs", "outputs"}, "workloads: name, inputs, outputs")
        name = workload.get("name")
        need(isinstance(name, str) and PLAIN_NAME.fullmatch(name) is not None and name not in seen, f"workloads: the name {name!r}")
        seen.add(name)
        names: set[str] = set()
        for kind in ("inputs", "outputs"):
            specs = workload.setdefault(kind, [])
            need(isinstance(specs, list) and len(specs) <= MOST_TENSORS, f"{name}: at most {MOST_TENSORS} {kind}")
            for spec in specs:
                check_spec(spec, name, names, kind == "inputs")
    return workloads


def check_spec(spec: Any, workload: str, names: set[str], is_input: bool) -> None:
    need(isinstance(spec, dict), f"{workload}: an input or output is an object")
    name = spec.get("name")
    need(isinstance(name, str) and PLAIN_NAME.fullmatch(name) is not None and name not in names, f"{workload}: the name {name!r}")
    names.add(name)
    where = f"{workload}: {name}"
    need(spec.get("dtype") in BY_NAME, f"{where}: the dtype {spec.get('dtype')!r}")
    if is_input and "value" in spec:
        need(set(spec) == {"name", "dtype", "value"}, f"{where}: a scalar has name, dtype and value")
        value = spec["value"]
        plain = value is None or value in ("inf", "-inf", "nan") or isinstance(value, (int, float))
        need(plain and not (isinstance(value, float) and not math.isfinite(value)), f"{where}: the value")
        return
    need(set(spec) <= ({"name", "dtype", "shape", "visible", "inout"} if is_input else {"name", "dtype", "shape"}), f"{where}: its fields")
    shape = spec.get("shape")
    need(isinstance(shape, list) and len(shape) <= MOST_AXES and all(is_whole(x, 0, 1 << 40) for x in shape), f"{where}: the shape")
    size = math.prod(shape) * BY_NAME[spec["dtype"]].itemsize
    need(size <= 1 << 40, f"{where}: over 1 TiB")
    need(isinstance(spec.get("inout", False), bool), f"{where}: inout is true or false")
    if "visible" in spec:
        try:
            data = base64.b64decode(spec["visible"], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise Failure("request", f"{where}: visible is no base64") from None
        need(len(data) == size, f"{where}: visible has {len(data)} bytes, the tensor {size}")


def checked_configurations(value: Any) -> Any:
    if isinstance(value, dict):
        need(all(is_whole(place, 0, 1 << 16) for place in value.values()), "configurations: an index for each choice")
        return value
    need(value in ("all", "first"), "configurations: all, first, or an object")
    return value


def checked_device(device: Any, arch: int) -> dict[str, Any]:
    need(isinstance(device, dict) and len(device) <= 64, "device: an object")
    for name, value in device.items():
        need(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name) is not None and isinstance(value, (int, str)), f"device: {name}")
    device = {**H100, **device, "major": arch // 10, "minor": arch % 10}
    for name in ("shared_memory_per_block_optin", "regs_per_multiprocessor", "multi_processor_count"):
        need(is_whole(device[name], 1, 1 << 30), f"device: {name}")
    return device


def checked_folder(request: dict[str, Any], op: str) -> str | None:
    folder = request.get("folder")
    if op != "interpret":
        need(folder is None, "folder: for interpret only")
        return None
    need(isinstance(folder, str) and os.path.isabs(folder) and os.path.isdir(folder), "folder: an absolute path of a folder")
    return folder
