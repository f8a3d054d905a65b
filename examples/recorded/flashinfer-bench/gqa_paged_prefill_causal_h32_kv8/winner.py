# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"SPLIT": split}, num_warps=warps) for split in (1, 2, 4) for warps in (1, 2, 4)],
    key=["KEYS"],
)
@triton.jit
def one_query_kernel(
    q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse,
    KEYS: tl.constexpr, HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr,
    MAIN: tl.constexpr, TAIL: tl.constexpr, WIDE: tl.constexpr, SPLIT: tl.constexpr,
):
    # The only query of the only sequence sees all of its keys: MAIN of them in one tile, the others in a tile of TAIL.
    # A program has all scores of a head, and one part of the dimensions of its output.
    WIDTH: tl.constexpr = DIM // SPLIT
    head = tl.program_id(0)
    part = tl.program_id(1)
    kv_head = head // (HEADS // KV_HEADS)
    dim = tl.arange(0, DIM)
    column = part * WIDTH + tl.arange(0, WIDTH)
    place = tl.arange(0, MAIN)
    page = tl.load(kv_indices + place)
    if TAIL > 0:
        tail_place = MAIN + tl.arange(0, TAIL)
        tail_stored = tail_place < KEYS
        if MAIN + TAIL == KEYS:
            tail_page = tl.load(kv_indices + tail_place)
        else:
            tail_page = tl.load(kv_indices + tail_place, mask=tail_stored, other=0)
    begin = tl.load(kv_indptr)
    end = tl.load(kv_indptr + 1)
    x = tl.load(q + head * DIM + dim)

    if WIDE:
        page = page.to(tl.int64)
    row = page * (KV_HEADS * DIM) + kv_head * DIM
    k = tl.load(k_cache + (row[:, None] + dim[None, :]))
    v = tl.load(v_cache + (row[:, None] + column[None, :]))
    if TAIL > 0:
        if WIDE:
            tail_page = tail_page.to(tl.int64)
        tail_row = tail_page * (KV_HEADS * DIM) + kv_head * DIM
        tail_k_at = tail_row[:, None] + dim[None, :]
        tail_v_at = tail_row[:, None] + column[None, :]
        if MAIN + TAIL == KEYS:
            tail_k = tl.load(k_cache + tail_k_at)
            tail_v = tl.load(v_cache + tail_v_at)
        else:
            tail_k = tl.load(k_cache + tail_k_at, mask=tail_stored[:, None], other=0.0)
            tail_v = tl.load(v_cache + tail_v_at, mask=tail_stored[:, None], other=0.0)

    scaled = x.to(tl.float32) * (sm_scale * 1.4426950408889634)  # exponentials are powers of two
    scores = tl.sum(k.to(tl.float32) * scaled[None, :], axis=1)
    scores = tl.where((place >= begin) & (place < end), scores, float("-inf"))
    largest = tl.max(scores, axis=0)
    if TAIL > 0:
        tail_scores = tl.sum(tail_k.to(tl.float32) * scaled[None, :], axis=1)
        tail_seen = tail_stored & (tail_place >= begin) & (tail_place < end)
        tail_scores = tl.where(tail_seen, tail_scores, float("-inf"))
        largest = tl.maximum(largest, tl.max(tail_scores, axis=0))
    finite = tl.where(largest == float("-inf"), 0.0, largest)
    weights = tl.exp2(scores - finite)
    total = tl.sum(weights, axis=0)
    result = tl.sum(weights[:, None] * v.to(tl.float32), axis=0)
    if TAIL > 0:
        tail_weights = tl.exp2(tail_scores - finite)
        total += tl.sum(tail_weights, axis=0)
        result += tl.sum(tail_weights[:, None] * tail_v.to(tl.float32), axis=0)

    some = total > 0.0
    total = tl.where(some, total, 1.0)
    inverse = 1.0 / total
    tl.store(output + head * DIM + column, (result * inverse).to(tl.bfloat16))
    tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=part == 0)


@triton.jit
def prefill_kernel(
    q, k_cache, v_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has BLOCK_Q queries of one sequence, each with the heads that share a key-value head.
    sequence = tl.program_id(2)
    kv_head = tl.program_id(1)
    GROUP: tl.constexpr = HEADS // KV_HEADS
    ROWS: tl.constexpr = BLOCK_Q * GROUP
    q_begin = tl.load(qo_indptr + sequence)
    queries = tl.load(qo_indptr + sequence + 1) - q_begin
    kv_begin = tl.load(kv_indptr + sequence)
    keys = tl.load(kv_indptr + sequence + 1) - kv_begin
    first = tl.program_id(0) * BLOCK_Q
    if first < queries:
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

        largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((ROWS,), dtype=tl.float32)
        result = tl.zeros((ROWS, DIM), dtype=tl.float32)
        for start in range(0, end, BLOCK):
            place = start + tl.arange(0, BLOCK)
            inside = place < end
            page = tl.load(kv_indices + kv_begin + place, mask=inside, other=0).to(tl.int64)
            key_at = (page[:, None] * KV_HEADS + kv_head) * DIM + dim[None, :]
            k = tl.load(k_cache + key_at, mask=inside[:, None], other=0.0)
            scores = tl.dot(x, tl.trans(k)) * scale
            seen = inside[None, :] & (place[None, :] < visible[:, None])
            scores = tl.where(seen, scores, float("-inf"))
            larger = tl.maximum(largest, tl.max(scores, axis=1))
            finite = tl.where(larger == float("-inf"), 0.0, larger)  # of rows that have seen no key yet
            before = tl.exp2(largest - finite)
            weights = tl.exp2(scores - finite[:, None])
            total = total * before + tl.sum(weights, axis=1)
            v = tl.load(v_cache + key_at, mask=inside[:, None], other=0.0)
            result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), v)
            largest = larger

        some = total > 0.0
        total = tl.where(some, total, 1.0)
        tl.store(output + at, (result / total[:, None]).to(tl.bfloat16), mask=used[:, None])
        tl.store(lse + head, tl.where(some, largest + tl.log2(total), float("-inf")), mask=used)


def run(q, k_cache, v_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse):
    total_q, heads, dim = q.shape
    pages, page_size, kv_heads = k_cache.shape[0], k_cache.shape[1], k_cache.shape[2]
    keys = kv_indices.shape[0]
    if total_q == 1 and qo_indptr.shape[0] == 2 and page_size == 1 and 2 <= keys <= 128:
        main = 1 << (keys.bit_length() - 1)  # the largest power of two that is not above keys
        rest = keys - main
        tail = max(2, triton.next_power_of_2(rest)) if rest > 0 else 0
        grid = lambda meta: (heads, meta["SPLIT"])
        one_query_kernel[grid](
            q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse,
            KEYS=keys, HEADS=heads, KV_HEADS=kv_heads, DIM=dim,
            MAIN=main, TAIL=tail, WIDE=pages * kv_heads * dim >= 2**31,
        )
    else:
        # How long a sequence is, the host does not know: each gets as many programs as if it had all queries.
        grid = (triton.cdiv(total_q, 16), kv_heads, qo_indptr.shape[0] - 1)
        prefill_kernel[grid](
            q, k_cache, v_cache, qo_indptr, kv_indptr, kv_indices, sm_scale, output, lse,
            HEADS=heads, KV_HEADS=kv_heads, DIM=dim, BLOCK_Q=16, BLOCK=64,
        )
# accelopt configuration: 2 4
