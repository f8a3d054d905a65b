# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch: as much of it as python/accelopt_torch and the tests' references use, over lists of numbers.

Every function goes through the modes of torch.overrides, as PyTorch's do.
"""

import contextlib
import functools
import math
import struct

__version__ = "2.11.0+standin"


class dtype:
    def __init__(self, name, code, floating=False):
        self.name, self.code, self.is_floating_point = name, code, floating
        self.itemsize = struct.calcsize("<" + code)

    def __repr__(self):
        return "torch." + self.name

    def rounded(self, value):
        if self.name == "bool":
            return bool(value)
        if self.is_floating_point:
            return struct.unpack("<" + self.code, struct.pack("<" + self.code, value))[0]
        return int(value)


float64, float32, float16 = dtype("float64", "d", True), dtype("float32", "f", True), dtype("float16", "e", True)
# Its rounding is not wanted: within a reference nothing has this type.
bfloat16 = dtype("bfloat16", "e", True)
int64, int32, uint8, bool = dtype("int64", "q"), dtype("int32", "i"), dtype("uint8", "B"), dtype("bool", "?")


class device:
    def __init__(self, name):
        self.type = str(name).split(":")[0]


class cuda:
    @staticmethod
    def is_available():
        return False


state = {"dtype": float32}
modes = []


def get_default_dtype():
    return state["dtype"]


def set_default_dtype(wanted):
    state["dtype"] = wanted


def dispatched(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if not modes:
            return function(*args, **kwargs)
        mode = modes.pop()
        try:
            return mode.__torch_function__(call, (), args, kwargs)
        finally:
            modes.append(mode)
    return call


@contextlib.contextmanager
def no_grad():
    yield


class Numbers:
    """What `Tensor.numpy` gives."""

    def __init__(self, data):
        self.data = data

    def tobytes(self):
        return self.data


class Tensor:
    def __init__(self, values, shape, kind):
        self.values, self.shape, self.dtype = [kind.rounded(value) for value in values], tuple(shape), kind
        self.device = device("cpu")

    def packed(self):
        return struct.pack(f"<{len(self.values)}{self.dtype.code}", *self.values)

    @dispatched
    def to(self, *args, device=None, dtype=None):  # pylint: disable=redefined-outer-name
        for one in args:
            if isinstance(one, globals()["device"]) or isinstance(one, str):
                device = one
            else:
                dtype = one
        if device is not None and globals()["device"](getattr(device, "type", device)).type != "cpu":
            raise RuntimeError("this stand-in has no device but the processor")
        return Tensor(self.values, self.shape, dtype or self.dtype)

    @dispatched
    def float(self):
        return self.to(float32)

    @dispatched
    def double(self):
        return self.to(float64)

    @dispatched
    def half(self):
        return self.to(float16)

    @dispatched
    def bfloat16(self):
        return self.to(bfloat16)

    @dispatched
    def cuda(self):
        return self.to("cuda")

    def detach(self):
        return self

    def contiguous(self):
        return self

    def numpy(self):
        return Numbers(self.packed())

    def view(self, *shape):
        if isinstance(shape[0], dtype):
            data, kind = self.packed(), shape[0]
            values = struct.unpack(f"<{len(data) // kind.itemsize}{kind.code}", data)
            return Tensor(values, (len(values),), kind)
        shape = list(shape[0]) if isinstance(shape[0], (list, tuple)) else list(shape)
        if -1 in shape:
            shape[shape.index(-1)] = len(self.values) // abs(math.prod(shape)) if self.values else 0
        return Tensor(self.values, shape, self.dtype)

    def elementwise(self, other, function):
        if not isinstance(other, Tensor):
            other = Tensor([other] * len(self.values), self.shape, self.dtype if self.dtype.is_floating_point else get_default_dtype())
        if self.shape != other.shape:
            raise RuntimeError(f"this stand-in does not broadcast {self.shape} and {other.shape}")
        kind = self.dtype if self.dtype.is_floating_point else other.dtype
        return Tensor(map(function, self.values, other.values), self.shape, kind)

    @dispatched
    def __add__(self, other):
        return self.elementwise(other, lambda a, b: a + b)

    @dispatched
    def __mul__(self, other):
        return self.elementwise(other, lambda a, b: a * b)

    __radd__, __rmul__ = __add__, __mul__


@dispatched
def exp(tensor):
    return Tensor(map(math.exp, tensor.values), tensor.shape, tensor.dtype)


@dispatched
def empty(shape, dtype=None, device=None):  # pylint: disable=redefined-outer-name
    return zeros(shape, dtype=dtype, device=device)


@dispatched
def zeros(shape, dtype=None, device=None):  # pylint: disable=redefined-outer-name
    return Tensor([0] * math.prod(shape), shape, dtype or get_default_dtype()).to(device=device)


def frombuffer(buffer, dtype):  # pylint: disable=redefined-outer-name
    values = struct.unpack(f"<{len(buffer) // dtype.itemsize}{dtype.code}", bytes(buffer))
    return Tensor(values, (len(values),), dtype)
