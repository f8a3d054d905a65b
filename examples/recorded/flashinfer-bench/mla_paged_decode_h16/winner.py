# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl

SPLITS = 8


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
        for block, warps, stages in ((32, 4, 2), (32, 4, 3), (32, 8, 3), (64, 4, 2), (64, 8, 2))
    ],
    key=[],
)
@triton.jit
def decode_kernel(
    q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, results, largests, totals,
    HEADS: tl.constexpr, CKV: tl.constexpr, KPE: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):
    # A program has a part of the keys of one sequence, with all heads of its query.
    query = tl.program_id(0)
    part = tl.program_id(1)
    first = tl.load(kv_indptr + query)
    last = tl.load(kv_indptr + query + 1)
    share = tl.cdiv(tl.cdiv(last - first, PARTS), BLOCK) * BLOCK
    begin = first + part * share
    end = tl.minimum(begin + share, last)

    head = query.to(tl.int64) * HEADS + tl.arange(0, HEADS)
    ckv = tl.arange(0, CKV)
    kpe = tl.arange(0, KPE)
    x_nope = tl.load(q_nope + head[:, None] * CKV + ckv[None, :])
    x_pe = tl.load(q_pe + head[:, None] * KPE + kpe[None, :])
    scale = sm_scale * 1.4426950408889634  # exponentials are powers of two
    largest = tl.full((HEADS,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((HEADS,), dtype=tl.float32)
    result = tl.zeros((HEADS, CKV), dtype=tl.float32)
    for start in range(begin, end, BLOCK):
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

    to = head * PARTS + part
    tl.store(results + to[:, None] * CKV + ckv[None, :], result)
    tl.store(largests + to, largest)
    tl.store(totals + to, total)


@triton.jit
def merge_kernel(results, largests, totals, output, lse, CKV: tl.constexpr, PARTS: tl.constexpr, COLUMNS: tl.constexpr):
    head = tl.program_id(0)
    part = tl.arange(0, PARTS)
    ckv = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    largest = tl.load(largests + head * PARTS + part)
    total = tl.load(totals + head * PARTS + part)
    most = tl.max(largest, axis=0)
    finite = tl.where(most == float("-inf"), 0.0, most)
    weight = tl.exp2(largest - finite)
    all_total = tl.sum(weight * total, axis=0)
    parts = tl.load(results + (head * PARTS + part)[:, None] * CKV + ckv[None, :])
    result = tl.sum(parts * weight[:, None], axis=0)
    some = all_total > 0.0
    divisor = tl.where(some, all_total, 1.0)
    tl.store(output + head * CKV + ckv, (result / divisor).to(tl.bfloat16))
    if tl.program_id(1) == 0:
        tl.store(lse + head, tl.where(some, finite + tl.log2(divisor), float("-inf")))


def run(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, output, lse):
    batch_size, heads, dim_ckv = q_nope.shape
    results = torch.empty((batch_size, heads, SPLITS, dim_ckv), dtype=torch.float32, device=q_nope.device)
    largests = torch.empty((batch_size, heads, SPLITS), dtype=torch.float32, device=q_nope.device)
    totals = torch.empty((batch_size, heads, SPLITS), dtype=torch.float32, device=q_nope.device)
    decode_kernel[(batch_size, SPLITS)](
        q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale, results, largests, totals,
        HEADS=heads, CKV=dim_ckv, KPE=q_pe.shape[2], PARTS=SPLITS,
    )
    merge_kernel[(batch_size * heads, dim_ckv // 128)](results, largests, totals, output, lse, CKV=dim_ckv, PARTS=SPLITS, COLUMNS=128, num_warps=1)
# accelopt configuration: 64 2 4
