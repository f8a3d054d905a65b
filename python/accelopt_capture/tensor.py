# SPDX-License-Identifier: Apache-2.0
"""The stand-in for torch.Tensor: shapes, strides and storage are real, data is known only where the host knows it."""

from __future__ import annotations

import sys
from typing import Any, Sequence

from . import dtypes, host, shapes, state
from .dtypes import DType
from .errors import Refused, refuse
from .storage import MOST_KNOWN, Storage, Uniform, Window, allocate, constant, made_up_here, write_known


class Size(tuple):
    def numel(self) -> int:
        return shapes.numel(self)


class Device:
    def __init__(self, kind: Any, index: int | None = None) -> None:
        if isinstance(kind, Device):
            kind, index = kind.type, kind.index
        if isinstance(kind, int):
            kind, index = "cuda", kind
        kind, _, number = str(kind).partition(":")
        if kind not in ("cuda", "cpu", "meta"):
            refuse("torch.device", f"there is no device '{kind}'")
        self.type = kind
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.type == self.type and (other.index or 0) == (self.index or 0)

    def __hash__(self) -> int:
        return hash(self.type)

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: Any) -> None:
        return None


CUDA, CPU = Device("cuda", 0), Device("cpu")


class Address(int):
    """An address for looking at its alignment. As a number it would be stale in the next call."""

    def __mod__(self, other: int) -> int:
        return int.__index__(self) % other if 0 < other <= 256 and 256 % other == 0 else refuse("Tensor.data_ptr", RAW)

    def __and__(self, other: int) -> int:
        return int.__index__(self) & other if 0 <= other < 256 else refuse("Tensor.data_ptr", RAW)

    def _raw(self, *_: Any) -> Any:
        refuse("Tensor.data_ptr", RAW)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __truediv__ = __or__ = __xor__ = _raw
    __lshift__ = __rshift__ = __int__ = __str__ = __format__ = _raw


RAW = "addresses as numbers hold for one call only; pass the tensor itself"


class Layout:
    def __repr__(self) -> str:
        return "torch.strided"


STRIDED = Layout()


class UntypedStorage:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def size(self) -> int:
        return self._storage.nbytes

    nbytes = __len__ = size

    def data_ptr(self) -> int:
        return Address(self._storage.address)


