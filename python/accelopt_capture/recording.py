# SPDX-License-Identifier: Apache-2.0
"""Records what a solution does on one workload, in a process that sees no other and writes no file. What comes out is data, and
is kept: a workload that was captured is interpreted by the same record."""

from __future__ import annotations

import collections
import hashlib
import json
from typing import Any, Callable

from . import answer, errors, frames
from .errors import Failure, Refused

MOST_KEPT, MOST_KEPT_BYTES = 256, 64 << 20
MOST_TOGETHER = 32  # workloads that one process records
FIELDS = {"plan", "functions", "choices", "findings"}
DECIDING = ("files", "entry", "convention", "arguments", "arch", "device")  # with the workload, what a record depends on


class Recorder:
    def __init__(self, server: Any) -> None:
        self.server = server
        self.kept: collections.OrderedDict[str, str] = collections.OrderedDict()
        self.bytes = 0

    def record(self, request: dict[str, Any], workload: dict[str, Any], deadline: float) -> dict[str, Any]:
        """A new one. @error Failure."""
        from . import candidate
        limits = request["limits"]

        def work(folder: str) -> tuple[Any, list[bytes]]:
            limit_host(limits["host_s"])
            return candidate.outcome({**request, "workloads": [workload]}, folder, candidate.record)
        value, blobs = self.server.confined(work, limits, frames.MOST_JSON, deadline, alone=True)
        answer.need(not blobs, "its fields")
        return self.taken(request, workload, answer.opened(value))

    def record_all(self, request: dict[str, Any], deadline: float) -> list[dict[str, Any]]:
        """Of every workload. Those that differ in values alone share a process, as calls of one program would. @error Failure."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for workload in request["workloads"]:
            groups.setdefault(form_of(workload), []).append(workload)
        found: dict[str, dict[str, Any]] = {}
        for group in groups.values():
            for begin in range(0, len(group), MOST_TOGETHER):
                found |= self.record_group(request, group[begin:begin + MOST_TOGETHER], deadline)
        return [found.get(workload["name"]) or self.record(request, workload, deadline) for workload in request["workloads"]]

    def record_group(self, request: dict[str, Any], workloads: list[dict[str, Any]], deadline: float) -> dict[str, dict[str, Any]]:
        """By name, those that could be recorded together."""
        from . import candidate
        if len(workloads) < 2:
            return {}
        limits = request["limits"]

        def work(folder: str) -> tuple[Any, list[bytes]]:
            limit_host(limits["host_s"])
            return candidate.outcome({**request, "workloads": workloads}, folder, candidate.record_all)
        try:
            value, blobs = self.server.confined(work, limits, frames.MOST_JSON, deadline, alone=True)
            ok = answer.opened(value)
        except Failure:
            return {}
        answer.need(not blobs and set(ok) == {"recorded"} and isinstance(ok["recorded"], list), "its fields")
        answer.need(len(ok["recorded"]) == len(workloads), "its length")
        return {workload["name"]: self.taken(request, workload, one) for workload, one in zip(workloads, ok["recorded"]) if one is not None}

    def taken(self, request: dict[str, Any], workload: dict[str, Any], ok: Any) -> dict[str, Any]:
        """A record as a process has sent it. @error Failure: crashed, it is none."""
        answer.need(isinstance(ok, dict) and set(ok) == FIELDS, "its fields")
        plan = ok["plan"]
        answer.need(isinstance(plan, dict) and plan.get("workload") == workload["name"], "its fields")
        answer.check_common({**ok, "seconds": {}})
        self.keep(key_of(request, workload), ok)
        return ok

    def recorded(self, request: dict[str, Any], workload: dict[str, Any], deadline: float) -> dict[str, Any]:
        """The one that the workload was captured by, if it was. @error Failure."""
        everything = {**request, "configurations": "all"}
        text = self.kept.get(key_of(request, workload)) or self.kept.get(key_of(everything, workload))
        return json.loads(text) if text is not None else self.record(request, workload, deadline)

    def keep(self, key: str, recorded: dict[str, Any]) -> None:
        text = json.dumps(recorded)
        self.bytes += len(text) - len(self.kept.pop(key, ""))
        self.kept[key] = text
        while self.bytes > MOST_KEPT_BYTES or len(self.kept) > MOST_KEPT:
            self.bytes -= len(self.kept.popitem(last=False)[1])


def form_of(workload: dict[str, Any]) -> str:
    """What workloads have in common that differ in values alone."""
    inputs = [{name: item for name, item in spec.items() if name not in ("visible", "value")} for spec in workload["inputs"]]
    return json.dumps([inputs, workload["outputs"]], sort_keys=True)


def key_of(request: dict[str, Any], workload: dict[str, Any]) -> str:
    parts = {name: request[name] for name in (*DECIDING, "configurations")}
    parts["workload"] = {kind: workload[kind] for kind in ("inputs", "outputs")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def limit_host(seconds: float) -> None:
    from .compiling import CLOCK_FACTOR, limit_time
    limit_time(seconds, CLOCK_FACTOR * seconds)


def outcome(work: Callable[[], tuple[Any, list[bytes]]]) -> tuple[Any, list[bytes]]:
    """The frame that a process sends which reads a record: a result or an error."""
    try:
        value, blobs = work()
        return {"ok": value}, blobs
    except Refused as refusal:
        failure = refusal.failure
    except Failure as error:
        failure = error
    except Exception as error:
        failure = errors.from_exception(error)
        if failure.kind == "python" and "file" not in failure.where:
            where = errors.kernel_line(error)
            failure = Failure("compile", failure.message, **where) if where else answer.malformed(f"{type(error).__name__}: {error}")
    return {"error": failure.json()}, []
