# SPDX-License-Identifier: Apache-2.0
"""Calls a kernel on the tensors of a workload, and holds what it returns against what the task says."""

from __future__ import annotations

import gc
import inspect
import math
from typing import Any, Callable

from . import language, trace
from .annotations import mutable_tensor
from .catalogue import NkiError
from .tensors import Tensor, dense

SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class ContractError(Exception):
    """What a kernel takes or returns is not what the task says."""


def mutable_parameters(kernel: Callable) -> list[int]:
    """Numbers of those that are annotated as mutable_tensor."""
    function = getattr(kernel, "function", kernel)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [number for number, one in enumerate(parameters)
            if one.annotation is mutable_tensor or str(one.annotation).endswith("mutable_tensor")]


def use_chip(sbuf_bytes: int) -> None:
    """Before a kernel's file is loaded: the SBUF of a partition of the chip that it is for."""
    language.tile_size.total_available_sbuf_size = sbuf_bytes


def traced(kernel: Callable, workload: dict[str, Any]) -> dict[str, Any]:
    """The instructions of one call. @error ContractError, and whatever the kernel raises."""
    current = trace.begin()
    gc.disable()  # what a kernel leaves is kept to the end, and has few cycles
    arguments: list[Any] = []
    mutable = mutable_parameters(kernel)
    for spec in workload["inputs"]:
        if "value" in spec:
            value = spec["value"]
            arguments.append(SPECIAL.get(value, value))
            continue
        if spec["dtype"] != "float32":
            raise ContractError(f"the input {spec['name']} is {spec['dtype']}: this version has float32")
        buffer = current.buffer("input", spec["name"], spec["shape"])
        buffer.mutable = len(arguments) in mutable
        arguments.append(Tensor(buffer, 0, dense(tuple(spec["shape"]))))
    returned = kernel(*arguments)
    returned = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    for number in mutable:
        if not any(one is arguments[number] for one in returned):
            raise NkiError("err_mutable_parameter_not_returned", "a parameter is a mutable_tensor", getattr(getattr(kernel, "function", kernel), "__code__", None))
        raise ContractError("the kernel updates a parameter: the task's inputs stay as they are")
    if len(returned) != len(workload["outputs"]):
        raise ContractError(f"the kernel returns {len(returned)} tensors, and the task has {len(workload['outputs'])} outputs")
    outputs = []
    for spec, tensor in zip(workload["outputs"], returned):
        if not isinstance(tensor, Tensor) or tensor.storage.kind != "output":
            raise ContractError(f"for the output {spec['name']} the kernel returns no tensor of nl.shared_hbm")
        if math.prod(tensor.shape) != math.prod(spec["shape"]) or tensor.axes != dense(tensor.shape):
            raise ContractError(f"the output {spec['name']} has the shape {tuple(spec['shape'])}, and the kernel returns {tensor.shape}")
        if tensor.storage.number in outputs:
            raise ContractError("the kernel returns one tensor twice")
        tensor.storage.shape = tuple(spec["shape"])  # HBM is row-major: the same elements in another shape are the same tensor
        outputs.append(tensor.storage.number)
    return {"name": workload["name"], "outputs": outputs, **current.json()}
