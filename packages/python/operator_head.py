"""@DESCRIPTION@ As an operator of PyTorch: torch.ops.@LIBRARY@.@NAME@, or @NAME@() of this module."""

import ctypes
import functools
import inspect
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
_library = torch.library.Library("@LIBRARY@", "FRAGMENT")
_library.define("@NAME@@SCHEMA@")


def _check(tensors, axes):
    """The values of the axes, by name. Raises where a tensor's shape or dtype is not what the kernels are for."""
    axes = dict(axes)
    for name, (tensor, dtype, shape) in tensors.items():
        if tensor.dtype != dtype:
            raise TypeError(f"@NAME@: {name} is {tensor.dtype}, and {dtype} is needed")
        if tensor.dim() != len(shape):
            raise ValueError(f"@NAME@: {name} has {tensor.dim()} dimensions, and {len(shape)} are needed: {', '.join(map(str, shape))}")
        for place, axis in enumerate(shape):
            size = tensor.shape[place]
            wanted = axis if isinstance(axis, int) else axes.setdefault(axis, size)
            if size != wanted:
                raise ValueError(f"@NAME@: dimension {place} of {name} is {size}, and {wanted} ({axis}) is needed")
    return axes

