# SPDX-License-Identifier: Apache-2.0
"""Runs a solution in the process that was confined for it, and says what came of it."""

from __future__ import annotations

import ast
import base64
import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import linecache
import math
import sys
import textwrap
from types import CodeType
from typing import Any, Callable

from . import errors, hooks, session, shapes, state
from .dtypes import BY_NAME, values_of
from .errors import Failure, Refused, refuse
from .plan import Plan
from .storage import Storage
from .tensor import Tensor

SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class SolutionFiles(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the solution's files from memory, under the names that they have in the request."""

    def __init__(self, files: list[dict[str, str]], compiled: Callable[[str, str], CodeType]) -> None:
        self.compiled = compiled
        self.files = {file["name"]: file["content"] for file in files}
        for name, content in self.files.items():
            errors.solution_files.add(name)
            linecache.cache[name] = (len(content), None, content.splitlines(keepends=True), name)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        stem = fullname.replace(".", "/")
        for name, package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            if name in self.files:
                return self.spec(fullname, name, package)
        if any(name.startswith(stem + "/") for name in self.files):
            return importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        return None

    def spec(self, fullname: str, name: str, package: bool) -> Any:
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=name, is_package=package)
        spec.has_location = True
        return spec

    def exec_module(self, module: Any) -> None:
        name = module.__spec__.origin
        module.__file__ = name
        exec(self.compiled(self.files[name], name), module.__dict__)

    def get_source(self, fullname: str) -> str | None:
        spec = self.find_spec(fullname)
        return self.files.get(spec.origin) if spec is not None else None


