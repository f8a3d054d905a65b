# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional: all of it computes, so all of it is refused."""

from typing import Any

from accelopt_capture.host import ARITHMETIC
from accelopt_capture.tensor import RefusedCall


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'")
    return RefusedCall(f"torch.nn.functional.{name}", ARITHMETIC)
