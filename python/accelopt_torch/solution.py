# SPDX-License-Identifier: Apache-2.0
"""A solution's own function on the device, as its users call it: what it computes, and how long the host waits for it."""

from __future__ import annotations

import importlib.util
import inspect
import pathlib
import sys
import time
from typing import Any

import torch

from .tensors import BadRequest, dtype_of, from_file, in_order, scalar_of, to_file


def innermost(kernel: Any) -> Any:
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel


def autotuned(module: Any) -> list[Any]:
    """The module's kernels that choose among configurations, in the order in which they stand."""
    found: list[Any] = []
    for value in vars(module).values():
        while value is not None:
            if isinstance(getattr(value, "configs", None), list) and not any(value is one for one in found):
                found.append(value)
            value = getattr(value, "fn", None)
    return found


def values_of(config: Any, names: Any) -> dict[str, Any]:
    known = config.all_kwargs()  # of values that stand in the dict, too, the configuration's own hold
    return {name: known[name] if name in known else getattr(config, name, None) for name in names}


class Solution:
    """The function of a file. The file runs once, when it is loaded."""

    def __init__(self, folder: pathlib.Path, files: list[dict[str, str]], function: str) -> None:
        for file in files:
            path = folder / file["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file["content"], encoding="utf-8")
        sys.path.insert(0, str(folder))
        main = folder / files[0]["name"]
        spec = importlib.util.spec_from_file_location("accelopt_solution", main)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found: Any = module
        for part in function.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            raise BadRequest(f"{main.name} has no function {function}")
        self.function = found

    def fix(self, configurations: dict[str, dict[str, Any]]) -> None:
        """Leaves autotuned kernels one configuration, the one that was measured. By the kernels' names; of several of one
        name the second is called NAME#2."""
        seen: dict[str, int] = {}
        for kernel in autotuned(sys.modules[self.function.__module__]):
            name = innermost(kernel).__name__
            seen[name] = seen.get(name, 0) + 1
            values = configurations.get(name if seen[name] == 1 else f"{name}#{seen[name]}")
            kept = [config for config in kernel.configs if values is not None and values_of(config, values) == values]
            kernel.configs = kept[:1] or kernel.configs

    def writes(self, inputs: int, outputs: int) -> bool:
        """Whether it is given its outputs; one that does not tell returns them."""
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            return False
        named = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        least = sum(one.default is one.empty for one in named)
        return least <= inputs + outputs <= len(named) and not least <= inputs <= len(named)

    @torch.no_grad()
    def call(self, folder: pathlib.Path, request: dict[str, Any]) -> list[float]:
        """Microseconds of each call, the wait for its end included, after one that is not counted. What the first call
        computes is written to the outputs' files."""
        arguments = [scalar_of(spec) if "value" in spec else from_file(folder, spec, dtype_of(spec["dtype"])).cuda()
                     for spec in request["inputs"]]
        places = [torch.empty(spec["shape"], dtype=dtype_of(spec["dtype"]), device="cuda") for spec in request["outputs"]]
        if self.writes(len(arguments), len(places)):
            arguments += places
        returned = self.function(*arguments)
        torch.cuda.synchronize()
        values = places if returned is None else in_order(returned, request["outputs"])
        for spec, value in zip(request["outputs"], values):
            to_file(folder, spec, value, dtype_of(spec["dtype"]))
        microseconds = []
        for _ in range(request["calls"]):
            begin = time.perf_counter()
            self.function(*arguments)
            torch.cuda.synchronize()
            microseconds.append(1e6 * (time.perf_counter() - begin))
        return microseconds
