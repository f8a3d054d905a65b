# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def prefill_kernel(
    q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
    HEADS: tl.constexpr, CKV: tl.constexpr, KPE: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has one query with all its heads. Its sequence is the last that begins at the query or before.
    query = tl.program_id(0)
    sequence = 0
    while tl.load(qo_indptr + sequence + 1) <= query:
        sequence += 1
    kv_begin = tl.load(kv_indptr + sequence)
    kv_end = tl.load(kv_indptr + sequence + 1)
    end = kv_end - (tl.load(qo_indptr + sequence + 1) - 1 - query)  # later queries see as many more keys

    head = query.to(tl.int64) * HEADS + tl.arange(0, HEADS)
    ckv = tl.arange(0, CKV)
    kpe = tl.arange(0, KPE)
    x_nope = tl.load(q_nope + head[:, None] * CKV + ckv[None, :])
    x_pe = tl.load(q_pe + head[:, None] * KPE + kpe[None, :])
    scale = sm_scale * 1.4426950408889634  # exponentials are powers of two
    largest = tl.full((HEADS,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((HEADS,), dtype=tl.float32)
    result = tl.zeros((HEADS, CKV), dtype=tl.float32)
    for start in range(kv_begin, end, BLOCK):
        place = start + tl.arange(0, BLOCK)
        inside = place < end
        page = tl.load(kv_indices + place, mask=inside, other=0).to(tl.int64)
        compressed = tl.load(ckv_cache + page[:, None] * CKV + ckv[None, :], mask=inside[:, None], other=0.0)
        rotary = tl.load(kpe_cache + page[:, None] * KPE + kpe[None, :], mask=inside[:, None], other=0.0)
        scores = tl.dot(x_nope, tl.trans(compressed))
        scores = tl.dot(x_pe, tl.trans(rotary), scores) * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        before = tl.exp2(largest - larger)
        weights = tl.exp2(scores - larger[:, None])
        total = total * before + tl.sum(weights, axis=1)
        result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), compressed)
        largest = larger

    some = total > 0.0
    total = tl.where(some, total, 1.0)
    tl.store(output + head[:, None] * CKV + ckv[None, :], (result / total[:, None]).to(tl.bfloat16))
    tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")))


def run(q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse):
    total_q, heads, dim_ckv = q_nope.shape
    prefill_kernel[(total_q,)](
        q_nope, q_pe, ckv_cache, kpe_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
        HEADS=heads, CKV=dim_ckv, KPE=q_pe.shape[2], BLOCK=32,
    )
