# SPDX-License-Identifier: Apache-2.0
"""A task's reference in Python, in double and in single precision."""

from __future__ import annotations

import pathlib
from typing import Any

import torch

from .precision import Promoted, default_dtype
from .tensors import FLOATS, BadRequest, dtype_of, from_file, in_order, scalar_of, to_file


class Reference:
    """The function `run` of one text. The text runs once, when it is loaded."""

    def __init__(self, text: str, name: str) -> None:
        space: dict[str, Any] = {"__name__": "reference", "__file__": name}
        exec(compile(text, name, "exec"), space)  # trusted, as every reference is
        self.run = space.get("run")
        if not callable(self.run):
            raise BadRequest(f"{name} has no function run")

    @torch.no_grad()
    def outputs(self, folder: pathlib.Path, request: dict[str, Any]) -> None:
        """Floating tensors lie as float64 in files, whatever the task's type; the arithmetic is that of `precision`."""
        real = dtype_of(request["precision"])
        arguments = []
        for spec in request["inputs"]:
            if "value" in spec:
                arguments.append(scalar_of(spec))
            elif spec["dtype"] in FLOATS:
                arguments.append(from_file(folder, spec, torch.float64).to(real))
            else:
                arguments.append(from_file(folder, spec, dtype_of(spec["dtype"])))
        with default_dtype(real), Promoted(real):
            returned = self.run(*arguments)
        for spec, value in zip(request["outputs"], in_order(returned, request["outputs"])):
            to_file(folder, spec, value, torch.float64 if spec["dtype"] in FLOATS else dtype_of(spec["dtype"]))
