# SPDX-License-Identifier: Apache-2.0
from typing import Any

from . import compiler, isa, language, typing


def jit(function: Any = None, **_: Any) -> Any:
    """A kernel stays the function that it is: it is called once, on tensors without numbers."""
    return function if function is not None else jit


trace = jit

__all__ = ["compiler", "isa", "jit", "language", "trace", "typing"]
