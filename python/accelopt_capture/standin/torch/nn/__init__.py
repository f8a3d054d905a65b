# SPDX-License-Identifier: Apache-2.0
"""torch.nn: modules as containers of tensors. Layers and initializers are refused."""

import importlib
from typing import Any, Iterator

from accelopt_capture.host import ARITHMETIC
from accelopt_capture.tensor import Tensor



def Parameter(data: Tensor, requires_grad: bool = True) -> Tensor:
    return data


class Module:
    training = False

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.forward(*arguments, **options)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        setattr(self, name, tensor)

    register_parameter = register_buffer

    def children(self) -> Iterator["Module"]:
        return (value for value in self.__dict__.values() if isinstance(value, Module))

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        yield from (value for value in self.__dict__.values() if isinstance(value, Tensor))
        for child in self.children():
            yield from child.parameters()

    def _moved(self, *arguments: Any, **options: Any) -> "Module":
        for name, value in list(self.__dict__.items()):
            if isinstance(value, Tensor):
                setattr(self, name, value.to(*arguments, **options))
            elif isinstance(value, Module):
                value._moved(*arguments, **options)
        return self

    to = _moved

    def cuda(self, *_: Any) -> "Module":
        return self._moved("cuda")

    def half(self) -> "Module":
        import torch
        return self._moved(torch.float16)

    def eval(self) -> "Module":
        return self

    def train(self, mode: bool = True) -> "Module":
        return self

    def extra_repr(self) -> str:
        return ""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")
    import torch
    return torch._RefusedType(f"nn.{name}", (), {}) if name[:1].isupper() else torch._RefusedCall(f"torch.nn.{name}", ARITHMETIC)


for _name in ("functional", "init"):  # "from . import" would ask __getattr__ first
    importlib.import_module(f"torch.nn.{_name}")
