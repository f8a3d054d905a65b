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
        ok = answer.opened(value)
        plan = ok.get("plan")
        answer.need(not blobs and set(ok) == FIELDS and isinstance(plan, dict) and plan.get("workload") == workload["name"], "its fields")
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
        if failure.kind == "python" and "file" not in failure.where:  # no kernel's doing
            failure = answer.malformed(f"{type(error).__name__}: {error}")
    return {"error": failure.json()}, []
