# SPDX-License-Identifier: Apache-2.0
"""In place of a plan, when a solution is interpreted: real memory, and built-in kernels that compute at once."""

from __future__ import annotations

import os
from typing import Callable

import numpy as np

from .errors import refuse
from .numerics import converted, decoded, encoded, stored
from .storage import ALIGNMENT, Storage, Window

NAN = 0xFF  # of every floating dtype


def poisoned(size: int) -> np.ndarray:
    """Bytes that nobody wrote: NaN, which shows, or random, which nothing can rely on."""
    if os.urandom(1)[0] % 2:
        return np.full(size, NAN, np.uint8)
    return np.frombuffer(bytearray(os.urandom(size)), np.uint8)


class Memory:
    def __init__(self, workload: str, folder: str, results: str) -> None:
        self.workload, self.folder, self.results = workload, folder, results
        self.declared: dict[str, Storage] = {}

    def place(self, storage: Storage) -> None:
        if storage.on_host:
            return
        if storage.kind in ("input", "inout"):
            mode = "r" if storage.kind == "input" else "c"  # a store to an input is a fault, as on a device
            path = os.path.join(self.folder, f"{self.workload}.{storage.name}.bin")
            data = np.memmap(path, np.uint8, mode, shape=(storage.nbytes,)) if storage.nbytes else np.zeros(0, np.uint8)
        else:
            raw = poisoned(storage.nbytes + ALIGNMENT)
            start = -raw.ctypes.data % ALIGNMENT
            data = raw[start:start + storage.nbytes]
        storage.keep[:] = [data]
        storage.address = data.ctypes.data

    def declare(self, storage: Storage) -> None:
        self.declared[storage.name] = storage

    def rename(self, storage: Storage, name: str, dtype: str) -> None:
        self.declared[name] = storage

    def before_choice(self, emit: Callable[[], None]) -> None:
        emit()

    def array(self, window: Window) -> np.ndarray:
        kind = stored(window.dtype)
        if not window.storage.keep:
            refuse("kernel launch", "a tensor of an earlier call, or one that is on the CPU")
        data = window.storage.keep[0][window.offset:].view(np.uint8)
        data = data[:len(data) // kind.itemsize * kind.itemsize].view(kind)
        return np.lib.stride_tricks.as_strided(data, window.shape, [stride * kind.itemsize for stride in window.strides],
                                               writeable=data.flags.writeable)

    def fill(self, to: Window, bits: int) -> None:
        self.array(to)[...] = np.frombuffer(bits.to_bytes(to.dtype.itemsize, "little"), stored(to.dtype))[0]

    def copy(self, source: Window, to: Window) -> None:
        self.array(to)[...] = converted(self.array(source), source.dtype, to.dtype)

    def gather(self, source: Window, index: Window, to: Window) -> None:
        self.array(to)[...] = self.array(source)[self.array(index)]

    def reduce(self, kind: str, source: Window, to: Window, dims: list[int]) -> None:
        values = decoded(self.array(source), source.dtype)
        axes = tuple(dims)
        if kind == "abs_amax":
            result = np.max(np.abs(values), axis=axes, keepdims=True) if axes else np.abs(values)
        else:
            wide = (np.float64 if source.dtype.name == "float64" else np.float32) if source.dtype.floating else np.int64
            result = np.sum(values, axis=axes, keepdims=True, dtype=wide) if axes else values
        self.array(to)[...] = encoded(result, to.dtype)

    def upload(self, to: Window, data: bytes) -> None:
        self.array(to)[...] = np.frombuffer(data, stored(to.dtype)).reshape(to.shape)

    def finish(self) -> None:
        """Writes what the solution wrote, where the server finds it."""
        for name, storage in self.declared.items():
            if storage.kind in ("inout", "output"):
                ending = ".out.bin" if storage.kind == "inout" else ".bin"
                with open(os.path.join(self.results, f"{self.workload}.{name}{ending}"), "wb") as file:
                    file.write(storage.keep[0].tobytes())


