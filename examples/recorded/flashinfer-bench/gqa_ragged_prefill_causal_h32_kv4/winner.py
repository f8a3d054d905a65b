# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def absorb(
    x, k_base, v_base, start, end, limit, scale, largest, total, result,
    STRIDE: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, MASKED: tl.constexpr,
):
    # One block of keys; without MASKED every row sees all of them.
    place = start + tl.arange(0, BLOCK)
    offset = place[:, None] * STRIDE + tl.arange(0, DIM)[None, :]
    if MASKED:
        tile = tl.load(k_base + offset, mask=(place < end)[:, None], other=0.0)
    else:
        tile = tl.load(k_base + offset)
    scores = tl.dot(x, tl.trans(tile))
    if MASKED:
        scores = tl.where(place[None, :] < limit[:, None], scores, float("-inf"))
    larger = tl.maximum(largest, tl.max(scores, axis=1) * scale)
    if MASKED:
        finite = tl.where(larger == float("-inf"), 0.0, larger)  # of rows that have seen no key yet
    else:
        finite = larger
    before = tl.exp2(largest - finite)
    weights = tl.exp2(scores * scale - finite[:, None])
    total = total * before + tl.sum(weights, axis=1)
    if MASKED:
        values = tl.load(v_base + offset, mask=(place < end)[:, None], other=0.0)
    else:
        values = tl.load(v_base + offset)
    result = tl.dot(weights.to(tl.bfloat16), values, result * before[:, None])
    return larger, total, result


def _config(block_q, block, split, warps, stages):
    return triton.Config({"BLOCK_Q": block_q, "BLOCK": block, "SPLIT": split}, num_warps=warps, num_stages=stages)


@triton.autotune(
    configs=[
        _config(16, 64, True, 4, 2),
        _config(16, 64, False, 4, 2),
        _config(16, 32, True, 4, 3),
        _config(16, 64, True, 8, 2),
        _config(16, 64, True, 8, 3),
        _config(16, 128, True, 8, 2),
        _config(16, 128, False, 8, 2),
        _config(32, 64, True, 8, 3),
        _config(32, 64, False, 8, 3),
        _config(8, 64, True, 4, 2),
    ],
    key=["TOTAL_Q"],
)
@triton.jit
def prefill_kernel(
    q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse, TOTAL_Q, SEQUENCES,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, SEQUENCES_2: tl.constexpr, SORT: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK: tl.constexpr, SPLIT: tl.constexpr,
):
    # A program has BLOCK_Q queries of one sequence, each with the heads that share a key-value head.
    GROUP: tl.constexpr = HEADS // KV_HEADS
    ROWS: tl.constexpr = BLOCK_Q * GROUP
    STRIDE: tl.constexpr = KV_HEADS * DIM
    pid = tl.program_id(0)
    kv_head = pid % KV_HEADS
    number = pid // KV_HEADS

    # Which tile it is: sequences with many keys come first, and of each its last queries.
    ids = tl.arange(0, SEQUENCES_2)
    there = ids < SEQUENCES
    all_queries = tl.load(qo_indptr + ids + 1, mask=there, other=0) - tl.load(qo_indptr + ids, mask=there, other=0)
    all_tiles = (all_queries + (BLOCK_Q - 1)) // BLOCK_Q
    if SORT:
        all_keys = tl.load(kv_indptr + ids + 1, mask=there, other=0) - tl.load(kv_indptr + ids, mask=there, other=0)
        ahead = all_keys[:, None] > all_keys[None, :]
        tie = (all_keys[:, None] == all_keys[None, :]) & (ids[:, None] < ids[None, :])
        starts = tl.sum(tl.where(ahead | tie, all_tiles[:, None], 0), axis=0)
    else:
        starts = tl.cumsum(all_tiles, axis=0) - all_tiles
    here = (starts <= number) & (number < starts + all_tiles)
    found = tl.sum(tl.where(here, ids + 1, 0), axis=0)
    if found > 0:
        sequence = found - 1
        within = number - tl.sum(tl.where(here, starts, 0), axis=0)
        q_begin = tl.load(qo_indptr + sequence)
        queries = tl.load(qo_indptr + sequence + 1) - q_begin
        kv_begin = tl.load(kv_indptr + sequence)
        keys = tl.load(kv_indptr + sequence + 1) - kv_begin
        tiles = (queries + (BLOCK_Q - 1)) // BLOCK_Q
        first = (tiles - 1 - within) * BLOCK_Q

        row = tl.arange(0, ROWS)
        dim = tl.arange(0, DIM)
        query = first + row // GROUP
        used = query < queries
        head_base = (q_begin + first).to(tl.int64) * HEADS + kv_head * GROUP
        head = (row // GROUP) * HEADS + row % GROUP
        at = head[:, None] * DIM + dim[None, :]
        x = tl.load(q + head_base * DIM + at, mask=used[:, None], other=0.0)
        scale = sm_scale * 1.4426950408889634  # exponentials are powers of two
        end = tl.minimum(first + BLOCK_Q + keys - queries, keys)
        limit = tl.minimum(query + 1 + keys - queries, end)  # keys that a row sees
        kv_base = (kv_begin.to(tl.int64) * KV_HEADS + kv_head) * DIM
        k_base = k + kv_base
        v_base = v + kv_base

        largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((ROWS,), dtype=tl.float32)
        result = tl.zeros((ROWS, DIM), dtype=tl.float32)
        if SPLIT:
            # Blocks that the first query sees whole, and so all of them; then the rest.
            full = tl.maximum(first + 1 + keys - queries, 0) // BLOCK * BLOCK
            for start in range(0, full, BLOCK):
                largest, total, result = absorb(
                    x, k_base, v_base, start, end, limit, scale, largest, total, result, STRIDE, DIM, BLOCK, False
                )
            for start in range(full, end, BLOCK):
                largest, total, result = absorb(
                    x, k_base, v_base, start, end, limit, scale, largest, total, result, STRIDE, DIM, BLOCK, True
                )
        else:
            for start in range(0, end, BLOCK):
                largest, total, result = absorb(
                    x, k_base, v_base, start, end, limit, scale, largest, total, result, STRIDE, DIM, BLOCK, True
                )

        some = total > 0.0
        total = tl.where(some, total, 1.0)
        result = result * (1.0 / total)[:, None]
        tl.store(output + head_base * DIM + at, result.to(tl.bfloat16), mask=used[:, None])
        tl.store(lse + head_base + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=used)


def run(q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse):
    total_q, heads, dim = q.shape
    kv_heads = k.shape[1]
    sequences = qo_indptr.shape[0] - 1
    sequences_2 = max(16, triton.next_power_of_2(sequences))
    # How long a sequence is, the host does not know; but all of them together have no more tiles than this.
    grid = lambda meta: (kv_heads * (triton.cdiv(total_q, meta["BLOCK_Q"]) + sequences),)
    prefill_kernel[grid](
        q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse, total_q, sequences,
        HEADS=heads, KV_HEADS=kv_heads, DIM=dim, SEQUENCES_2=sequences_2, SORT=sequences_2 <= 64,
    )
# accelopt configuration: 2
