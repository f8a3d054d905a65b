# SPDX-License-Identifier: Apache-2.0
"""Runs Python that names dtypes as if it had been written over one floating type, on the processor."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .tensors import FLOATS, dtype_of

REPLACED = frozenset(dtype_of(name) for name in FLOATS if hasattr(torch, name))


class Promoted(TorchFunctionMode):
    """Within it every floating dtype that is named is `real`, and every device the processor."""

    def __init__(self, real: torch.dtype) -> None:
        super().__init__()
        self.real = real
        self.conversions = {getattr(torch.Tensor, name): real for name in ("double", "float", "half", "bfloat16")}

    def replaced(self, value: Any) -> Any:
        if isinstance(value, torch.dtype) and value in REPLACED:
            return self.real
        if isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] == "cuda"):
            return torch.device("cpu")
        return value

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args = tuple(map(self.replaced, args))
        kwargs = {name: self.replaced(value) for name, value in (kwargs or {}).items()}
        if function in self.conversions:
            return args[0].to(self.real)
        if function is torch.Tensor.cuda:
            return args[0]
        return function(*args, **kwargs)


class default_dtype:
    """The type of new tensors, for a while."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __enter__(self) -> None:
        self.before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)

    def __exit__(self, *_: Any) -> None:
        torch.set_default_dtype(self.before)
