# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"ROWS": rows, "FIRST": first}, num_warps=warps)
        for rows, warps, first in (
            (16, 4, 1),
            (32, 4, 1),
            (64, 4, 1),
            (32, 8, 1),
            (64, 8, 1),
            (16, 2, 1),
            (32, 2, 1),
            (8, 1, 1),
            (32, 4, 0),
            (64, 4, 0),
            (64, 8, 0),
        )
    ],
    key=["BATCH"],
)
@triton.jit
def rmsnorm_kernel(
    hidden_states, weight, output,
    BATCH: tl.constexpr, HIDDEN: tl.constexpr, ROWS: tl.constexpr, FIRST: tl.constexpr,
):
    POLICY: tl.constexpr = "evict_first" if FIRST else ""
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = tl.arange(0, ROWS)
    column = tl.arange(0, HIDDEN)
    at = row[:, None] * HIDDEN + column[None, :]
    source = hidden_states + first * HIDDEN
    target = output + first * HIDDEN
    if BATCH % ROWS == 0:
        x = tl.load(source + at, eviction_policy=POLICY).to(tl.float32)
    else:
        inside = (first + row < BATCH)[:, None]
        x = tl.load(source + at, mask=inside, other=0.0, eviction_policy=POLICY).to(tl.float32)
    w = tl.load(weight + column, eviction_policy="evict_last").to(tl.float32)
    inverse_rms = 1.0 / tl.sqrt(tl.sum(x * x, axis=1) / HIDDEN + 1e-6)
    y = (x * inverse_rms[:, None] * w[None, :]).to(tl.bfloat16)
    if BATCH % ROWS == 0:
        tl.store(target + at, y)
    else:
        tl.store(target + at, y, mask=(first + row < BATCH)[:, None])


def run(hidden_states, weight, output):
    batch_size, hidden_size = hidden_states.shape
    grid = lambda meta: (triton.cdiv(batch_size, meta["ROWS"]),)
    rmsnorm_kernel[grid](hidden_states, weight, output, BATCH=batch_size, HIDDEN=hidden_size)
# accelopt configuration: 0 32 4
