# SPDX-License-Identifier: Apache-2.0
"""Kernels and their arguments as data. It leaves the solution's process in place of machine code: what is compiled or
interpreted is read from the solution's files again, in a process where nothing else of the solution runs."""

from __future__ import annotations

import ast
import importlib
import types
from typing import Any

from .errors import refuse
from .plan import Plan
from .tensor import Tensor

# The compiler's options that a launch may set; the others are refused or Triton's own.
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "enable_fp_fusion", "launch_cooperative_grid",
           "launch_pdl", "default_dot_input_precision", "max_num_imprecise_acc_default", "debug", "sanitize_overflow")
MOST_DEPTH = 16
MOST_FUNCTIONS = 1024


class Functions:
    """The @triton.jit functions that a workload's launches need, each once."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self.kept: list[Any] = []  # their ids must not be taken again
        self.forms: list[dict[str, Any]] = []

    def index(self, function: Any) -> int:
        if id(function) in self.known:
            return self.known[id(function)]
        if len(self.forms) >= MOST_FUNCTIONS:
            refuse("kernel launch", f"more than {MOST_FUNCTIONS} functions", "limit")
        index = self.known[id(function)] = len(self.forms)
        self.kept.append(function)
        self.forms.append({})
        self.forms[index].update(self.form(function))
        return index

    def form(self, function: Any) -> dict[str, Any]:
        from triton.runtime.jit import ConstexprFunction
        python = function.fn
        code = python.__code__
        used = {node.id for node in ast.walk(function.parse()) if isinstance(node, ast.Name)}
        defaults = {name: self.value(parameter.default) for name, parameter in function.signature.parameters.items()
                    if parameter.default is not parameter.empty}
        scope = function.get_capture_scope()
        names = {name: self.value(scope[name]) for name in sorted(used) if name in scope}
        return {"file": code.co_filename, "name": python.__name__, "line": code.co_firstlineno, "defaults": defaults, "names": names,
                "annotations": {parameter.name: parameter.annotation for parameter in getattr(function, "params", [])},
                "unspecialized": [p.name for p in getattr(function, "params", []) if p.do_not_specialize],
                "unaligned": [p.name for p in getattr(function, "params", []) if p.do_not_specialize_on_alignment],
                "noinline": bool(getattr(function, "noinline", False)), "constexpr": isinstance(function, ConstexprFunction)}

    def value(self, value: Any, depth: int = 0) -> Any:
        """What a kernel cannot use is named by its type: whether it is used is seen where the kernel is compiled."""
        from triton import language
        from triton.runtime.jit import JITCallable
        if value is None or isinstance(value, (bool, int, str)) and type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if isinstance(value, language.dtype) and not isinstance(value, language.pointer_type):
            return {"dtype": str(value)}
        if isinstance(value, language.constexpr) and depth < MOST_DEPTH:
            return {"constexpr": self.value(value.value, depth + 1)}
        if isinstance(value, (tuple, list, language.tuple)) and depth < MOST_DEPTH:
            return {"tuple": [self.value(item, depth + 1) for item in value]}
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        place = place_of(value)
        if place is not None:
            return {"of": place}
        if isinstance(value, JITCallable):
            return {"function": self.index(value)}
        return {"unknown": type(value).__name__}

    def launch(self, plan: Plan, function: Any, values: tuple, options: dict[str, Any]) -> dict[str, Any]:
        return {"function": self.index(function), "values": [self.argument(plan, value) for value in values],
                "options": {name: self.value(options[name]) for name in OPTIONS if options.get(name) is not None}}

    def argument(self, plan: Plan, value: Any) -> Any:
        """An argument of a launch."""
        from triton.runtime.jit import TensorWrapper
        from triton.tools.tensor_descriptor import TensorDescriptor
        if isinstance(value, Tensor):
            return {"view": plan.view(value.window)} if value.numel() else {"empty": value.dtype.name}
        if isinstance(value, TensorWrapper):
            return {"reinterpreted": self.argument(plan, value.base), "as": str(value.dtype)}
        if isinstance(value, TensorDescriptor):
            return {"descriptor": self.argument(plan, value.base), "shape": [int(x) for x in value.shape],
                    "strides": [int(x) for x in value.strides], "block": [int(x) for x in value.block_shape], "padding": str(value.padding)}
        if isinstance(value, (tuple, list)):
            return {"tuple": [self.argument(plan, item) for item in value]}
        if hasattr(value, "__index__") and not isinstance(value, int):
            return value.__index__()
        return self.value(value)


def place_of(value: Any) -> list[str] | None:
    """Module and name of something that is Triton's own."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.partition(".")[0] != "triton":
        return None
    try:
        return [module, name] if getattr(importlib.import_module(module), name, None) is value else None
    except ImportError:
        return None
