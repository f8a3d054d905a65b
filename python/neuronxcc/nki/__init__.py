# SPDX-License-Identifier: Apache-2.0
from typing import Any

from accelopt_nki.catalogue import NkiError
from accelopt_nki import trace as _trace

from . import compiler, isa, language, typing


class Kernel:
    """A kernel: called once, on tensors without numbers."""

    def __init__(self, function: Any) -> None:
        self.function = function
        function.__globals__.setdefault("range", _trace.Range)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        with _trace.kernel(getattr(self.function, "__code__", None)):
            return self.function(*arguments, **named)

    def __getitem__(self, grid: Any) -> Any:
        raise NkiError("err_nested_kernel_with_spmd_grid", f"{self.function.__name__} is called with the grid {grid}")


def jit(function: Any = None, **_: Any) -> Any:
    return Kernel(function) if function is not None else jit


trace = jit

__all__ = ["compiler", "isa", "jit", "language", "trace", "typing"]
