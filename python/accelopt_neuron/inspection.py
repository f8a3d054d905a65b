# SPDX-License-Identifier: Apache-2.0
"""What a kernel's file may hold: NKI, a little of numpy, and nothing that reaches the process that times it."""

from __future__ import annotations

import ast
import importlib
import types
from typing import Any

MODULES = {"neuronxcc", "neuronxcc.nki", "neuronxcc.nki.language", "neuronxcc.nki.isa", "neuronxcc.nki.typing", "neuronxcc.nki.compiler", "numpy",
           "math", "__future__"}
# Run, trace or time a kernel, which is ours to do.
RUNNERS = {"baremetal", "benchmark", "profile", "simulate_kernel", "FrameworkKernel"}
NUMPY = {"float32", "float16", "int32", "uint32", "int16", "uint16", "int8", "uint8", "bool_", "pi", "inf", "nan", "add", "subtract", "multiply", "divide",
         "maximum", "minimum", "max", "min", "sum", "exp", "sqrt", "square", "tanh", "dtype", "identity", "eye", "full", "zeros", "ones"}
BUILTINS = {"eval", "exec", "compile", "open", "getattr", "setattr", "delattr", "globals", "locals", "vars", "input", "breakpoint", "type", "super", "object",
            "dir", "help", "exit", "quit", "memoryview", "classmethod", "staticmethod", "property"}
# What kernels ask values for: tensors, arrays and types, the axes of nl.mgrid, nl.tile_size, lists and dictionaries. Others write files (an array's tofile)
# or lead to the interpreter (a generator's gi_frame).
ATTRIBUTES = {"shape", "dtype", "ndim", "size", "reshape", "broadcast_to", "astype", "type", "itemsize", "p", "x", "y", "z",
              "pmax", "psum_fmax", "gemm_stationary_fmax", "gemm_moving_fmax", "bn_stats_fmax", "psum_min_align", "sbuf_min_align",
              "total_available_sbuf_size", "append", "extend", "insert", "pop", "index", "count", "items", "keys", "values", "get", "start", "stop", "step"}


class Refused(Exception):
    """A line and what it may not do."""

    def __init__(self, node: Any, what: str) -> None:
        super().__init__(what)
        self.line = getattr(node, "lineno", 1)


class Inspection(ast.NodeVisitor):
    """Refuses what no kernel needs. Names of modules are followed to what the installed package has there."""

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}  # by the name that the kernel gives them
        self.names: dict[str, Any] = {}  # all that it imports, by the name that it gives it

    def imported(self, node: Any, module: str) -> Any:
        if module not in MODULES:
            raise Refused(node, f"a kernel imports {', '.join(sorted(MODULES - {'__future__'}))}, and not {module}")
        return importlib.import_module(module)

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            module = self.imported(node, one.name)
            self.bind(node, one.asname or one.name.split(".")[0], module if one.asname else importlib.import_module(one.name.split(".")[0]))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self.imported(node, node.module or "") if not node.level else self.imported(node, ".")
        for one in node.names:
            if one.name == "*":
                raise Refused(node, "a kernel names what it imports")
            self.bind(node, one.asname or one.name, self.member(node, module, one.name))

    def bind(self, node: Any, name: str, value: Any) -> None:
        """A name has one meaning wherever it stands."""
        if self.names.setdefault(name, value) is not value:
            raise Refused(node, f"{name} is imported already, as something else")
        if isinstance(value, types.ModuleType):
            self.modules[name] = value

    def member(self, node: Any, module: Any, name: str) -> Any:
        """What the module has by this name; none: it has not, and the kernel fails as it would anywhere."""
        if name.startswith("_") and module.__name__ != "__future__":
            raise Refused(node, f"{name} is no part of NKI")
        if module.__name__ == "numpy" and name not in NUMPY:
            raise Refused(node, f"a kernel has no use for numpy.{name}")
        if module.__name__.startswith("neuronxcc") and name in RUNNERS:
            raise Refused(node, f"{name} runs kernels; a kernel is run by who asked for it")
        found = getattr(module, name, None)
        if isinstance(found, types.ModuleType) and found.__name__ not in MODULES:
            raise Refused(node, f"{found.__name__} is no part of NKI")
        return found

    def module_of(self, node: Any) -> Any:
        """The module that an expression names; none: it names something else."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.module_of(node.value)
            found = self.member(node, owner, node.attr) if owner is not None else None
            return found if isinstance(found, types.ModuleType) else None
        return None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("_"):
            raise Refused(node, f".{node.attr} is no part of NKI")
        if not isinstance(node.ctx, ast.Load):
            raise Refused(node, f".{node.attr} is not a kernel's to change")
        owner = self.module_of(node.value)
        if owner is not None:
            self.member(node, owner, node.attr)
            if self.module_of(node) is not None and not self.used_as_owner(node):
                raise Refused(node, "a module is no value")
            return
        if node.attr not in ATTRIBUTES:
            raise Refused(node, f"a kernel has no use for .{node.attr} of a value")
        self.visit(node.value)

    def used_as_owner(self, node: ast.AST) -> bool:
        return isinstance(getattr(node, "parent", None), ast.Attribute)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id.startswith("__") or node.id in BUILTINS:
            raise Refused(node, f"a kernel has no use for {node.id}")
        if node.id in self.names and not isinstance(node.ctx, ast.Load):
            raise Refused(node, f"{node.id} is imported, and not a kernel's to change")
        if node.id in self.modules and (not isinstance(node.ctx, ast.Load) or not self.used_as_owner(node)):
            raise Refused(node, f"{node.id} is a module, and no value")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in self.names or node.name in BUILTINS or node.name.startswith("__"):
            raise Refused(node, f"{node.name} is no name for a function here")
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        raise Refused(node, "a kernel's file has functions, and no classes")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        raise Refused(node, "a kernel waits for nothing")

    def visit_arg(self, node: ast.arg) -> None:
        if node.arg in self.names or node.arg in BUILTINS or node.arg.startswith("__"):
            raise Refused(node, f"{node.arg} is no name for a parameter here")
        if node.annotation is not None:
            self.visit(node.annotation)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None and (node.name in self.names or node.name in BUILTINS or node.name.startswith("__")):
            raise Refused(node, f"{node.name} is no name for an exception here")
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        raise Refused(node, "a kernel has no use for match, whose patterns ask values for attributes")


def inspect(source: str, name: str) -> None:
    """@error Refused; SyntaxError; ImportError: the package has no such module."""
    tree = ast.parse(source, name)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    inspection = Inspection()
    # A function may name what is imported below it: imports first.
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            inspection.visit(node)
    inspection.visit(tree)
