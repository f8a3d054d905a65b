# SPDX-License-Identifier: Apache-2.0
"""tl.reduce and tl.associative_scan by trees, as a device has them. Triton's interpreter folds from the left, element by element: that
is slow, and right for combinations that are not associative."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from . import operators

Arrays = list[np.ndarray]  # one for each tensor that is combined, of one shape


def called(combine: Callable, values: Arrays, kinds: list[Any], shape: tuple[int, ...]) -> Arrays:
    """The combination of blocks, or of scalars (an empty shape)."""
    semantic = interpreter.interpreter_semantic
    tensors = [tl.tensor(interpreter.TensorHandle(data, kind), tl.block_type(kind, list(shape)) if shape else kind)
               for data, kind in zip(values, kinds * 2)]
    result = combine(*tensors)
    parts = result if isinstance(result, (tuple, tl.tuple)) else (result,)
    parts = [semantic.cast(semantic.to_tensor(part), kind).handle.data for part, kind in zip(parts, kinds, strict=True)]
    return [np.broadcast_to(part, shape or (1,)) for part in parts]


def combined(combine: Callable, left: Arrays, right: Arrays, kinds: list[Any]) -> Arrays:
    """Of all pairs at once. Only scalars decide a branch: a combination that has one is called for pair after pair."""
    shape = left[0].shape
    try:
        return called(combine, left + right, kinds, shape)
    except interpreter.InterpreterError:
        flat = [data.reshape(-1) for data in left + right]
        lanes = [called(combine, [data[i:i + 1] for data in flat], kinds, ()) for i in range(flat[0].size)]
        return [np.concatenate(parts).reshape(shape) for parts in zip(*lanes)]


def generic_reduce(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Of elements half an axis apart first, as the lanes of a warp do: a combination has to be commutative, too."""
    kinds, rank, axis = [tensor.dtype for tensor in inputs], inputs[0].handle.data.ndim, self.axis
    columns = [tensor.handle.data.reshape(-1) if axis is None else np.moveaxis(tensor.handle.data, axis, 0) for tensor in inputs]
    while len(columns[0]) > 1:
        half = len(columns[0]) // 2
        columns = combined(self.combine_fn, [column[:half] for column in columns], [column[half:] for column in columns], kinds)
    rows = [column[0] for column in columns]
    if self.keep_dims:
        rows = [np.reshape(row, (1,) * rank) if axis is None else np.expand_dims(row, axis) for row in rows]
    return [self.to_tensor(row, kind) for row, kind in zip(rows, kinds)]


def generic_scan(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Each element with what is 1, 2, 4, ... before it."""
    kinds = [tensor.dtype for tensor in inputs]
    columns = [np.moveaxis(tensor.handle.data, self.axis, 0) for tensor in inputs]
    step = 1
    while step < len(columns[0]):
        longer = combined(self.combine_fn, [np.roll(column, step, 0) for column in columns], columns, kinds)
        columns = [np.concatenate([column[:step], new[step:]]) for column, new in zip(columns, longer)]
        step *= 2
    return [self.to_tensor(np.ascontiguousarray(np.moveaxis(column, 0, self.axis)), kind) for column, kind in zip(columns, kinds)]


def with_wrapped_axis(original: Callable) -> Callable:
    """ReduceScanOpInterface.apply with an axis that counts from the first."""
    def apply(self: Any, inputs: Any) -> Any:
        rank = len((inputs[0] if isinstance(inputs, tuple) else inputs).shape)
        axis = self.axis.value if isinstance(self.axis, tl.constexpr) else self.axis
        self.axis = axis + rank if axis is not None and axis < 0 else axis
        return original(self, inputs)
    return apply


def ordered(original: Callable) -> Callable:
    """ReduceOps.apply_impl, but an extremum with its index is what the comparisons say, also of NaN; numpy would find the NaN."""
    standard = tl.standard
    with_index = (standard._argmax_combine_tie_break_left, standard._argmin_combine_tie_break_left)

    def apply_impl(self: Any, inputs: tuple[Any, ...]) -> Any:
        return self.generic_reduce(inputs) if self.combine_fn in with_index else original(self, inputs)
    return apply_impl


class Transformer:
    """Of Triton's own functions: `and` and `or` as its compiler reads them."""

    def visit(self, tree: Any) -> Any:
        return interpreter.ASTTransformer().visit(operators.Rewriter().visit(tree))


def install() -> None:
    interpreter.ReduceScanOpInterface.apply = with_wrapped_axis(interpreter.ReduceScanOpInterface.apply)
    interpreter.ReduceOps.apply_impl = ordered(interpreter.ReduceOps.apply_impl)
    interpreter.ReduceOps.generic_reduce, interpreter.ScanOps.generic_scan = generic_reduce, generic_scan
    for function in (tl.standard._argmax_combine, tl.standard._argmin_combine):
        function.rewriter.ast_transformer = Transformer()
        function.fn.__globals__.update({name: value for name, value in operators.names().items() if name.startswith(".")})
