# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.Function."""

from typing import Any


class FunctionCtx:
    saved_tensors: tuple = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def _nothing(self, *_: Any) -> None:
        return None

    mark_non_differentiable = mark_dirty = set_materialize_grads = save_for_forward = _nothing
    needs_input_grad = (False,) * 64


class Function(FunctionCtx):
    @classmethod
    def apply(cls, *arguments: Any, **options: Any) -> Any:
        if "setup_context" in cls.__dict__:
            output = cls.forward(*arguments, **options)
            cls.setup_context(FunctionCtx(), arguments, output)
            return output
        return cls.forward(FunctionCtx(), *arguments, **options)


def once_differentiable(function: Any) -> Any:
    return function