def guard_imports(packages: frozenset[str]) -> None:
    """What happens to lie beside Triton, numpy for one, is nothing that a solution may count on."""
    original = builtins.__import__
    allowed = {*sys.stdlib_module_names, *packages}
    allowed |= {name.partition("/")[0].removesuffix(".py") for name in errors.solution_files}

    def guarded(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.partition(".")[0]
        if level == 0 and top not in allowed and (globals or {}).get("__file__") in errors.solution_files:
            raise ModuleNotFoundError(f"No module named '{top}'", name=name)
        return original(name, globals, locals, fromlist, level)
    builtins.__import__ = guarded


def as_it_is(source: str, name: str) -> CodeType:
    return compile(source, name, "exec", dont_inherit=True)


def load(request: dict[str, Any], packages: frozenset[str] = frozenset({"torch", "triton"}),
         compiled: Callable[[str, str], CodeType] = as_it_is) -> Callable:
    """The entry, of files that may import these packages. @error Failure: there is none."""
    finder = SolutionFiles(request["files"], compiled)
    sys.meta_path.insert(0, finder)
    guard_imports(packages)
    file, _, name = request["entry"].partition("::")
    module_name = file.removesuffix(".py").replace("/", ".")
    spec = finder.spec(module_name, file, False)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    finder.exec_module(module)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Failure("contract", f"{file} has no {name}", file=file)
        found = getattr(found, part)
    if not callable(found):
        raise Failure("contract", f"{name} in {file} is no function", file=file)
    return found


# Inputs and outputs.
def make_tensor(spec: dict[str, Any], kind: str) -> Tensor:
    dtype, shape = BY_NAME[spec["dtype"]], spec["shape"]
    storage = Storage(dtype, shapes.numel(shape), kind, spec["name"])
    state.session().sink.place(storage)
    if "visible" in spec:
        data = base64.b64decode(spec["visible"])
        storage.counted = True
        storage.lazy = lambda: values_of(data, dtype)
    state.session().sink.declare(storage)
    return Tensor(storage, 0, dtype, shape, shapes.contiguous_strides(shape))


def arguments_of(workload: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for spec in workload["inputs"]:
        if "shape" in spec:
            made[spec["name"]] = make_tensor(spec, "inout" if spec.get("inout") else "input")
        else:
            value = spec["value"]
            value = SPECIAL.get(value, value) if isinstance(value, str) else value
            made[spec["name"]] = float(value) if value is not None and BY_NAME[spec["dtype"]].floating else value
    return made


def by_name(entry: Callable, how: str, names: list[str]) -> bool:
    if how != "auto":
        return how == "names"
    try:
        inspect.signature(entry).bind(**dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    return True


def takes(entry: Callable, names: list[str]) -> bool:
    try:
        inspect.signature(entry).bind(*names)
    except (TypeError, ValueError):
        return False
    return True


def returns_something(entry: Callable) -> bool:
    """Whether its own body has a `return` of a value."""
    try:
        todo: list[ast.AST] = list(ast.parse(textwrap.dedent(inspect.getsource(entry))).body)
    except (OSError, SyntaxError, TypeError):
        return False
    todo = list(ast.iter_child_nodes(todo[0])) if todo else []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
    return False


def convention_of(entry: Callable, request: dict[str, Any]) -> str:
    """What the request's `auto` means: destination passing, if the entry takes the outputs as well; where its signature
    allows both (`*args`), whether it returns something tells."""
    if request["convention"] != "auto":
        return request["convention"]
    workload = request["workloads"][0]
    inputs, outputs = ([spec["name"] for spec in workload[kind]] for kind in ("inputs", "outputs"))
    if not takes(entry, inputs + outputs):
        return "value"
    return "value" if takes(entry, inputs) and returns_something(entry) else "destination"


def call(entry: Callable, request: dict[str, Any], workload: dict[str, Any]) -> tuple[Any, dict[str, Tensor]]:
    """What the entry returned, and the outputs that it was given."""
    arguments = arguments_of(workload)
    outputs: dict[str, Tensor] = {}
    if request["convention"] == "destination":
        outputs = {spec["name"]: make_tensor(spec, "output") for spec in workload["outputs"]}
        arguments.update(outputs)
    named = by_name(entry, request["arguments"], list(arguments))
    try:
        inspect.signature(entry).bind(*(() if named else arguments.values()), **(arguments if named else {}))
    except TypeError as error:
        raise Failure("contract", f"{request['entry']} does not take {', '.join(arguments)}: {error}") from None
    except ValueError:
        pass
    return entry(**arguments) if named else entry(*arguments.values()), outputs


def returned(value: Any, outputs: list[dict[str, Any]]) -> list[Tensor]:
    """The returned tensors in the order of the outputs. @error Failure: they are not what the task says."""
    names = [spec["name"] for spec in outputs]
    if isinstance(value, dict):
        if set(value) != set(names):
            raise Failure("contract", f"returns {sorted(map(str, value))}, the outputs are {sorted(names)}")
        value = [value[name] for name in names]
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(values) != len(names):
        raise Failure("contract", f"returns {len(values)} values, the outputs are {', '.join(names)}")
    for spec, tensor in zip(outputs, values):
        if not isinstance(tensor, Tensor):
            raise Failure("contract", f"returns a {type(tensor).__name__} for the output {spec['name']}")
        if list(tensor.shape) != spec["shape"] or tensor.dtype.name != spec["dtype"]:
            raise Failure("contract", f"returns {tensor.dtype.name} {list(tensor.shape)} for the output {spec['name']}, which is "
                          f"{spec['dtype']} {spec['shape']}")
        if tensor.device.type == "cpu":
            raise Failure("contract", f"returns the output {spec['name']} on the CPU")
    return values


def take_outputs(plan: Any, value: Any, outputs: list[dict[str, Any]]) -> None:
    """Makes returned tensors the outputs: a fresh buffer becomes one, of anything else there is a copy."""
    if not outputs:
        return
    taken: list[tuple[dict[str, Any], Tensor]] = []
    fresh: set[int] = set()
    for spec, tensor in zip(outputs, returned(value, outputs)):
        storage = tensor.storage_
        if storage.kind == "scratch" and tensor.is_contiguous() and tensor.nbytes == storage.nbytes and tensor.numel() \
                and id(storage) not in fresh:
            fresh.add(id(storage))
            storage.ready()
            plan.rename(storage, spec["name"], spec["dtype"])
        else:
            taken.append((spec, tensor))
    for spec, tensor in taken:
        tensor.storage_.ready()
        target = make_tensor(spec, "output")
        if tensor.numel():
            plan.copy(tensor.window, target.window)


def record(request: dict[str, Any], _: str) -> tuple[dict[str, Any], list[bytes]]:
    """The plan of the request's only workload, and the functions that it launches, all of it as data.
    @error Failure, Refused, and whatever the solution raises."""
    (workload,) = request["workloads"]
    jobs, current = prepared(request)
    try:
        entry = load(request)
        return recorded(entry, request, workload, jobs, current), []
    finally:
        if errors.first_refusal is not None:  # whatever the solution has made of it
            raise errors.first_refusal


def record_all(request: dict[str, Any], _: str) -> tuple[dict[str, Any], list[bytes]]:
    """The same of workloads that differ in values alone, one after the other; null in place of one that fails here, or that uses
    what an earlier call has left. @error as record, of the module."""
    jobs, current = prepared(request)
    entry = load(request)
    if errors.first_refusal is not None:
        raise errors.first_refusal
    found: list[dict[str, Any] | None] = []
    for workload in request["workloads"]:
        one = None
        try:
            one = recorded(entry, request, workload, jobs, current)
        except BaseException:  # each of these is recorded again, alone, and says then what is wrong
            pass
        found.append(one if errors.first_refusal is None else None)
        errors.reset_refusal()
        current = new_session(request)
    return {"recorded": found}, []


def new_session(request: dict[str, Any]) -> session.Session:
    current = session.Session(session.NoPlan(), request["device"], request["configurations"], request["limits"]["configurations"])
    state.begin(current)
    return current


def prepared(request: dict[str, Any]) -> tuple[hooks.Jobs, session.Session]:
    jobs = hooks.Jobs(request["limits"]["kernels"])
    hooks.install(jobs, request["arch"])
    return jobs, new_session(request)


def recorded(entry: Callable, request: dict[str, Any], workload: dict[str, Any], jobs: hooks.Jobs, current: session.Session) -> dict[str, Any]:
    request = {**request, "convention": convention_of(entry, request)}
    plan = current.sink = Plan(workload["name"], request["limits"])
    value, _ = call(entry, request, workload)
    if request["convention"] == "value":
        take_outputs(plan, value, workload["outputs"])
    return {"plan": plan.json(current.reads), "functions": jobs.functions.forms, "choices": current.choices, "findings": current.findings}


def outcome(request: dict[str, Any], folder: str, run: Callable) -> tuple[dict[str, Any], list[bytes]]:
    """The frame that is sent to the server: a result or an error."""
    try:
        value, blobs = run(request, folder)
        return {"ok": value}, blobs
    except Refused as refusal:
        failure = refusal.failure
    except Failure as error:
        failure = error
    except BaseException as error:  # SystemExit and KeyboardInterrupt as well: the solution's own
        failure = errors.first_refusal.failure if errors.first_refusal else errors.from_exception(error)
    return {"error": failure.json()}, []


__all__ = ["outcome", "record", "refuse"]
