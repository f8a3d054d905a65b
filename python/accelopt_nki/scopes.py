# SPDX-License-Identifier: Apache-2.0
"""What NKI reads into a kernel's statements and Python does not: the branches of an `if` are scopes, as bodies of loops are; the shape in an
annotation is checked; a `while` cannot depend on a tile. A file is compiled with calls to this module at these places."""

from __future__ import annotations

import ast
import builtins
import sys
from types import CodeType
from typing import Any, Callable

from . import trace
from .annotations import Shaped
from .catalogue import need
from .tensors import Blocks, Tensor

NAME = "__accelopt_nki_scopes__"  # of this module, in a kernel's file
ENTRY = "__accelopt_nki_entry__"  # of a function's local variable: the scope that it is called in
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
setattr(builtins, NAME, sys.modules[__name__])


class Branch:
    """A scope, with its line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def __enter__(self) -> None:
        self.trace = trace._current  # a function of the file may be called before any kernel is
        if self.trace is not None:
            self.outside = self.trace.enter("branch", self.line)
            self.scope = self.trace.scope

    def __exit__(self, *_: Any) -> None:
        if self.trace is not None:
            self.trace.leave(self.scope, self.outside)


def entry() -> int:
    return trace._current.scope if trace._current is not None else 0


def returned(value: Any, scope: int) -> Any:
    """What a function makes in a branch and returns is its caller's."""
    for one in value if isinstance(value, (tuple, list)) else [value]:
        if isinstance(one, Tensor) and one.storage.scope > scope:
            one.storage.scope = scope
            for buffer in one.storage.made.values() if isinstance(one.storage, Blocks) else ():
                buffer.scope = scope
    return value


def condition(value: Any) -> Any:
    need(not isinstance(value, Tensor), "err_while_loop_requires_unconditional_entry", "a while loop depends on what a tile holds")
    return value


def annotated(value: Any, annotation: Callable[[], Any]) -> None:
    try:
        shaped = annotation()
    except Exception:  # whatever it says, it is about no tensor
        return
    if isinstance(shaped, Shaped) and isinstance(value, Tensor):
        need(value.shape == shaped.shape, "err_annotation_shape_mismatch", f"a tensor of shape {value.shape} is annotated as {shaped.shape}")


class Statements(ast.NodeTransformer):
    """Of a file. `function`: what is being visited is in one."""

    def __init__(self) -> None:
        self.function = False
        self.branches = 0
        self.returns = False

    def visit_FunctionDef(self, node: Any) -> Any:
        outside = self.function, self.branches, self.returns
        self.function, self.branches, self.returns = not is_generator(node), 0, False
        self.generic_visit(node)
        if self.returns:
            at = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(at, placed(ast.Assign([ast.Name(ENTRY, ast.Store())], called("entry")), node.body[0]))
        self.function, self.branches, self.returns = outside
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: Any) -> Any:
        outside, self.function = self.function, False
        self.generic_visit(node)
        self.function = outside
        return node

    def visit_If(self, node: Any) -> Any:
        node.test = self.visit(node.test)
        self.branches += 1
        node.body = self.branch(node.body, node)
        if node.orelse:
            node.orelse = self.branch(node.orelse, node)
        self.branches -= 1
        return node

    def all(self, body: list[Any]) -> list[Any]:
        visited: list[Any] = []
        for one in body:
            new = self.visit(one)
            visited += new if isinstance(new, list) else [new]
        return visited

    def branch(self, body: list[Any], node: Any) -> list[Any]:
        visited = self.all(body)
        if not self.function or not any(makes(one) for one in body):
            return visited
        return [placed(ast.With([ast.withitem(called("Branch", ast.Constant(node.lineno)))], visited), node)]

    def visit_For(self, node: Any) -> Any:
        own = getattr(node.iter, "func", None)  # a loop of NKI or of Python's range opens a scope itself
        opens = str(getattr(own, "attr", getattr(own, "id", ""))).endswith("range")
        node.iter = self.visit(node.iter)
        node.orelse = self.all(node.orelse)
        node.body = self.all(node.body) if opens else self.branch(node.body, node)
        return node

    def visit_Return(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.function and self.branches > 0 and node.value is not None:
            self.returns = True
            node.value = placed(called("returned", node.value, ast.Name(ENTRY, ast.Load())), node)
        return node

    def visit_While(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.function:
            node.test = placed(called("condition", node.test), node.test)
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        if not self.function or node.value is None or not isinstance(node.target, ast.Name):
            return node
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        check = called("annotated", ast.Name(node.target.id, ast.Load()), ast.Lambda(nothing, node.annotation))
        return [node, placed(ast.Expr(check), node)]


def is_generator(function: Any) -> bool:
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if not isinstance(node, FUNCTIONS):
            todo.extend(ast.iter_child_nodes(node))
    return False


def makes(statement: Any) -> bool:
    """Whether it could make a tensor."""
    return any(isinstance(node, (ast.Call, ast.BinOp, ast.UnaryOp, ast.AugAssign)) for node in ast.walk(statement))


def called(name: str, *arguments: Any) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(NAME, ast.Load()), name, ast.Load()), list(arguments), [])


def placed(new: Any, where: Any) -> Any:
    ast.copy_location(new, where)
    return ast.fix_missing_locations(new)


def compiled(source: str, name: str) -> CodeType:
    """A kernel's file. @error SyntaxError, ValueError."""
    return compile(Statements().visit(ast.parse(source, name)), name, "exec", dont_inherit=True)
