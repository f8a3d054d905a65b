# SPDX-License-Identifier: Apache-2.0
"""What `and`, `or`, `not`, `max`, `min`, `range`, assignments and `return` mean to Triton's compiler, for its interpreter, which runs
kernels as Python: Python would ask a block whether it is true, and go on with one of the operands; and its numbers have no width."""

from __future__ import annotations

import ast
import builtins
import functools
from typing import Any, Callable, Iterator

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

# No kernel can name these.
AND, OR, NOT, EVERY, TYPED = ".and", ".or", ".not", ".every", ".typed"


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

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = self.call(node, TYPED, [node.value])
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        is_constant = getattr(node.annotation, "attr", getattr(node.annotation, "id", "")) == "constexpr"
        if node.value is not None and not is_constant:
            node.value = self.call(node, TYPED, [node.value])
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = self.call(node, TYPED, [node.value])
        return node


def typed(value: Any) -> Any:
    """What is assigned or returned: constants become scalars of Triton's types, in tuples too."""
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, (tuple, tl.tuple)):
        return interpreter._tuple_create(value, map(typed, value))
    return interpreter.interpreter_semantic.to_tensor(value, False)


def counted(first: Any, second: Any = None, step: Any = 1, **_: Any) -> Iterator[tl.tensor]:
    """In place of `range` and `tl.range`: scalars of the type that CodeGenerator.visit_For gives to the induction variable, compared
    as signed numbers. Those of tl.static_range stay Python's, since they are constants."""
    semantic = interpreter.interpreter_semantic
    is_constant = not isinstance(step, tl.tensor)
    bounds = [semantic.to_tensor(bound) for bound in ((0, first, step) if second is None else (first, second, step))]
    if not all(bound.dtype.is_int() for bound in bounds):
        raise TypeError(f"For loop bounds and step must all be ints, are ({', '.join(str(bound.dtype) for bound in bounds)})")
    kind = semantic.integer_promote_impl(semantic.integer_promote_impl(bounds[0].dtype, bounds[1].dtype), bounds[2].dtype)
    numpys = interpreter._get_np_dtype(kind)
    signed = np.dtype(f"int{8 * numpys.itemsize}")
    start, stop, stride = (int(bound.handle.data.reshape(-1)[0].astype(numpys).astype(signed)) for bound in bounds)
    if stride < 0 and not is_constant:  # only a constant counts down
        if start < stop:
            raise ValueError("a loop's step is negative, and no constant: the loop would not end")
        return
    for number in range(start, stop, stride):
        yield tl.tensor(interpreter.TensorHandle(np.array([number], signed).astype(numpys), kind), kind)


counted.__module__ = tl.__name__  # as Triton's own (rebuilding.py)


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


def found_late(builtin: Callable) -> Callable:
    """A function of Triton's under a name of the solution's (`exp = tl.exp`): its interpreter replaces those in its modules alone."""
    @functools.wraps(builtin)
    def function(*values: Any, **options: Any) -> Any:
        replaced = getattr(tl, builtin.__name__, builtin)
        return replaced(*values, **options) if replaced is not builtin else builtin(*values, **options, _semantic=interpreter.interpreter_semantic)
    return function


def names() -> dict[str, Any]:
    """What a rewritten function finds instead."""
    semantic = interpreter.interpreter_semantic
    return {AND: combined(semantic.logical_and, False), OR: combined(semantic.logical_or, True), NOT: inverted, EVERY: every,
            TYPED: typed, "range": counted, "max": extreme(builtins.max, tl.core.builtin_max), "min": extreme(builtins.min, tl.core.builtin_min)}
