# SPDX-License-Identifier: Apache-2.0
"""torch.autograd: apply() runs forward(); gradients are not computed."""

from typing import Any

from accelopt_capture.errors import refuse

from . import function
from .function import Function  # noqa: F401


def backward(*_: Any, **__: Any) -> None:
    refuse("torch.autograd.backward", "gradients are not captured: call the kernel of the backward pass")


grad = backward
__all__ = ["Function", "function"]
