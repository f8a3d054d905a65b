# SPDX-License-Identifier: Apache-2.0
"""Memory behind stand-in tensors: where it is in the plan, and what is known of its contents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from . import dtypes, state
from .dtypes import DType
from .errors import refuse

ALIGNMENT = 256  # bytes; what every buffer on the device begins at
MOST_KNOWN = 1 << 22  # elements whose values are kept in this process
MOST_BYTES = 1 << 40  # of one tensor


@dataclass(frozen=True)
class Uniform:
    """Every element has this value."""

    value: float | int | bool


@dataclass(eq=False)
class Storage:
    dtype: DType
    count: int  # elements of dtype
    kind: str = "scratch"  # input, inout, output, scratch, host
    name: str = ""  # in the plan; given to scratch when it is first used
    address: int = 0
    values: list | Uniform | None = None
    lazy: Callable[[], list] | None = None  # gives the values when somebody asks
    emit: Callable[[], None] | None = None  # puts the contents into a plan; none: the device has them, or nobody
    emitted: object = None  # the plan that has the contents
    counted: bool = False  # reads of it are told
    keep: list = field(default_factory=list)  # what must live as long: memory, when interpreting

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize

    @property
    def on_host(self) -> bool:
        return self.kind == "host"

    def known(self) -> list | Uniform | None:
        if self.values is None and self.lazy is not None:
            self.values, self.lazy = self.lazy(), None
        return self.values

    def is_known(self) -> bool:
        return self.values is not None or self.lazy is not None

    def forget(self) -> None:
        """A kernel may have written here. Inputs are read-only, so that what is known of them stays true."""
        if self.kind != "input":
            self.values = self.lazy = self.emit = None

    def pending(self) -> bool:
        """Whether its contents are the host's alone, so far."""
        return self.on_host or (self.emit is not None and self.emitted is not state.session().sink)

    def ready(self) -> None:
        """Its contents are in the plan from here on."""
        if self.emit is not None and self.pending():
            self.emitted = state.session().sink
            self.emitted.before_choice(self.emit)


@dataclass(frozen=True, eq=False)
class Window:
    """A view of a storage: what an op of the plan reads or writes."""

    storage: Storage
    offset: int  # bytes
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # elements


def whole(storage: Storage) -> Window:
    return Window(storage, 0, storage.dtype, (storage.count,), (1,))


def allocate(dtype: DType, count: int, kind: str) -> Storage:
    if count * dtype.itemsize > MOST_BYTES:
        raise MemoryError(f"a tensor of {count * dtype.itemsize} bytes")
    storage = Storage(dtype, count, kind)
    state.session().place(storage)
    return storage


def constant(dtype: DType, values: list | Uniform, count: int, on_host: bool) -> Storage:
    """Contents that the host made up. They enter the plan only if the device needs them."""
    storage = allocate(dtype, count, "host" if on_host else "scratch")
    storage.values = values
    if not on_host:
        storage.emit = lambda: emit_constant(storage)
    return storage


def emit_constant(storage: Storage) -> None:
    sink = state.session().sink
    if isinstance(storage.values, Uniform):
        sink.fill(whole(storage), dtypes.to_bits(storage.values.value, storage.dtype))
    elif storage.values is not None:
        sink.upload(whole(storage), dtypes.bytes_of(storage.values, storage.dtype))


def made_up_here(storage: Storage) -> None:
    """From now on its contents are the host's own, whatever they were copied from."""
    if storage.emit is not None:
        storage.emit = lambda: emit_constant(storage)


def write_known(storage: Storage, places: list[int], values: list) -> None:
    """Changes known contents that are not in the plan yet, or never will be."""
    storage.known()
    made_up_here(storage)
    if isinstance(storage.values, Uniform):
        if storage.count > MOST_KNOWN:
            refuse("assignment", f"to single elements of a tensor of {storage.count} elements")
        storage.values = [storage.values.value] * storage.count
    contents = storage.values
    assert isinstance(contents, list)
    for place, value in zip(places, values):
        contents[place] = dtypes.rounded(value, storage.dtype)
