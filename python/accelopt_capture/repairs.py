# SPDX-License-Identifier: Apache-2.0
"""Triton 3.6.0's interpreter, repaired from outside: it takes the bit patterns of bfloat16 for numbers, cuts where a GPU
rounds, and converts arrays of one element in a way that numpy no longer allows."""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
from typing import Any, Callable

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime import interpreter
from triton.runtime.jit import mangle_type

from . import combining, hints, hooks, operators
from .dtypes import BY_NAME
from .errors import refuse
from .hooks import make_ready
from .numerics import TRITON, decoded, encoded, stored
from .plan import SCALARS, scalar_bits

Handle = interpreter.TensorHandle
Builder = interpreter.InterpreterBuilder


def is_small(handle: Any) -> bool:
    return getattr(handle.dtype, "scalar", None) is not None and handle.dtype.scalar.name == "bf16"


def widened(handle: Any) -> Any:
    """bfloat16 as float32; everything else as it is."""
    return Handle(decoded(handle.data, TRITON["bf16"]), tl.float32) if is_small(handle) else handle


def narrowed(result: Any) -> Any:
    data = result.data if result.data.dtype == np.bool_ else encoded(result.data, TRITON["bf16"])
    return Handle(data, tl.bfloat16)


def on_floats(original: Callable, operands: int) -> Callable:
    """A method of the builder that computes bfloat16 in float32, and rounds."""
    def method(self: Any, *arguments: Any) -> Any:
        handles, rest = arguments[:operands], arguments[operands:]
        if not any(is_small(handle) for handle in handles):
            return original(self, *arguments)
        return narrowed(original(self, *map(widened, handles), *rest))
    return method


def convert(data: np.ndarray, source: Any, target: Any, rounding: Any) -> np.ndarray:
    """In place of _convert_float: bits to bits."""
    if source.name not in TRITON or target.name not in TRITON:
        refuse("tl.cast", f"from {source} to {target} is not interpreted; verify it on a device")
    kind = TRITON[target.name]
    toward_zero = rounding == ir.ROUNDING_MODE.RTZ
    values = decoded(data, TRITON[source.name])
    if toward_zero and kind.name == "float16":
        near = values.astype(np.float16)
        values = np.where(np.abs(near.astype(values.dtype)) > np.abs(values), np.nextafter(near, np.float16(0)), near)
    bits = encoded(values, kind, toward_zero, saturate=kind.itemsize == 1)
    return bits.view(getattr(np, f"uint{8 * kind.itemsize}")).reshape(np.shape(data))


def cast(self: Any, source: Any, target: Any) -> Any:
    kind = target.scalar
    if kind.name == "bf16" and not is_small(source):
        return Handle(encoded(source.data.astype(np.float32), TRITON["bf16"]), kind)
    data = widened(source).data
    with np.errstate(all="ignore"):
        return Handle(data.astype(interpreter._get_np_dtype(target)), kind)


def as_tensor_core_reads(handle: Any, precision: Any) -> Any:
    """An operand of dot. For tf32 the compiler passes float32 as it is, and a tensor core ignores the last 13 bits: it does not round
    (measured on an H200, mma.sync and wgmma)."""
    if precision != ir.INPUT_PRECISION.TF32 or handle.dtype.scalar.name != "fp32":
        return widened(handle)
    return Handle((np.ascontiguousarray(handle.data).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32), tl.float32)


def dot(original: Callable) -> Callable:
    def create_dot(self: Any, a: Any, b: Any, d: Any, precision: Any, *rest: Any) -> Any:
        a, b = as_tensor_core_reads(a, precision), as_tensor_core_reads(b, precision)
        if is_small(d):
            return narrowed(original(self, a, b, widened(d), precision, *rest))
        return original(self, a, b, d, precision, *rest)
    return create_dot


