# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def attend_block(
    x_nope, x_pe, ckv_cache, kpe_cache, kv_indices, kv_begin, start, end, visible, scale, largest, total, result,
    CKV: tl.constexpr, KPE: tl.constexpr, BLOCK: tl.constexpr, MASKED: tl.constexpr,
):
    ckv = tl.arange(0, CKV)
    kpe = tl.arange(0, KPE)
    place = start + tl.arange(0, BLOCK)
    if MASKED:
        inside = place < end
        page = tl.load(kv_indices + kv_begin + place, mask=inside, other=0).to(tl.int64)
        compressed = tl.load(ckv_cache + page[:, None] * CKV + ckv[None, :], mask=inside[:, None], other=0.0)
        rotary = tl.load(kpe_cache + page[:, None] * KPE + kpe[None, :], mask=inside[:, None], other=0.0)
    else:
        page = tl.load(kv_indices + kv_begin + place).to(tl.int64)
        compressed = tl.load(ckv_cache + page[:, None] * CKV + ckv[None, :])
        rotary = tl.load(kpe_cache + page[:, None] * KPE + kpe[None, :])
    scores = tl.dot(x_nope, tl.trans(compressed))
    scores = tl.dot(x_pe, tl.trans(rotary), scores) * scale
    if MASKED:
        scores = tl.where((place < end)[None, :] & (place[None, :] < visible[:, None]), scores, float("-inf"))
    larger = tl.maximum(largest, tl.max(scores, axis=1))
    finite = tl.where(larger == float("-inf"), 0.0, larger)  # of rows that have seen no key yet
    before = tl.exp2(largest - finite)
    weights = tl.exp2(scores - finite[:, None])
    total = total * before + tl.sum(weights, axis=1)
    result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), compressed)
    return larger, total, result


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_Q": queries, "BLOCK": block}, num_warps=warps, num_stages=stages)
        for queries, block, warps, stages in (
            (4, 16, 8, 2), (4, 32, 8, 1), (4, 32, 8, 2), (4, 32, 4, 2), (4, 64, 8, 1), (4, 64, 8, 2), (8, 32, 8, 1), (8, 32, 8, 2))
    ],
    key=[],
)
@triton.jit
def prefill_kernel(
    q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
    HEADS: tl.constexpr, CKV: tl.constexpr, KPE: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has BLOCK_Q queries of one sequence with all their heads. Those of the last queries, which have the most
    # keys, begin first.
    sequence = tl.program_id(1)
    ROWS: tl.constexpr = BLOCK_Q * HEADS
    q_begin = tl.load(qo_indptr + sequence)
    queries = tl.load(qo_indptr + sequence + 1) - q_begin
    kv_begin = tl.load(kv_indptr + sequence)
    keys = tl.load(kv_indptr + sequence + 1) - kv_begin
    first = (tl.cdiv(queries, BLOCK_Q) - 1 - tl.program_id(0)) * BLOCK_Q
    if first >= 0:
        row = tl.arange(0, ROWS)
        ckv = tl.arange(0, CKV)
        kpe = tl.arange(0, KPE)
        query = first + row // HEADS
        used = query < queries
        head = (q_begin + query).to(tl.int64) * HEADS + row % HEADS
        x_nope = tl.load(q_nope + head[:, None] * CKV + ckv[None, :], mask=used[:, None], other=0.0)
        x_pe = tl.load(q_pe + head[:, None] * KPE + kpe[None, :], mask=used[:, None], other=0.0)
        scale = sm_scale * 1.4426950408889634  # exponentials are powers of two
        visible = query + 1 + keys - queries  # keys that a query sees
        end = tl.minimum(first + BLOCK_Q + keys - queries, keys)
        whole = tl.maximum(tl.minimum(first + 1 + keys - queries, keys), 0) // BLOCK * BLOCK  # keys of blocks that all rows see

        largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((ROWS,), dtype=tl.float32)
        result = tl.zeros((ROWS, CKV), dtype=tl.float32)
        for start in range(0, whole, BLOCK):
            largest, total, result = attend_block(
                x_nope, x_pe, ckv_cache, kpe_cache, kv_indices, kv_begin, start, end, visible, scale, largest, total, result,
                CKV, KPE, BLOCK, False)
        for start in range(whole, end, BLOCK):
            largest, total, result = attend_block(
                x_nope, x_pe, ckv_cache, kpe_cache, kv_indices, kv_begin, start, end, visible, scale, largest, total, result,
                CKV, KPE, BLOCK, True)

        some = total > 0.0
        total = tl.where(some, total, 1.0)
        tl.store(output + head[:, None] * CKV + ckv[None, :], (result / total[:, None]).to(tl.bfloat16), mask=used[:, None])
        tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=used)


def run(q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse):
    total_q, heads, dim_ckv = q_nope.shape
    # How long a sequence is, the host does not know: each gets as many programs as if it had all queries.
    grid = lambda meta: (triton.cdiv(total_q, meta["BLOCK_Q"]), qo_indptr.shape[0] - 1)
    prefill_kernel[grid](
        q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
        HEADS=heads, CKV=dim_ckv, KPE=q_pe.shape[2],
    )
# accelopt configuration: 64 4 2 8
