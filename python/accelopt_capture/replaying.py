# SPDX-License-Identifier: Apache-2.0
"""Carries out again what was recorded, op by op: in another plan, to be compiled, or in memory, by Triton's interpreter. The
host function does not run again, so that what is verified is what was captured. A record is hostile: what it says of tensors
is checked, and what follows from a launch (specialization, parameters) is found out anew."""

from __future__ import annotations

import base64
from typing import Any

import triton
import triton.language as tl

from . import answer, session, state
from .describing import OPTIONS
from .dtypes import BY_NAME
from .errors import Failure
from .rebuilding import Functions
from .shapes import contiguous_strides, numel
from .storage import MOST_BYTES, Storage, Window
from .tensor import Tensor


class Replay:
    def __init__(self, request: dict[str, Any], workload: dict[str, Any], recorded: dict[str, Any], sink: Any) -> None:
        self.functions = Functions(request["files"], recorded["functions"])
        self.recorded, self.request, self.sink = recorded, request, sink
        state.session().sink = sink
        self.storages: dict[str, Storage] = {}
        specs = {spec["name"]: ("inout" if spec.get("inout") else "input", spec) for spec in workload["inputs"] if "shape" in spec}
        specs |= {spec["name"]: ("output", spec) for spec in workload["outputs"]}
        for buffer in recorded["plan"]["buffers"]:
            name = buffer["name"]
            if name in specs:
                kind, spec = specs.pop(name)
                self.storage(name, kind, spec["dtype"], numel(spec["shape"]))
            elif isinstance(name, str) and name.startswith("%") and name not in self.storages and 0 <= buffer["bytes"] <= MOST_BYTES:
                self.storage(name, "scratch", buffer["dtype"], -(-buffer["bytes"] // BY_NAME[buffer["dtype"]].itemsize))
            else:
                raise ValueError("a buffer that is not there, or there twice")
        for name, (kind, spec) in specs.items():
            self.storage(name, kind, spec["dtype"], numel(spec["shape"]))

    def storage(self, name: str, kind: str, dtype: str, count: int) -> None:
        storage = self.storages[name] = Storage(BY_NAME[dtype], count, kind, name)
        self.sink.place(storage)
        self.sink.declare(storage)

    def window(self, view: dict[str, Any]) -> Window:
        """@error ValueError: it is not within its buffer."""
        storage, dtype = self.storages[view["buffer"]], BY_NAME[view["dtype"]]
        shape, strides, offset = tuple(view["shape"]), tuple(view["strides"]), view["offset"]
        last = sum((extent - 1) * stride for extent, stride in zip(shape, strides))
        whole = all(extent >= 0 for extent in shape) and all(stride >= 0 for stride in strides) and len(shape) == len(strides)
        if not whole or offset < 0 or (numel(shape) and offset + (last + 1) * dtype.itemsize > storage.nbytes):
            raise ValueError("a view beyond its buffer")
        return Window(storage, offset, dtype, shape, strides)

    def run(self) -> None:
        self.ops(self.recorded["plan"]["ops"])

    def ops(self, ops: list[dict[str, Any]], inside: str = "plan") -> None:
        for op in ops:
            kind = op["op"]
            views = {name: self.window(op[name]) for name in ("from", "index", "to") if name in op}
            if kind == "launch":
                self.launch(op)
            elif kind == "choose" and inside == "plan":
                self.choose(op)
            elif kind == "fill":
                self.sink.fill(views["to"], op["bits"])
            elif kind == "copy":
                self.sink.copy(views["from"], views["to"])
            elif kind == "gather":
                self.sink.gather(views["from"], views["index"], views["to"])
            elif kind == "upload":
                self.sink.upload(views["to"], base64.b64decode(op["data"], validate=True))
            elif kind in ("sum", "abs_amax"):
                self.sink.reduce(kind, views["from"], views["to"], op["dims"])
            else:
                raise ValueError(f"an op {kind}")

    def choose(self, op: dict[str, Any]) -> None:
        """The ops of the configuration that is asked for, or of the first. @error Failure: it could not be recorded."""
        alternatives, configurations = op["alternatives"], self.request["configurations"]
        if isinstance(configurations, dict):
            wanted = configurations.get(self.recorded["choices"][op["choice"]]["name"], alternatives[0]["configuration"])
            alternatives = [alternative for alternative in alternatives if alternative["configuration"] == wanted]
            if not alternatives:
                raise Failure("request", f"configurations: there is no {wanted}")
        if "error" in alternatives[0]:
            raise answer.failure_of(alternatives[0]["error"])
        self.ops(alternatives[0]["ops"], "alternative")

    def launch(self, op: dict[str, Any]) -> None:
        described = op["described"]
        function = self.functions.function(described["function"])
        options = {name: self.functions.value(described["options"][name]) for name in OPTIONS if name in described["options"]}
        self.sink.line = op.get("line")
        function.run(*(self.argument(value) for value in described["values"]), grid=tuple(op["grid"]), warmup=False, **options)

    def argument(self, form: Any) -> Any:
        if isinstance(form, dict) and "view" in form:
            window = self.window(form["view"])
            return Tensor(window.storage, window.offset // window.dtype.itemsize, window.dtype, window.shape, window.strides)
        if isinstance(form, dict) and "empty" in form:
            storage = Storage(BY_NAME[form["empty"]], 0)
            self.sink.place(storage)
            return Tensor(storage, 0, storage.dtype, (0,), contiguous_strides((0,)))
        if isinstance(form, dict) and "reinterpreted" in form:
            return triton.reinterpret(self.argument(form["reinterpreted"]), tl.dtype(form["as"]))
        if isinstance(form, dict) and "descriptor" in form:
            from triton.tools.tensor_descriptor import TensorDescriptor
            return TensorDescriptor(self.argument(form["descriptor"]), form["shape"], form["strides"], form["block"], form["padding"])
        if isinstance(form, dict) and "tuple" in form:
            return tuple(self.argument(item) for item in form["tuple"])
        return self.functions.value(form)


def run(request: dict[str, Any], private: str) -> tuple[dict[str, Any], list[bytes]]:
    """By Triton's interpreter, in a process of its own. @error Failure: also that what was recorded is no plan."""
    from . import repairs
    from .memory import Memory
    repairs.install(request["arch"])
    state.begin(session.Session(session.NoPlan(), request["device"]))
    for workload, recorded in zip(request["workloads"], request["recorded"]):
        memory = Memory(workload["name"], request["folder"], private)
        Replay(request, workload, recorded, memory).run()
        memory.finish()
    return {}, []
