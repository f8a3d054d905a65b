# SPDX-License-Identifier: Apache-2.0
"""Records the launch plan of one workload, in the form of the protocol (docs/triton.md)."""

from __future__ import annotations

import base64
import itertools
import struct
from typing import Any, Callable, Iterable

from .dtypes import BY_NAME, to_bits
from .errors import Failure, refuse
from .storage import ALIGNMENT, Storage, Window
from .tensor import Address, Tensor

MOST_BUFFERS = 1024
# Pretended addresses. They never overlap, and are never those of a device.
FIRST_ADDRESS = 1 << 44
_addresses = itertools.count(FIRST_ADDRESS, 1 << 41)
# Triton's names of scalar types, as the parameters of a cubin.
SCALARS = {"i1": "int8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "uint8", "u8": "uint8",
           "u16": "uint16", "u32": "uint32", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
           "f32": "float32", "fp64": "float64"}


class Plan:
    def __init__(self, workload: str, limits: dict[str, int]) -> None:
        self.workload = workload
        self.limits = limits
        self.buffers: list[dict[str, Any]] = []
        self.ops: list[dict[str, Any]] = []
        self.into = self.ops  # an alternative's ops while it is recorded
        self.count = 0
        self.uploaded_bytes = 0
        self.line: int | None = None  # of a launch that is carried out again
        self.first_address = next(_addresses)
        self.renamed: dict[str, str] = {}  # scratch buffers that became outputs
        self._names: dict[int, Storage] = {}

    # What tensors need of it.
    def place(self, storage: Storage) -> None:
        storage.address = next(_addresses)

    def declare(self, storage: Storage) -> None:
        """An input or output, under its own name."""
        self._names[id(storage)] = storage
        self.buffers.append({"name": storage.name, "kind": storage.kind, "dtype": storage.dtype.name, "bytes": storage.nbytes})

    def name(self, storage: Storage) -> str:
        if id(storage) not in self._names:
            if storage.kind != "scratch":
                refuse("kernel launch", f"uses the tensor {storage.name} of an earlier call")
            if FIRST_ADDRESS <= storage.address < self.first_address:
                refuse("kernel launch", "uses a tensor that an earlier call made")
            if len(self.buffers) >= MOST_BUFFERS:
                refuse("torch.empty", f"more than {MOST_BUFFERS} buffers", "limit")
            storage.name = f"%{len(self.buffers) + 1}"
            self.declare(storage)
        return storage.name

    def rename(self, storage: Storage, name: str, dtype: str) -> None:
        """A scratch buffer becomes an output."""
        old = self.name(storage)
        buffer = next(buffer for buffer in self.buffers if buffer["name"] == old)
        buffer.update(name=name, kind="output", dtype=dtype)
        self.renamed[old] = name

    def scratch(self, count: int) -> str:
        """Memory that Triton itself asks for."""
        return self.name(Storage(BY_NAME["uint8"], count))

    def view(self, window: Window) -> dict[str, Any]:
        return {"buffer": self.name(window.storage), "offset": window.offset, "dtype": window.dtype.name,
                "shape": list(window.shape), "strides": list(window.strides)}

    def before_choice(self, emit: Callable[[], None]) -> None:
        """Contents that a buffer begins with stand before the alternatives that use it."""
        inside, self.into = self.into, self.ops
        emit()
        self.into = inside

    def add(self, op: dict[str, Any]) -> None:
        self.count += 1
        if self.count > self.limits["ops"]:
            refuse(op["op"], f"more than {self.limits['ops']} ops in one plan", "limit")
        self.into.append(op)

    # Built-in kernels.
    def fill(self, to: Window, bits: int) -> None:
        self.add({"op": "fill", "to": self.view(to), "bits": bits})

    def copy(self, source: Window, to: Window) -> None:
        self.add({"op": "copy", "from": self.view(source), "to": self.view(to)})

    def gather(self, source: Window, index: Window, to: Window) -> None:
        self.add({"op": "gather", "from": self.view(source), "index": self.view(index), "to": self.view(to)})

    def reduce(self, kind: str, source: Window, to: Window, dims: list[int]) -> None:
        self.add({"op": kind, "from": self.view(source), "to": self.view(to), "dims": dims})

    def upload(self, to: Window, data: bytes) -> None:
        self.uploaded_bytes += len(data)
        if self.uploaded_bytes > self.limits["upload_bytes"]:
            refuse("torch.tensor", f"constants that the host derives take over {self.limits['upload_bytes']} bytes", "limit")
        self.add({"op": "upload", "to": self.view(to), "data": base64.b64encode(data).decode()})

    # Launches.
    def launch(self, job: int, grid: list[int], line: int | None, arguments: list[dict[str, Any]], described: dict[str, Any]) -> None:
        """`arguments` are the cubin's parameters; `described` is what another process launches it again by."""
        op = {"op": "launch", "job": job, "grid": grid, "arguments": arguments, "described": described}
        line = line or self.line
        self.add(op if line is None else {**op, "line": line})

    def argument(self, type_name: Any, value: Any) -> Iterable[dict[str, Any]]:
        """What the cubin takes for this argument; nothing where it was specialized away."""
        if isinstance(type_name, tuple):
            for inner_type, inner in zip(type_name, value):
                yield from self.argument(inner_type, inner)
        elif type_name == "constexpr":
            return
        elif type_name.startswith("*"):
            yield self.pointer(value)
        elif type_name.startswith("tensordesc"):
            yield {"descriptor": {**self.pointer(value.base), "shape": [int(x) for x in value.shape],
                                  "strides": [int(x) for x in value.strides], "nan": value.padding == "nan",
                                  "itemsize": value.base.dtype.itemsize}}
        elif type_name in SCALARS:
            if isinstance(value, Address):
                refuse("kernel launch", "an address as a number holds for one call only; pass the tensor itself")
            yield {"constant": SCALARS[type_name], "bits": scalar_bits(SCALARS[type_name], value)}
        else:
            refuse("kernel launch", f"an argument of Triton's type {type_name}")

    def pointer(self, value: Any) -> dict[str, Any]:
        while not isinstance(value, Tensor) and hasattr(value, "base"):  # triton.reinterpret
            value = value.base
        if not isinstance(value, Tensor):
            refuse("kernel launch", f"a {type(value).__name__} in place of a tensor")
        if value.numel() == 0:
            return {"constant": "uint64", "bits": 0}
        return {"tensor": self.name(value.storage_), "offset": value.offset_ * value.dtype.itemsize}

    def json(self, reads: dict[str, int]) -> dict[str, Any]:
        ops = renamed(self.ops, self.renamed) if self.renamed else self.ops
        return {"workload": self.workload, "buffers": self.buffers, "ops": ops, "reads": reads,
                "uploaded_bytes": self.uploaded_bytes}


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The same ops, with other names of buffers."""
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {key: names.get(item, item) if key in ("buffer", "tensor") and isinstance(item, str) else renamed(item, names)
                for key, item in value.items()}
    return value


def scalar_bits(dtype: str, value: Any) -> int:
    if dtype == "bfloat16":  # Triton's launcher cuts, it does not round
        return struct.unpack("<I", struct.pack("<f", float(value)))[0] >> 16
    return to_bits(value, BY_NAME[dtype])


def tensor_map(pointer: dict[str, Any], descriptor: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """How Triton's launcher encodes a descriptor: axes reversed, the box from the compiler's metadata."""
    shape = list(descriptor["shape"])
    if meta["fp4_padded"]:
        shape[-1] *= 2
    host_type = {8: 10, 9: 8, 10: 9}.get(meta["elem_type"], meta["elem_type"])  # the compiler's numbers differ from the driver's
    if "tensor" not in pointer:
        raise Failure("refused", "a tensor descriptor of an empty tensor", call="TensorDescriptor")
    return {"tensor_map": {
        "buffer": pointer["tensor"], "offset": pointer["offset"], "element_type": host_type, "dims": shape[::-1],
        "strides": [stride * meta["elem_size"] for stride in reversed(descriptor["strides"][:-1])],
        "box": list(meta["block_size"])[::-1], "swizzle_bytes": {0: 0, 1: 32, 2: 64, 3: 128}[meta["swizzle"]],
        "nan_fill": descriptor["nan"]}}


def expanded(argument: dict[str, Any], metas: list) -> list[dict[str, Any]]:
    """A descriptor as the parameters that its cubin has for it."""
    if "descriptor" not in argument:
        return [argument]
    descriptor = argument["descriptor"]
    pointer = {key: descriptor[key] for key in ("tensor", "offset", "constant", "bits") if key in descriptor}
    long = [{"constant": "int64", "bits": to_bits(x, BY_NAME["int64"])} for x in (*descriptor["shape"], *descriptor["strides"])]
    short = [{"constant": "int32", "bits": to_bits(x, BY_NAME["int32"])} for x in descriptor["shape"]]
    tail = short + long[len(short):]
    meta = metas.pop(0) if metas else None
    if meta is None:  # no hardware for it: pointer, shape and strides, twice, as Triton passes them
        return [pointer, *long, {"constant": "int8", "bits": int(descriptor["nan"])}, *tail]
    return [tensor_map(pointer, descriptor, meta), *tail]


def finish(plan: Plan, op: dict[str, Any], cubin: int, metadata: dict[str, Any]) -> dict[str, Any]:
    """A recorded launch as the protocol has it, once its kernel is compiled."""
    ctas = metadata["num_ctas"]
    grid = [op["grid"][0] * ctas, op["grid"][1], op["grid"][2]]
    metas = list(metadata.get("tensordesc_meta") or [])
    arguments = [parameter for argument in op["arguments"] for parameter in expanded(argument, metas)]
    for kind in ("global", "profile"):
        wanted = metadata[f"{kind}_scratch_size"] * grid[0] * grid[1] * grid[2]
        arguments.append({"tensor": plan.scratch(wanted), "offset": 0} if wanted else {"constant": "uint64", "bits": 0})
    return {"op": "launch", "cubin": cubin, "grid": grid, "block": [32 * metadata["num_warps"], 1, 1],
            "cluster": [ctas, 1, 1] if ctas > 1 else [0, 0, 0], "shared_bytes": metadata["shared"],
            "cooperative": bool(metadata["launch_cooperative_grid"]), "pdl": bool(metadata["launch_pdl"]),
            **({"line": op["line"]} if "line" in op else {}), "arguments": arguments}


__all__ = ["ALIGNMENT", "Plan", "finish"]
