# SPDX-License-Identifier: Apache-2.0
"""One kernel, compiled before the first request: what Triton loads and hashes lazily is then in the server's memory."""

from __future__ import annotations

import contextlib
import io

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import autotuner, cache


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + places, mask=places < n), mask=places < n)


def version() -> str:
    """In place of Triton's own key of its cache, for which it reads and hashes itself, 400 MB. Here a cache is a folder of one request's
    own, which no other Triton ever meets."""
    return triton.__version__


def warm(folder: str) -> None:
    from triton import knobs
    from triton.compiler import ASTSource
    from triton.runtime.driver import driver

    from . import candidate, linking, replaying  # noqa: F401
    from .hooks import Driver
    if knobs.runtime.interpret:
        from . import memory, repairs  # noqa: F401
        return
    cache.triton_key = autotuner.triton_key = version
    target = GPUTarget("cuda", 90, 32)
    driver.set_active(Driver(target))
    previous = knobs.cache.dir
    knobs.cache.dir = folder
    source = ASTSource(kernel, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(3,): 128})
    with contextlib.redirect_stdout(io.StringIO()):
        triton.compile(source, target=target, options={"num_warps": 4})
    knobs.cache.dir = previous