class Tensor:
    requires_grad = False
    is_cuda_kind = True
    grad = None
    grad_fn = None
    is_sparse = is_quantized = is_meta = is_nested = False
    is_leaf = True
    layout = STRIDED
    names = ()

    def __init__(self, storage: Any = (), offset: int = 0, dtype: Any = None, shape: Sequence[int] = (), strides: Sequence[int] = ()) -> None:
        if not isinstance(storage, Storage):  # torch.Tensor([1, 2])
            made = host.tensor_of(storage, dtypes.BY_NAME["float32"], True)
            storage, offset, dtype, shape, strides = made.storage_, 0, made.dtype, made.shape, made.strides_
        self.storage_ = storage
        self.offset_ = offset  # elements of dtype
        self.dtype = dtype
        self.shape = Size(shape)
        self.strides_ = tuple(strides)

    # What it is.
    @property
    def window(self) -> Window:
        return Window(self.storage_, self.offset_ * self.dtype.itemsize, self.dtype, tuple(self.shape), self.strides_)

    @property
    def device(self) -> Device:
        return CPU if self.storage_.on_host else CUDA

    is_cuda = property(lambda self: not self.storage_.on_host)
    is_cpu = property(lambda self: self.storage_.on_host)
    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: shapes.numel(self.shape) * self.dtype.itemsize)
    data = property(lambda self: self)

    def dim(self) -> int:
        return len(self.shape)

    ndimension = dim

    def numel(self) -> int:
        return shapes.numel(self.shape)

    nelement = numel

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[shapes.normalized(dim, self.ndim)]

    def stride(self, dim: int | None = None) -> Any:
        return self.strides_ if dim is None else self.strides_[shapes.normalized(dim, self.ndim)]

    def storage_offset(self) -> int:
        return self.offset_

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return shapes.is_contiguous(self.shape, self.strides_)

    def is_floating_point(self) -> bool:
        return self.dtype.floating

    def is_complex(self) -> bool:
        return False

    def get_device(self) -> int:
        return -1 if self.storage_.on_host else 0

    def untyped_storage(self) -> UntypedStorage:
        return UntypedStorage(self.storage_)

    def data_ptr(self) -> int:
        if self.numel() == 0:
            return Address(0)
        caller = sys._getframe(1).f_code.co_name
        if self.storage_.on_host and caller in ("dynamic_func", "_implicit_cvt"):
            raise ValueError("Pointer argument cannot be accessed from Triton (cpu tensor?)")
        return (int if caller == "_implicit_cvt" else Address)(self.storage_.address + self.offset_ * self.dtype.itemsize)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"tensor(shape={list(self.shape)}, dtype={self.dtype}, device='{self.device}')"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape else repr(self)

    def __iter__(self) -> Any:
        return iter(self.unbind(0))

    # Views.
    def _viewed(self, shape: Sequence[int], strides: Sequence[int], skipped: int = 0) -> "Tensor":
        return Tensor(self.storage_, self.offset_ + skipped, self.dtype, shape, strides)

    def view(self, *wanted: Any) -> "Tensor":
        if len(wanted) == 1 and isinstance(wanted[0], DType):
            return self._reinterpreted(wanted[0])
        shape = shapes.resolved(shapes.sizes(wanted), self.numel())
        strides = shapes.viewed_strides(self.shape, self.strides_, shape)
        if strides is None:
            raise RuntimeError("view size is not compatible with input tensor's size and stride")
        return self._viewed(shape, strides)

    def _reinterpreted(self, dtype: DType) -> "Tensor":
        old, new = self.dtype.itemsize, dtype.itemsize
        if old == new:
            return Tensor(self.storage_, self.offset_, dtype, self.shape, self.strides_)
        if not self.is_contiguous() or not self.shape or self.shape[-1] * old % new or self.offset_ * old % new:
            raise RuntimeError(f"view of {self.dtype} as {dtype} needs contiguous rows of whole elements")
        shape = (*self.shape[:-1], self.shape[-1] * old // new)
        return Tensor(self.storage_, self.offset_ * old // new, dtype, shape, shapes.contiguous_strides(shape))

    def view_as(self, other: "Tensor") -> "Tensor":
        return self.view(other.shape)

    def reshape(self, *wanted: Any) -> "Tensor":
        shape = shapes.resolved(shapes.sizes(wanted), self.numel())
        strides = shapes.viewed_strides(self.shape, self.strides_, shape)
        return self._viewed(shape, strides) if strides is not None else self.contiguous().view(shape)

    def reshape_as(self, other: "Tensor") -> "Tensor":
        return self.reshape(other.shape)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> "Tensor":
        first, last = shapes.normalized(start_dim, self.ndim), shapes.normalized(end_dim, self.ndim)
        if not self.shape:
            return self.reshape(1)
        return self.reshape(*self.shape[:first], shapes.numel(self.shape[first:last + 1]), *self.shape[last + 1:])

    def ravel(self) -> "Tensor":
        return self.reshape(-1)

    def unflatten(self, dim: int, wanted: Sequence[int]) -> "Tensor":
        dim = shapes.normalized(dim, self.ndim)
        return self.view(*self.shape[:dim], *shapes.resolved(wanted, self.shape[dim]), *self.shape[dim + 1:])

    def permute(self, *order: Any, dims: Any = ()) -> "Tensor":
        order = [shapes.normalized(dim, self.ndim) for dim in shapes.sizes(order or (dims,))]
        if sorted(order) != list(range(self.ndim)):
            raise RuntimeError("permute: the dims are no permutation")
        return self._viewed([self.shape[dim] for dim in order], [self.strides_[dim] for dim in order])

    def transpose(self, dim0: int, dim1: int) -> "Tensor":
        order = list(range(self.ndim))
        first, second = shapes.normalized(dim0, self.ndim), shapes.normalized(dim1, self.ndim)
        order[first], order[second] = second, first
        return self.permute(order)

    swapaxes = swapdims = transpose

    def movedim(self, source: int, target: int) -> "Tensor":
        order = list(range(self.ndim))
        axis = order.pop(shapes.normalized(source, self.ndim))
        order.insert(shapes.normalized(target, self.ndim), axis)
        return self.permute(order)

    def t(self) -> "Tensor":
        return self.transpose(0, 1) if self.ndim == 2 else self

    T = property(lambda self: self.permute(*reversed(range(self.ndim))))
    mT = property(lambda self: self.transpose(-1, -2))

    def squeeze(self, *dims: Any, dim: Any = ()) -> "Tensor":
        dims = dims or (dim if isinstance(dim, tuple) else (dim,))
        chosen = {shapes.normalized(dim, self.ndim) for dim in shapes.sizes(dims)} if dims else set(range(self.ndim))
        kept = [i for i, extent in enumerate(self.shape) if not (extent == 1 and i in chosen)]
        return self._viewed([self.shape[i] for i in kept], [self.strides_[i] for i in kept])

    def unsqueeze(self, dim: int) -> "Tensor":
        dim = shapes.normalized(dim, self.ndim + 1)
        stride = self.strides_[dim] * self.shape[dim] if dim < self.ndim else 1
        return self._viewed((*self.shape[:dim], 1, *self.shape[dim:]), (*self.strides_[:dim], stride, *self.strides_[dim:]))

    def expand(self, *wanted: Any) -> "Tensor":
        shape = shapes.sizes(wanted)
        lead = len(shape) - self.ndim
        shape = [self.shape[i - lead] if extent == -1 else extent for i, extent in enumerate(shape)]
        return self._viewed(shape, shapes.expanded_strides(self.shape, self.strides_, shape))

    def expand_as(self, other: "Tensor") -> "Tensor":
        return self.expand(other.shape)

    broadcast_to = expand

    def narrow(self, dim: int, start: Any, length: int) -> "Tensor":
        dim, start = shapes.normalized(dim, self.ndim), start.__index__()
        start += self.shape[dim] if start < 0 else 0
        if start < 0 or length < 0 or start + length > self.shape[dim]:
            raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({self.shape[dim]})")
        shape = (*self.shape[:dim], length, *self.shape[dim + 1:])
        return self._viewed(shape, self.strides_, start * self.strides_[dim])

    def select(self, dim: int, index: Any) -> "Tensor":
        dim, index = shapes.normalized(dim, self.ndim), index.__index__()
        extent = self.shape[dim]
        if not -extent <= index < extent:
            raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}")
        skipped = index % extent * self.strides_[dim]
        return self._viewed(self.shape[:dim] + self.shape[dim + 1:], self.strides_[:dim] + self.strides_[dim + 1:], skipped)

    def split(self, split_size: Any, dim: int = 0) -> tuple["Tensor", ...]:
        size, extent = split_size, self.shape[shapes.normalized(dim, self.ndim)]
        if isinstance(size, int):
            size = [min(size, extent - start) for start in range(0, extent, size)] if extent else [0]
        starts = [sum(size[:i]) for i in range(len(size))]
        if sum(size) != extent:
            raise RuntimeError(f"split sizes {list(size)} do not sum up to {extent}")
        return tuple(self.narrow(dim, start, length) for start, length in zip(starts, size))

    def chunk(self, chunks: int, dim: int = 0) -> tuple["Tensor", ...]:
        extent = self.shape[shapes.normalized(dim, self.ndim)]
        return self.split(max(-(-extent // chunks), 1), dim)

    def unbind(self, dim: int = 0) -> tuple["Tensor", ...]:
        return tuple(self.select(dim, i) for i in range(self.shape[shapes.normalized(dim, self.ndim)]))

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> "Tensor":
        if offset or self.ndim != 2 or (dim1, dim2) != (0, 1):
            refuse("Tensor.diagonal", "only the main diagonal of a matrix is a view here")
        return self._viewed([min(self.shape)], [sum(self.strides_)])

    def as_strided(self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> "Tensor":
        offset = self.offset_ if storage_offset is None else storage_offset
        if min((*stride, offset), default=0) < 0 or \
                (offset + shapes.extent_in_storage(size, stride)) * self.dtype.itemsize > self.storage_.nbytes:
            raise RuntimeError("as_strided: the view is out of bounds of its storage")
        return Tensor(self.storage_, offset, self.dtype, size, stride)

    def detach(self) -> "Tensor":
        return self._viewed(self.shape, self.strides_)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        self.requires_grad = requires_grad
        return self

    def __getitem__(self, index: Any) -> "Tensor":
        return host.index(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        target = host.index(self, index, written=True)
        if isinstance(value, Tensor) and value.shape:
            target.copy_(value)
        else:
            target.fill_(value)

    # Values that the host knows.
    def values_(self, call: str) -> list:
        """The elements, row by row; refuses where only the device knows them."""
        storage, count = self.storage_, self.numel()
        if not storage.is_known():
            refuse(call, host.UNKNOWN if storage.kind in ("input", "inout", "output") else host.WRITTEN)
        if count > MOST_KNOWN:
            refuse(call, f"{count} elements are too many for the host")
        state.session().read(storage, count)
        contents = storage.known()
        if isinstance(contents, Uniform):
            return [contents.value] * count
        if self.dtype is not storage.dtype:
            data = dtypes.bytes_of(contents or [], storage.dtype)
            contents = dtypes.values_of(data, self.dtype)
        return [contents[place] for place in shapes.places(self.shape, self.strides_, self.offset_)]

    def item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.values_("Tensor.item")[0]

    def tolist(self) -> Any:
        return host.nested(self.values_("Tensor.tolist"), self.shape)

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        value = self.item()
        if isinstance(value, float):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(value)

    # Copies and writes.
    def _copied(self, dtype: DType, on_host: bool, shape_strides: Sequence[int] | None = None) -> "Tensor":
        """The same values in memory of their own."""
        strides = shape_strides or shapes.contiguous_strides(self.shape)
        count = self.numel()
        if self.storage_.on_host or on_host:
            values = [dtypes.rounded(value, dtype) for value in self.values_("Tensor.to")]
            return Tensor(constant(dtype, values, count, on_host), 0, dtype, self.shape, shapes.contiguous_strides(self.shape))
        target = Tensor(allocate(dtype, count, "scratch"), 0, dtype, self.shape, strides)
        if count == 0:
            return target
        if self.storage_.is_known() and count <= MOST_KNOWN:
            target.storage_.lazy = lambda: [dtypes.rounded(value, dtype) for value in self.values_("Tensor.to")]
            if strides != shapes.contiguous_strides(self.shape):
                target.storage_.lazy = None
        if self.storage_.kind == "input":  # never changes: the copy may wait until somebody needs it
            target.storage_.emit = lambda: state.session().sink.copy(self.window, target.window)
        else:
            self.storage_.ready()
            state.session().sink.copy(self.window, target.window)
        return target

    def to(self, *arguments: Any, dtype: DType | None = None, device: Any = None, copy: bool = False, **_: Any) -> "Tensor":
        for argument in arguments:
            if isinstance(argument, Tensor):
                dtype, device = argument.dtype, argument.device
            elif isinstance(argument, DType):
                dtype = argument
            elif isinstance(argument, (str, Device, int)) and not isinstance(argument, bool):
                device = argument
        dtype = dtype or self.dtype
        on_host = self.storage_.on_host if device is None else Device(device).type == "cpu"
        if dtype is self.dtype and on_host == self.storage_.on_host and not copy:
            return self
        return self._copied(dtype, on_host)

    def type(self, dtype: DType | None = None, **_: Any) -> Any:
        return self.to(dtype) if dtype is not None else f"torch.cuda.{self.dtype.torch}"

    def type_as(self, other: "Tensor") -> "Tensor":
        return self.to(other.dtype)

    def cpu(self) -> "Tensor":
        return self if self.storage_.on_host else self._copied(self.dtype, True)

    def cuda(self, device: Any = None, **_: Any) -> "Tensor":
        return self._copied(self.dtype, False) if self.storage_.on_host else self

    def pin_memory(self) -> "Tensor":
        return self

    def contiguous(self, memory_format: Any = None) -> "Tensor":
        return self if self.is_contiguous() else self._copied(self.dtype, self.storage_.on_host)

    def clone(self, memory_format: Any = None) -> "Tensor":
        return self._copied(self.dtype, self.storage_.on_host, host.dense_strides(self))

    def copy_(self, source: Any, non_blocking: bool = False) -> "Tensor":
        if not isinstance(source, Tensor):
            return self.fill_(source)
        wide = source.expand(self.shape)
        if self.storage_.pending() and self.storage_.is_known() and source.storage_.is_known():
            values = wide.values_("Tensor.copy_")
            write_known(self.storage_, list(shapes.places(self.shape, self.strides_, self.offset_)), values)
            return self
        if source.storage_.on_host:
            wide = source.cuda().expand(self.shape)
        self.written_("Tensor.copy_")
        wide.storage_.ready()
        if self.numel():
            state.session().sink.copy(wide.window, self.window)
        return self

    def fill_(self, value: Any) -> "Tensor":
        if isinstance(value, Tensor):
            if not value.storage_.is_known():
                return self.copy_(value)
            value = value.item()
        value = dtypes.rounded(value, self.dtype)
        everything = self.numel() == self.storage_.count and self.dtype is self.storage_.dtype
        if self.storage_.pending() and self.storage_.is_known():
            if everything:
                self.storage_.values, self.storage_.lazy = Uniform(value), None
                made_up_here(self.storage_)
            else:
                places = list(shapes.places(self.shape, self.strides_, self.offset_))
                write_known(self.storage_, places, [value] * len(places))
            return self
        self.written_("Tensor.fill_")
        if self.numel():
            state.session().sink.fill(self.window, dtypes.to_bits(value, self.dtype))
            if everything and not state.session().choosing:
                self.storage_.values = Uniform(value)
        return self

    def zero_(self) -> "Tensor":
        return self.fill_(0)

    def written_(self, call: str) -> None:
        """The device is about to write here."""
        if self.storage_.on_host:
            refuse(call, "a tensor on the CPU whose contents are not known")
        if self.storage_.kind == "input":
            refuse(call, f"writes to the input {self.storage_.name}, which is read-only")
        if 0 in self.strides_ and any(s == 0 and e > 1 for e, s in zip(self.shape, self.strides_)):
            raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location")
        self.storage_.ready()
        self.storage_.forget()

    # New tensors like this one.
    def new_empty(self, *size: Any, dtype: DType | None = None, device: Any = None, **_: Any) -> "Tensor":
        on_host = self.storage_.on_host if device is None else Device(device).type == "cpu"
        return empty(shapes.sizes(size), dtype or self.dtype, on_host)

    def new_full(self, size: Sequence[int], fill_value: Any, dtype: DType | None = None, device: Any = None, **_: Any) -> "Tensor":
        on_host = self.storage_.on_host if device is None else Device(device).type == "cpu"
        return full(shapes.sizes((size,)), fill_value, dtype or self.dtype, on_host)

    def new_zeros(self, *size: Any, **options: Any) -> "Tensor":
        return self.new_full(shapes.sizes(size), 0, **options)

    def new_ones(self, *size: Any, **options: Any) -> "Tensor":
        return self.new_full(shapes.sizes(size), 1, **options)

    def new_tensor(self, data: Any, dtype: DType | None = None, device: Any = None, **_: Any) -> "Tensor":
        on_host = self.storage_.on_host if device is None else Device(device).type == "cpu"
        return host.tensor_of(data, dtype or self.dtype, on_host)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in NO_ATTRIBUTE:
            raise AttributeError(name)
        return RefusedCall(f"Tensor.{name}", host.ARITHMETIC)


# What Triton and solutions ask for to find out what kind of tensor they have.
NO_ATTRIBUTE = {"ptr_range", "tma_desc_cpu_ptr", "base", "block_shape", "numpy_dtype", "tensor", "cache_key", "fn"}


class RefusedCall:
    """A method that is refused when it is used, not when it is looked at."""

    def __init__(self, name: str, reason: str) -> None:
        self._name, self._reason = name, reason

    def __call__(self, *_: Any, **__: Any) -> Any:
        refuse(self._name, self._reason)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RefusedCall(f"{self._name}.{name}", self._reason)

    def __bool__(self) -> bool:
        refuse(self._name, self._reason)
        return False

    __iter__ = __len__ = __int__ = __float__ = __index__ = __add__ = __sub__ = __mul__ = __getitem__ = __call__


def empty(shape: Sequence[int], dtype: DType, on_host: bool, strides: Sequence[int] | None = None) -> Tensor:
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    strides = shapes.contiguous_strides(shape) if strides is None else strides
    count = shapes.extent_in_storage(shape, strides)
    storage = constant(dtype, Uniform(0), count, True) if on_host else allocate(dtype, count, "scratch")
    return Tensor(storage, 0, dtype, shape, strides)


def full(shape: Sequence[int], value: Any, dtype: DType, on_host: bool) -> Tensor:
    value = dtypes.rounded(value.item() if isinstance(value, Tensor) else value, dtype)
    storage = constant(dtype, Uniform(value), shapes.numel(shape), on_host)
    return Tensor(storage, 0, dtype, shape, shapes.contiguous_strides(shape))


host.install(Tensor)
__all__ = ["Tensor", "Refused"]
