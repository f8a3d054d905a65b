# SPDX-License-Identifier: Apache-2.0
"""torch.utils: nothing of it is part of a plan."""

from typing import Any

from accelopt_capture.tensor import RefusedCall


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
    return RefusedCall(f"torch.utils.{name}", "is no part of a plan")