def atomic(original: Callable) -> Callable:
    def create_atomic_rmw(self: Any, operation: Any, pointer: Any, value: Any, *rest: Any) -> Any:
        if is_small(value):
            refuse("tl.atomic", "on bfloat16 is not interpreted; verify it on a device")
        bits = {"fp32": tl.int32, "fp64": tl.int64}.get(value.dtype.scalar.name)
        if operation == ir.ATOMIC_OP.XCHG and bits is not None:  # it knows integers alone
            found = original(self, operation, pointer, Handle(value.data.view(interpreter._get_np_dtype(bits)), bits), *rest)
            return Handle(found.data.view(value.data.dtype), value.dtype.scalar)
        return original(self, operation, pointer, value, *rest)
    return create_atomic_rmw


def atomic_min(original: Callable) -> Callable:
    """Triton gives the result of the half that is negative the type of a pointer, which only its compiler overlooks."""
    def minimum(self: Any, pointer: Any, value: Any, mask: Any, sem: str, scope: str) -> Any:
        kind = pointer.type.scalar.element_ty
        if kind not in (tl.float32, tl.float64):
            return original(self, pointer, value, mask, sem, scope)
        pointer, value, mask = self.atom_red_typechecking_impl(pointer, value, mask, "min")
        negative = self._signbit(value)
        as_signed, as_unsigned = (tl.core.get_int_dtype(kind.primitive_bitwidth, signed) for signed in (True, False))
        others = original(self, self.bitcast(pointer, tl.pointer_type(as_signed, 1)), self.bitcast(value, as_signed),
                          self.and_(mask, self.not_(negative)), sem, scope)
        negatives = self.atomic_max(self.bitcast(pointer, tl.pointer_type(as_unsigned, 1)), self.bitcast(value, as_unsigned),
                                    self.and_(mask, negative), sem, scope)
        return self.bitcast(self.where(negative, self.bitcast(negatives, as_signed), others), kind)
    return minimum


def modulo_two(original: Callable) -> Callable:
    """Sums and differences of int1, which numpy takes for `or`, or refuses."""
    def method(self: Any, a: Any, b: Any) -> Any:
        if a.data.dtype == np.bool_ and b.data.dtype == np.bool_:
            return Handle(a.data ^ b.data, tl.int1)
        return original(self, a, b)
    return method


def umulhi(original: Callable) -> Callable:
    """Of the bits, which Triton extends by their sign."""
    def create_umulhi(self: Any, a: Any, b: Any) -> Any:
        kind = np.dtype(f"uint{8 * a.data.itemsize}")
        result = original(self, Handle(a.data.view(kind), a.dtype), Handle(b.data.view(kind), b.dtype))
        return Handle(result.data.view(a.data.dtype), a.dtype.scalar)
    return create_umulhi


def descriptor_reduce(self: Any, kind: Any, *_: Any) -> None:
    refuse(f"tensor_descriptor.atomic_{str(kind).rsplit('.', 1)[-1].lower()}", "is not interpreted; verify it on a device")


def padding(pointers: Any, option: Any) -> Any:
    """What a load has beyond the end of a tensor. Triton converts NaN to the integers that numpy holds small floats in."""
    if option != ir.PADDING_OPTION.PAD_NAN:
        return None
    kind = pointers.get_element_ty()
    return Handle(encoded(np.full(pointers.data.shape, np.nan, np.float32), TRITON[kind.name]), kind)


def block_load(self: Any, pointer: Any, boundary: Any, option: Any, *hints: Any) -> Any:
    pointers, mask = pointer.materialize_pointers(boundary)
    return self.create_masked_load(pointers, mask, padding(pointers, option), *hints)


def descriptor_load(self: Any, descriptor: Any, indices: Any, cache: Any, eviction: Any) -> Any:
    pointers, mask = descriptor.materialize_pointers(indices)
    return self.create_masked_load(pointers, mask, padding(pointers, descriptor.padding), cache, eviction, False)


