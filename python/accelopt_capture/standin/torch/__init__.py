# SPDX-License-Identifier: Apache-2.0
"""Stands in for torch while a solution is captured: shapes, memory, views; what else is asked for is refused by name."""

from __future__ import annotations

import contextlib as _contextlib
import functools as _functools
import importlib as _importlib
import math as _math
import types as _types
from typing import Any as _Any

from accelopt_capture import host as _host
from accelopt_capture.creation import *  # noqa: F401,F403
from accelopt_capture.creation import default_device as _default_device
from accelopt_capture.creation import default_dtype as _default_dtype
from accelopt_capture.dtypes import BY_NAME as _BY_NAME
from accelopt_capture.dtypes import DType as dtype
from accelopt_capture.errors import refuse as _refuse
from accelopt_capture.tensor import Device as device
from accelopt_capture.tensor import STRIDED as strided
from accelopt_capture.tensor import RefusedCall as _RefusedCall
from accelopt_capture.tensor import Size, Tensor  # noqa: F401
from accelopt_capture.tensor import empty as _empty

__version__ = "2.9.0"

for _name, _dtype in _BY_NAME.items():
    globals()[_name] = _dtype
float = _BY_NAME["float32"]
double = _BY_NAME["float64"]
half = _BY_NAME["float16"]
long = _BY_NAME["int64"]
int = _BY_NAME["int32"]
short = _BY_NAME["int16"]
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
contiguous_format = channels_last = preserve_format = strided
FloatTensor = HalfTensor = BFloat16Tensor = LongTensor = IntTensor = Tensor
version = _types.SimpleNamespace(cuda="13.0", hip=None, git_version="")

concat = concatenate = cat  # noqa: F405
equal = _host.same


def _method(name: str) -> _Any:
    def function(input: _Any, *arguments: _Any, **options: _Any) -> _Any:
        if not isinstance(input, Tensor):
            _refuse(f"torch.{name}", "of something that is no tensor")
        return getattr(input, name)(*arguments, **options)
    function.__name__ = name
    return function


for _name in ("sum max min amax amin prod any all argmax argmin count_nonzero mean cumsum sort argsort nonzero repeat_interleave clamp "
              "abs maximum minimum diff add sub mul div floor_divide remainder pow sqrt ceil floor exp log log2 logical_not neg "
              "repeat tile reshape view_as flatten permute transpose swapaxes squeeze unsqueeze split chunk unbind narrow select movedim t ravel "
              "broadcast_to clone detach numel is_floating_point as_strided lt le gt ge eq ne diagonal unflatten").split():
    globals()[_name] = _method(_name)
clip, subtract, multiply, divide, absolute = clamp, sub, mul, div, abs  # noqa: F821


# Settings without effect here.
class no_grad(_contextlib.ContextDecorator):
    def __new__(cls, function: _Any = None) -> _Any:
        return function if callable(function) else super().__new__(cls)

    def __init__(self, *_: _Any, **__: _Any) -> None:
        pass

    def __enter__(self) -> "no_grad":
        return self

    def __exit__(self, *_: _Any) -> None:
        return None


enable_grad = inference_mode = set_grad_enabled = no_grad


class autocast(no_grad):
    pass


def _nothing(*_: _Any, **__: _Any) -> None:
    return None


manual_seed = set_float32_matmul_precision = set_num_threads = use_deterministic_algorithms = _nothing


def is_grad_enabled() -> _Any:
    return False


is_inference_mode_enabled = is_autocast_enabled = is_grad_enabled


def get_default_dtype() -> dtype:
    return _default_dtype[0]


def set_default_dtype(kind: dtype) -> None:
    _default_dtype[0] = kind


def set_default_device(where: _Any) -> None:
    _default_device[0] = where


def get_default_device() -> device:
    return device(_default_device[0])


class _Limits:
    def __init__(self, kind: dtype, values: dict) -> None:
        self.dtype = kind
        self.bits = kind.itemsize * 8
        self.__dict__.update(values)


_FLOATS = {  # eps, smallest normal, largest
    "float64": (2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023), "float32": (2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    "float16": (2.0**-10, 2.0**-14, 65504.0), "bfloat16": (2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float8_e4m3fn": (2.0**-3, 2.0**-6, 448.0), "float8_e5m2": (2.0**-2, 2.0**-14, 57344.0)}


def finfo(kind: _Any = None) -> _Limits:
    eps, tiny, largest = _FLOATS[(kind or _default_dtype[0]).name]
    return _Limits(kind, {"eps": eps, "tiny": tiny, "smallest_normal": tiny, "max": largest, "min": -largest})


def iinfo(kind: dtype) -> _Limits:
    bits = kind.itemsize * 8
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.signed else (0, (1 << bits) - 1)
    return _Limits(kind, {"min": low, "max": high})


def promote_types(a: dtype, b: dtype) -> dtype:
    return _host.promoted(_empty((), a, False), _empty((), b, False))


def result_type(a: _Any, b: _Any) -> dtype:
    return _host.promoted(a, b)


class _RefusedType(type):
    """A class of torch that is none here: fine in annotations and isinstance, refused when it is made."""

    def __call__(cls, *_: _Any, **__: _Any) -> _Any:
        _refuse(f"torch.{cls.__name__}", "is no part of a plan")


@_functools.cache
def _refused(name: str) -> _Any:
    if name.rpartition(".")[2][:1].isupper():
        return _RefusedType(name, (), {})
    random = name in ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli", "multinomial")
    return _RefusedCall(f"torch.{name}", "random numbers would differ from call to call" if random else _host.ARITHMETIC)


def __getattr__(name: str) -> _Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    return _refused(name)


for _name in ("amp", "autograd", "backends", "cuda", "nn", "testing", "utils"):  # "from . import" would ask __getattr__ first
    _importlib.import_module(f"torch.{_name}")
