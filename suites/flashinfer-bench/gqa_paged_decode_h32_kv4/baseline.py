# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has the query heads of one sequence that share a key-value head; tl.dot wants 16 rows at least.
    sequence = tl.program_id(0)
    kv_head = tl.program_id(1)
    group = HEADS // KV_HEADS
    row = tl.arange(0, ROWS)
    dim = tl.arange(0, DIM)
    head = sequence * HEADS + kv_head * group + row
    used = row < group
    at = head[:, None] * DIM + dim[None, :]
    queries = tl.load(q + at, mask=used[:, None], other=0.0)
    scale = sm_scale * 1.4426950408889634  # exponentials are powers of two

    begin = tl.load(kv_indptr + sequence)
    end = tl.load(kv_indptr + sequence + 1)
    largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    result = tl.zeros((ROWS, DIM), dtype=tl.float32)
    for start in range(begin, end, BLOCK):
        place = start + tl.arange(0, BLOCK)
        inside = place < end
        page = tl.load(kv_indices + place, mask=inside, other=0).to(tl.int64)
        key_at = (page[:, None] * KV_HEADS + kv_head) * DIM + dim[None, :]
        keys = tl.load(k_cache + key_at, mask=inside[:, None], other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        before = tl.exp2(largest - larger)
        weights = tl.exp2(scores - larger[:, None])
        total = total * before + tl.sum(weights, axis=1)
        values = tl.load(v_cache + key_at, mask=inside[:, None], other=0.0)
        result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), values)
        largest = larger

    some = total > 0.0
    total = tl.where(some, total, 1.0)
    tl.store(output + at, (result / total[:, None]).to(tl.bfloat16), mask=used[:, None])
    tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=used)


def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse):
    batch_size, heads, dim = q.shape
    kv_heads = k_cache.shape[2]
    decode_kernel[(batch_size, kv_heads)](
        q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse,
        HEADS=heads, KV_HEADS=kv_heads, DIM=dim, ROWS=16, BLOCK=64,
    )