def reduced(original: Callable) -> Callable:
    """Sums and the like of bfloat16 in float32, rounded once."""
    def method(self: Any, first: Any, *rest: Any, **options: Any) -> Any:
        tensor = first[0] if isinstance(first, tuple) else first
        if not is_small(tensor.handle):
            return original(self, first, *rest, **options)
        wide = tl.core.tensor(widened(tensor.handle), tl.block_type(tl.float32, list(tensor.handle.data.shape)))
        result = original(self, wide, *rest, **options)
        parts = result if isinstance(result, (tuple, list)) else [result]
        shaped = lambda part: part.handle.data.shape if part.type.is_block() else ()
        parts = [self.to_tensor(encoded(part.handle.data, TRITON["bf16"]).reshape(shaped(part)), tl.bfloat16)
                 if part.dtype.name == "fp32" else part for part in parts]
        return type(result)(parts) if isinstance(result, (tuple, list)) else parts[0]
    return method


@functools.cache
def order(*shapes: tuple[int, ...]) -> np.ndarray:
    """One that a device may give the elements of such tensors, which is the same for all of them."""
    return np.random.default_rng([extent for shape in shapes for extent in (*shape, 0)]).permutation(math.prod(shapes[-1]))


def reshape(self: Any, tensor: Any, shape: Any, can_reorder: Any) -> Any:
    data, shape = tensor.data, tuple(shape)
    return Handle((data.reshape(-1)[order(data.shape, shape)] if can_reorder else data).reshape(shape), tensor.dtype.scalar)


def cat(self: Any, left: Any, right: Any) -> Any:
    """The compiler always may reorder."""
    data = np.concatenate([left.data, right.data])
    return Handle(data.reshape(-1)[order(data.shape)].reshape(data.shape), left.dtype.scalar)


TRITONS_OWN = os.path.dirname(tl.__file__).removesuffix("language")


def truth(tensor: Any) -> bool:
    """Of a scalar; the compiler refuses to branch on a block. Triton's own functions ask so whether there is a mask."""
    if tensor.handle.data.size != 1:
        if sys._getframe(1).f_code.co_filename.startswith(TRITONS_OWN):
            return True
        raise ValueError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(widened(tensor.handle).data.reshape(-1)[0])


def patched_tensor(original: Callable) -> Callable:
    """A scalar is an array of one element, which numpy converts only if it has no axes."""
    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.reshape(-1)[0]))
        scope.set_attr(tensor, "__int__", lambda self: int(self.handle.data.reshape(-1)[0]))
        scope.set_attr(tensor, "__float__", lambda self: float(widened(self.handle).data.reshape(-1)[0]))
        scope.set_attr(tensor, "__bool__", truth)
    return patch


class Patches:
    """In place of _patch_lang, which goes through all of Triton's language at each call of a device function (`tl.zeros` is one): each
    of its modules is patched once for a kernel, and all are restored at the kernel's end."""

    def __init__(self, original: Callable) -> None:
        self.original = original
        self.scopes: list[Any] = []
        self.patched: set[str] = set()
        self.modules: dict[Any, set[str]] = {}

    def __call__(self, function: Any) -> Patches:
        if function not in self.modules:
            self.modules[function] = {value.__name__ for value in function.__globals__.values() if value is tl or value is tl.core}
        if not self.modules[function] <= self.patched:
            self.scopes.append(self.original(function))
            self.patched |= self.modules[function]
        return self

    def restore(self) -> None:
        while self.scopes:
            self.scopes.pop().restore()
        self.patched.clear()


def patched_core(original: Callable) -> Callable:
    def patch(lang: Any, scope: Any) -> None:
        original(lang, scope)
        scope.set_attr(lang, "range", operators.counted)
    return patch


def scalar(value: int | float, kind: str) -> tl.tensor:
    """The bits that a launch passes for this argument (plan.py), as what the compiled kernel takes them for."""
    dtype, tritons = BY_NAME[SCALARS[kind]], tl.str_to_ty(kind, None)
    data = np.frombuffer(scalar_bits(dtype.name, value).to_bytes(dtype.itemsize, "little"), stored(dtype))
    return tl.tensor(Handle(data.astype(interpreter._get_np_dtype(tritons)), tritons), tritons)


def converted(original: Callable) -> Callable:
    """An argument that is not constexpr. Triton leaves a float as it is, of double precision and of no type beside a tensor."""
    return lambda value: scalar(value, mangle_type(value)) if isinstance(value, (int, float)) else hints.passed(original(value))


