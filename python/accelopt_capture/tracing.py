# SPDX-License-Identifier: Apache-2.0
"""NKI kernels: their instructions, of which python/accelopt_nki keeps the record."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from . import candidate, errors
from .compiling import limit_time
from .errors import Failure

PACKAGES = frozenset({"neuronxcc", "numpy"})
BESIDE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = [os.path.join(BESIDE, name) for name in ("accelopt_nki", "neuronxcc")]


def prepare() -> None:
    """Loads what every kernel imports, so that children inherit it."""
    sys.path[:0] = [os.path.join(BESIDE, "accelopt_nki", "standin")]
    import accelopt_nki.kernels  # noqa: F401
    import accelopt_nki.scopes  # noqa: F401
    import neuronxcc.nki  # noqa: F401
    import numpy  # noqa: F401
    errors.importable = "neuronxcc.nki, a few names of numpy"


def trace(request: dict[str, Any], _: str) -> tuple[dict[str, Any], list[bytes]]:
    """In the kernel's process. @error Failure, and whatever the kernel raises."""
    from accelopt_nki import catalogue, kernels, scopes
    from accelopt_nki import trace as tracer
    begun = time.monotonic()
    if request["sbuf_bytes"] is not None:
        kernels.use_chip(request["sbuf_bytes"])
    try:
        kernel = candidate.load(request, PACKAGES, scopes.compiled)
        tracer.kernel_files.update(errors.solution_files)
        traces = [kernels.traced(kernel, workload) for workload in request["workloads"]]
    except kernels.ContractError as error:
        raise Failure("contract", str(error)) from None
    except catalogue.NkiError as error:
        where = errors.from_exception(error).where
        if not where and error.code is not None:
            where = {"file": error.code.co_filename, "line": error.code.co_firstlineno}
        raise Failure("compile", str(error), **{**where, "call": error.name}) from None
    limit_time(0, 0)
    texts = [json.dumps(one, allow_nan=False, separators=(",", ":")).encode() for one in traces]
    return {"seconds": round(time.monotonic() - begun, 4)}, texts
