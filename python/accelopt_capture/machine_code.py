# SPDX-License-Identifier: Apache-2.0
"""Machine code that is kept from request to request, so that a further set of inputs costs no compilation. It is kept by the
solution's files: a solution that got something wrong into it would find it in its own captures alone."""

from __future__ import annotations

import collections
import hashlib
import json
from typing import Any

from . import answer
from .compiling import Compiled
from .errors import Failure

MOST_KEPT_BYTES = 256 << 20
MOST_KERNELS = 4096  # of one solution
DECIDING = ("files", "arch", "device", "limits")
# A kernel that fails like this fails again; what was not compiled in time may be the machine's fault.
LASTING = ("compile", "refused")


class Kept:
    """By solution: a kernel's function, specialization and options (hooks.Jobs) to what came out."""

    def __init__(self, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.solutions: collections.OrderedDict[str, dict[str, Compiled | Failure]] = collections.OrderedDict()

    def of(self, request: dict[str, Any]) -> dict[str, Compiled | Failure]:
        key = key_of(request)
        if key in self.solutions:
            self.solutions.move_to_end(key)
        return self.solutions.get(key, {})

    def keep(self, request: dict[str, Any], compiled: Any, blobs: list[bytes]) -> None:
        """What a process says that it compiled. @error Failure: crashed, it is not of the form."""
        read = {}
        for one in answer.listed(compiled, "compiled", request["limits"]["kernels"]):
            key, result = read_one(one, blobs)
            read[key] = result
        own = self.solutions.setdefault(key_of(request), {})
        if len(own) + len(read) > MOST_KERNELS:
            return
        for key, result in read.items():
            self.bytes += size_of(result) - (size_of(own[key]) if key in own else 0)
            own[key] = result
        while self.bytes > self.most_bytes and self.solutions:
            _, gone = self.solutions.popitem(last=False)
            self.bytes -= sum(map(size_of, gone.values()))


def key_of(request: dict[str, Any]) -> str:
    parts = {name: request[name] for name in DECIDING}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def size_of(result: Compiled | Failure) -> int:
    return 1024 + (len(result.cubin) + len(result.ptxas) if isinstance(result, Compiled) else len(result.message))


def described(new: dict[str, Compiled | Failure], blobs: list[bytes]) -> list[dict[str, Any]]:
    """What was compiled, with machine code by its place in the answer."""
    places = {blob: place for place, blob in enumerate(blobs)}
    found: list[dict[str, Any]] = []
    for key, result in new.items():
        if isinstance(result, Failure):
            if result.kind in LASTING or result.where.get("call") == "compile_s":
                found.append({"key": key, "error": result.json()})
        elif result.cubin in places:
            found.append({"key": key, "cubin": places[result.cubin], "metadata": result.metadata, "ptxas": result.ptxas})
    return found


def read_one(one: Any, blobs: list[bytes]) -> tuple[str, Compiled | Failure]:
    answer.need(isinstance(one, dict) and isinstance(one.get("key"), str) and len(one["key"]) == 64, "compiled")
    if "error" in one:
        return one["key"], answer.failure_of(one["error"])
    answer.has_form(one, {"key": str, "cubin": int, "metadata": dict, "ptxas": str}, "compiled")
    answer.need(0 <= one["cubin"] < len(blobs), "compiled")
    return one["key"], Compiled(one["metadata"], one["ptxas"], blobs[one["cubin"]])
