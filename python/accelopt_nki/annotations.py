# SPDX-License-Identifier: Apache-2.0
"""neuronxcc.nki.typing: tensor[128, 512] in an annotation is checked; a parameter of mutable_tensor may be stored to."""

from __future__ import annotations

from typing import Any


class Shaped:
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class _Annotation:
    def __class_getitem__(cls, shape: Any) -> Shaped:
        return Shaped(shape if isinstance(shape, tuple) else (shape,))


class tensor(_Annotation):
    """A tensor, with its shape in brackets."""


class mutable_tensor(_Annotation):
    """Of a parameter."""


__all__ = ["mutable_tensor", "tensor"]
