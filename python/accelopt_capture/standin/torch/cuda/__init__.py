# SPDX-License-Identifier: Apache-2.0
"""torch.cuda: one device, the one that the request describes."""

from __future__ import annotations

import importlib
import types
from typing import Any

from accelopt_capture import state
from accelopt_capture.errors import refuse
from accelopt_capture.tensor import Device, RefusedCall



def is_available() -> bool:
    return True


is_initialized = is_bf16_supported = is_available


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def _nothing(*_: Any, **__: Any) -> None:
    return None


synchronize = set_device = empty_cache = init = manual_seed = manual_seed_all = reset_peak_memory_stats = _nothing


def get_device_properties(_: Any = None) -> Any:
    return types.SimpleNamespace(**state.session().device)


def get_device_capability(_: Any = None) -> tuple[int, int]:
    return state.session().device["major"], state.session().device["minor"]


def get_device_name(_: Any = None) -> str:
    return state.session().device["name"]


class device:
    """The context manager, and the class that torch.cuda.device names."""

    def __init__(self, which: Any) -> None:
        self.idx = Device(which).index if which is not None else 0

    def __enter__(self) -> "device":
        return self

    def __exit__(self, *_: Any) -> None:
        return None


_DeviceGuard = device


class device_of(device):
    def __init__(self, _: Any) -> None:
        self.idx = 0


class _Refused(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        refuse(f"torch.cuda.{cls.__name__}", "streams, events and graphs are the harness's")


Stream = _Refused("Stream", (), {})
Event = _Refused("Event", (), {})
CUDAGraph = _Refused("CUDAGraph", (), {})


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")
    return RefusedCall(f"torch.cuda.{name}", "streams, events, graphs and measurements are the harness's")


importlib.import_module("torch.cuda.amp")