def arguments_here(self: Any, arguments: Any, options: Any) -> Any:
    """Memory is the host's already: nothing is copied there and back. Scalars whose types are annotated have them."""
    values = inspect.getcallargs(self.fn, *arguments, **options)
    for name, value in values.items():
        make_ready(value)
        kind = self.fn.__annotations__.get(name)
        if kind in SCALARS and isinstance(value, (int, float)):
            values[name] = scalar(value, kind)
    return (), values


def arguments_written(self: Any, arguments: Any, _: Any, options: Any, __: Any) -> None:
    for value in (*arguments, *options.values()):
        make_ready(value, lambda tensor: tensor.storage_.forget())


def without_overlap() -> None:
    """One program runs after the other here: what a kernel waits for has ended, and what it lets begin begins after it."""
    from triton.language.extra import cuda
    for name in ("gdc_wait", "gdc_launch_dependents"):
        nothing = lambda: None
        nothing.__module__ = cuda.__name__  # as Triton's own (rebuilding.py)
        setattr(cuda, name, nothing)
        setattr(cuda.gdc, name, nothing)


def install(arch: int) -> None:
    """For this process. Kernels have to be decorated with TRITON_INTERPRET=1."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver
    driver.set_active(hooks.Driver(GPUTarget("cuda", arch, 32)))
    for name, operands in {"binary_op": 2, "ternary_op": 3, "create_fma": 3, "unary_op": 1, "create_rsqrt": 1, "create_idiv": 2}.items():
        setattr(Builder, name, on_floats(getattr(Builder, name), operands))
    select = lambda self, condition, a, b: Handle(np.where(condition.data, a.data, b.data), b.dtype.scalar)
    Builder.create_select = select
    Builder.create_maxnumf = lambda self, a, b: self.binary_op(a, b, np.fmax)  # the number, where the other is none
    Builder.create_minnumf = lambda self, a, b: self.binary_op(a, b, np.fmin)
    object.__setattr__(interpreter.interpreter_builder.options, "sanitize_overflow", False)  # computed, and looked at only for debugging
    object.__setattr__(interpreter.interpreter_builder.options, "allowed_dot_input_precisions", ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"))
    tl.core.condition.__bool__ = lambda self: bool(self.condition)
    Builder.create_dot = dot(Builder.create_dot)
    Builder.create_atomic_rmw = atomic(Builder.create_atomic_rmw)
    interpreter.TritonSemantic.atomic_min = atomic_min(interpreter.TritonSemantic.atomic_min)
    for name in ("create_add", "create_sub"):
        setattr(Builder, name, modulo_two(getattr(Builder, name)))
    Builder.create_umulhi = umulhi(Builder.create_umulhi)
    Builder.create_tensor_pointer_load, Builder.create_descriptor_load = block_load, descriptor_load
    Builder.create_descriptor_reduce = descriptor_reduce
    Builder.create_reshape, Builder.create_cat = reshape, cat
    Builder.cast_impl = cast
    Builder.get_bf16 = lambda self, value: Handle(encoded(np.array([value], np.float32), TRITON["bf16"]), tl.bfloat16)
    for owner, name in ((interpreter.ReduceOps, "sum"), (interpreter.ReduceOps, "min_max"), (interpreter.ScanOps, "cumsum"),
                        (interpreter.ScanOps, "cumprod")):
        setattr(owner, name, reduced(getattr(owner, name)))
    combining.install()
    hints.install()
    without_overlap()
    interpreter._convert_float = convert
    interpreter._patch_lang_tensor = patched_tensor(interpreter._patch_lang_tensor)
    interpreter._patch_lang_core = patched_core(interpreter._patch_lang_core)
    interpreter._patch_lang = Patches(interpreter._patch_lang)
    interpreter._implicit_cvt = converted(interpreter._implicit_cvt)
    interpreter.GridExecutor._init_args_hst = arguments_here
    interpreter.GridExecutor._restore_args_dev = arguments_written
