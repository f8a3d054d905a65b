# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl

SPLITS = 8


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
        for block, warps, stages in ((32, 2, 3), (32, 4, 4), (64, 2, 3), (64, 4, 2), (64, 4, 3), (64, 4, 4), (128, 4, 2), (128, 8, 2))
    ],
    key=[],
)
@triton.jit
def decode_kernel(
    q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, results, largests, totals,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has a part of the keys of one sequence, for the query heads that share a key-value head.
    sequence = tl.program_id(0)
    kv_head = tl.program_id(1)
    part = tl.program_id(2)
    group = HEADS // KV_HEADS
    row = tl.arange(0, ROWS)
    dim = tl.arange(0, DIM)
    head = sequence * HEADS + kv_head * group + row
    used = row < group
    queries = tl.load(q + head[:, None] * DIM + dim[None, :], mask=used[:, None], other=0.0)
    scale = sm_scale * 1.4426950408889634  # exponentials are powers of two

    first = tl.load(kv_indptr + sequence)
    last = tl.load(kv_indptr + sequence + 1)
    share = tl.cdiv(tl.cdiv(last - first, PARTS), BLOCK) * BLOCK
    begin = first + part * share
    end = tl.minimum(begin + share, last)
    largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    result = tl.zeros((ROWS, DIM), dtype=tl.float32)
    for start in range(begin, end, BLOCK):
        place = start + tl.arange(0, BLOCK)
        inside = place < end
        page = tl.load(kv_indices + place, mask=inside, other=0).to(tl.int64)
        key_at = (page[:, None] * KV_HEADS + kv_head) * DIM + dim[None, :]
        keys = tl.load(k_cache + key_at, mask=inside[:, None], other=0.0)
        values = tl.load(v_cache + key_at, mask=inside[:, None], other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        before = tl.exp2(largest - larger)
        weights = tl.exp2(scores - larger[:, None])
        total = total * before + tl.sum(weights, axis=1)
        result = result * before[:, None] + tl.dot(weights.to(tl.bfloat16), values)
        largest = larger

    to = head * PARTS + part
    tl.store(results + to[:, None] * DIM + dim[None, :], result, mask=used[:, None])
    tl.store(largests + to, largest, mask=used)
    tl.store(totals + to, total, mask=used)


@triton.jit
def merge_kernel(results, largests, totals, output, lse, DIM: tl.constexpr, PARTS: tl.constexpr):
    head = tl.program_id(0)
    part = tl.arange(0, PARTS)
    dim = tl.arange(0, DIM)
    largest = tl.load(largests + head * PARTS + part)
    total = tl.load(totals + head * PARTS + part)
    most = tl.max(largest, axis=0)
    finite = tl.where(most == float("-inf"), 0.0, most)
    weight = tl.exp2(largest - finite)
    all_total = tl.sum(weight * total, axis=0)
    parts = tl.load(results + (head * PARTS + part)[:, None] * DIM + dim[None, :])
    result = tl.sum(parts * weight[:, None], axis=0)
    some = all_total > 0.0
    divisor = tl.where(some, all_total, 1.0)
    tl.store(output + head * DIM + dim, (result / divisor).to(tl.bfloat16))
    tl.store(lse + head, tl.where(some, finite + tl.log2(divisor), float("-inf")))


def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, output, lse):
    batch_size, heads, dim = q.shape
    kv_heads = k_cache.shape[2]
    results = torch.empty((batch_size, heads, SPLITS, dim), dtype=torch.float32, device=q.device)
    largests = torch.empty((batch_size, heads, SPLITS), dtype=torch.float32, device=q.device)
    totals = torch.empty((batch_size, heads, SPLITS), dtype=torch.float32, device=q.device)
    decode_kernel[(batch_size, kv_heads, SPLITS)](
        q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale, results, largests, totals,
        HEADS=heads, KV_HEADS=kv_heads, DIM=dim, ROWS=16, PARTS=SPLITS,
    )
    merge_kernel[(batch_size * heads,)](results, largests, totals, output, lse, DIM=dim, PARTS=SPLITS, num_warps=2)
# accelopt configuration: 128 2 4
