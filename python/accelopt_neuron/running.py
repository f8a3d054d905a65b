# SPDX-License-Identifier: Apache-2.0
"""One call of one kernel: compiled, run and traced by `nki.baremetal`."""

from __future__ import annotations

import math
import pathlib
import sys
import types
from typing import Any

import numpy as np
from neuronxcc import nki

from . import NEFF, NTFF, failures
from .inspection import Refused, inspect


class ContractError(Exception):
    """What a kernel returns is not what the task says."""


def argument(folder: pathlib.Path, spec: dict[str, Any]) -> Any:
    if "value" in spec:
        return float(spec["value"])
    return np.fromfile(str(folder / spec["file"]), dtype=np.float32).reshape(tuple(spec["shape"]))


def leave(folder: pathlib.Path, returned: Any, outputs: list[dict[str, Any]]) -> None:
    values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(values) != len(outputs):
        raise ContractError(f"the kernel returns {len(values)} tensors, and the task has {len(outputs)} outputs")
    for spec, value in zip(outputs, values):
        shape = tuple(getattr(value, "shape", ()))
        if math.prod(shape) != math.prod(spec["shape"]):
            raise ContractError(f"the output {spec['name']} has the shape {tuple(spec['shape'])}, and the kernel returns {shape}")
        np.ascontiguousarray(value, dtype=np.float32).tofile(str(folder / spec["file"]))


def function_of(source: str, file: str, name: str) -> Any:
    module = types.ModuleType("accelopt_kernel")
    module.__file__ = file
    sys.modules[module.__name__] = module  # where the vendor's package looks for a kernel's source
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)  # inspected before
    found = getattr(module, name, None)
    if not callable(found):
        raise ContractError(f"the file has no function {name}")
    return found


def run(folder: pathlib.Path, request: dict[str, Any]) -> dict[str, Any]:
    """{"ok": {}}, or {"error": {kind, message, line}}; kinds: refused, compile, run, contract, lost, busy."""
    file = str(folder / request["file"])
    source = pathlib.Path(file).read_text(encoding="utf-8")
    try:
        inspect(source, file)
    except Refused as problem:
        return {"error": {"kind": "refused", "message": str(problem), "line": problem.line}}
    except (SyntaxError, ImportError) as problem:
        return {"error": failures.failure("compile", problem, file)}
    try:
        kernel = function_of(source, file, request["function"])
        arguments = [argument(folder, spec) for spec in request["inputs"]]
        runner = nki.baremetal(kernel, save_neff_name=NEFF, save_trace_name=NTFF, additional_compile_opt=request["compile_options"])
        returned = runner(*arguments)
    except ContractError as problem:
        return {"error": failures.failure("contract", problem, file)}
    except BaseException as problem:  # pylint: disable=broad-except
        return {"error": failures.classified(problem, (folder / NEFF).exists(), file)}
    try:
        leave(folder, returned, request["outputs"])
    except ContractError as problem:
        return {"error": failures.failure("contract", problem, file)}
    return {"ok": {}}
