# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def attend_block(
    x, k, v, key_base, kv_head, start, end, visible, scale, largest, total, result,
    KV_HEADS: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, MASKED: tl.constexpr,
):
    dim = tl.arange(0, DIM)
    place = start + tl.arange(0, BLOCK)
    token = (key_base + place).to(tl.int64)
    key_at = (token[:, None] * KV_HEADS + kv_head) * DIM + dim[None, :]
    if MASKED:
        inside = place < end
        tile = tl.load(k + key_at, mask=inside[:, None], other=0.0)
    else:
        tile = tl.load(k + key_at)
    scores = tl.dot(x, tl.trans(tile)) * scale
    if MASKED:
        scores = tl.where((place < end)[None, :] & (place[None, :] < visible[:, None]), scores, float("-inf"))
    larger = tl.maximum(largest, tl.max(scores, axis=1))
    finite = tl.where(larger == float("-inf"), 0.0, larger)  # of rows that have seen no key yet
    before = tl.exp2(largest - finite)
    weights = tl.exp2(scores - finite[:, None])
    total = total * before + tl.sum(weights, axis=1)
    if MASKED:
        tile = tl.load(v + key_at, mask=(place < end)[:, None], other=0.0)
    else:
        tile = tl.load(v + key_at)
    result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), tile)
    return larger, total, result


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_Q": queries, "BLOCK": block}, num_warps=warps, num_stages=stages)
        for queries, block, warps, stages in (
            (8, 64, 4, 2), (8, 64, 4, 3), (8, 128, 4, 2), (16, 64, 8, 2), (16, 64, 8, 3), (16, 128, 8, 2), (16, 64, 4, 2), (32, 64, 8, 2))
    ],
    key=[],
)
@triton.jit
def prefill_kernel(
    q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has BLOCK_Q queries of one sequence, each with the heads that share a key-value head. Those of the last
    # queries, which have the most keys, begin first.
    sequence = tl.program_id(2)
    kv_head = tl.program_id(1)
    GROUP: tl.constexpr = HEADS // KV_HEADS
    ROWS: tl.constexpr = BLOCK_Q * GROUP
    q_begin = tl.load(qo_indptr + sequence)
    queries = tl.load(qo_indptr + sequence + 1) - q_begin
    kv_begin = tl.load(kv_indptr + sequence)
    keys = tl.load(kv_indptr + sequence + 1) - kv_begin
    first = (tl.cdiv(queries, BLOCK_Q) - 1 - tl.program_id(0)) * BLOCK_Q
    if first >= 0:
        row = tl.arange(0, ROWS)
        dim = tl.arange(0, DIM)
        query = first + row // GROUP
        used = query < queries
        head = (q_begin + query).to(tl.int64) * HEADS + kv_head * GROUP + row % GROUP
        at = head[:, None] * DIM + dim[None, :]
        x = tl.load(q + at, mask=used[:, None], other=0.0)
        scale = sm_scale * 1.4426950408889634  # exponentials are powers of two
        visible = query + 1 + keys - queries  # keys that a query sees
        end = tl.minimum(first + BLOCK_Q + keys - queries, keys)
        whole = tl.maximum(tl.minimum(first + 1 + keys - queries, keys), 0) // BLOCK * BLOCK  # keys of blocks that all rows see

        largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((ROWS,), dtype=tl.float32)
        result = tl.zeros((ROWS, DIM), dtype=tl.float32)
        for start in range(0, whole, BLOCK):
            largest, total, result = attend_block(
                x, k, v, kv_begin, kv_head, start, end, visible, scale, largest, total, result, KV_HEADS, DIM, BLOCK, False)
        for start in range(whole, end, BLOCK):
            largest, total, result = attend_block(
                x, k, v, kv_begin, kv_head, start, end, visible, scale, largest, total, result, KV_HEADS, DIM, BLOCK, True)

        some = total > 0.0
        total = tl.where(some, total, 1.0)
        tl.store(output + at, (result / total[:, None]).to(tl.bfloat16), mask=used[:, None])
        tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=used)


def run(q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse):
    total_q, heads, dim = q.shape
    kv_heads = k.shape[1]
    # How long a sequence is, the host does not know: each gets as many programs as if it had all queries.
    grid = lambda meta: (triton.cdiv(total_q, meta["BLOCK_Q"]), kv_heads, qo_indptr.shape[0] - 1)
    prefill_kernel[grid](
        q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse, HEADS=heads, KV_HEADS=kv_heads, DIM=dim,
    )
# accelopt configuration: 64 16 2 4
