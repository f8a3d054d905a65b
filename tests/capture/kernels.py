# SPDX-License-Identifier: Apache-2.0
"""Solutions that the tests capture."""

HEAD = """import torch
import triton
import triton.language as tl
"""

ADD = HEAD + """
@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)
"""

ADD_INTO = ADD + """
def run(x, y, z):
    n = x.numel()
    add[(triton.cdiv(n, 256),)](x, y, z, n, BLOCK=256)
"""

ADD_VALUE = ADD + """
def run(x, y):
    z = torch.empty_like(x)
    add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel(), BLOCK=256)
    return z
"""

COPY = HEAD + """
@triton.jit
def move(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
"""

TUNED = HEAD + """
@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 256}, num_warps=8),
                          triton.Config({"BLOCK": 512, "num_warps": 8})], key=["n"])
@triton.jit
def move(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

def run(x, y):
    n = x.numel()
    move[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
"""
