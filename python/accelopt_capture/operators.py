# SPDX-License-Identifier: Apache-2.0
"""What `and`, `or`, `not`, `max` and `min` mean to Triton's compiler, for its interpreter, which runs kernels as Python: Python
would ask a block whether it is true, and go on with one of the operands."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable

import triton.language as tl
from triton.runtime import interpreter

# No kernel can name these.
AND, OR, NOT, EVERY = ".and", ".or", ".not", ".every"


class Rewriter(ast.NodeTransformer):
    """Python's own operators become calls of what `names` has."""

    def call(self, node: ast.AST, name: str, arguments: list[ast.expr]) -> ast.AST:
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return self.call(node, AND if isinstance(node.op, ast.And) else OR, [ast.Lambda(none, value) for value in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self.call(node, NOT, [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        node.test = self.call(node, EVERY, [node.test])
        return node


def is_computed(value: Any) -> bool:
    """Not a constant, which the interpreter makes a scalar when it is assigned; the compiler combines no scalars but int1."""
    return isinstance(value, tl.tensor) and (value.type.is_block() or value.type.is_int1())


def combined(method: Callable, last: bool) -> Callable:
    """CodeGenerator.visit_BoolOp: only a constant ends the evaluation, and a constant that does not is left out."""
    def operator(*operands: Callable[[], Any]) -> Any:
        values, value = [], None
        for operand in operands:
            value = operand()
            if is_computed(value):
                values.append(value)
            elif bool(value) is last:
                return value
        while len(values) > 1:
            right, left = values.pop(), values.pop()
            values.append(method(left, right))
        return values[0] if values else value
    return operator


def inverted(value: Any) -> Any:
    return interpreter.interpreter_semantic.not_(value) if is_computed(value) else not value


def every(value: Any) -> bool:
    return bool(value.handle.data.all()) if isinstance(value, tl.tensor) else bool(value)


def extreme(python: Callable, compilers: Callable) -> Callable:
    def function(*values: Any, **options: Any) -> Any:
        if any(isinstance(value, tl.tensor) for value in values):
            return compilers(*values, **options, _semantic=interpreter.interpreter_semantic)
        return python(*values, **options)
    return function


def names() -> dict[str, Any]:
    """What a rewritten function finds instead."""
    semantic = interpreter.interpreter_semantic
    return {AND: combined(semantic.logical_and, False), OR: combined(semantic.logical_or, True), NOT: inverted, EVERY: every,
            "max": extreme(builtins.max, tl.core.builtin_max), "min": extreme(builtins.min, tl.core.builtin_min)}
