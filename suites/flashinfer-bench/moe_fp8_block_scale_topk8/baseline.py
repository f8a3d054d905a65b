# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl


@triton.jit
def group_kernel(topk_ids, local_expert_offset, choices, counts, TOTAL, CAPACITY, BLOCK: tl.constexpr):
    # Lists, for one expert, the choices (token * top_k + rank) that fell on it.
    expert = tl.program_id(0)
    count = 0
    for start in range(0, TOTAL, BLOCK):
        choice = start + tl.arange(0, BLOCK)
        chosen = tl.load(topk_ids + choice, mask=choice < TOTAL, other=-1)
        mine = (chosen == expert + local_expert_offset) & (choice < TOTAL)
        place = count + tl.cumsum(mine.to(tl.int32), axis=0) - 1
        tl.store(choices + expert.to(tl.int64) * CAPACITY + place, choice, mask=mine)
        count += tl.sum(mine.to(tl.int32), axis=0)
    tl.store(counts + expert, count)


@triton.jit
def up_kernel(
    hidden_states, hidden_scale, weights, weights_scale, choices, counts, middle,
    TOKENS, CAPACITY, HIDDEN, INTERMEDIATE, TOP_K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    # silu(up) * gate of ROWS choices of one expert, BLOCK columns: 8-bit floats are multiplied as bfloat16, which holds
    # them exactly, and a block of the sum is scaled in float32.
    expert = tl.program_id(2).to(tl.int64)
    count = tl.load(counts + expert)
    if tl.program_id(1) * ROWS < count:
        place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        used = place < count
        choice = tl.load(choices + expert * CAPACITY + place, mask=used, other=0).to(tl.int64)
        token = choice // TOP_K
        block = tl.program_id(0)
        column = block * BLOCK + tl.arange(0, BLOCK)
        hidden_blocks = HIDDEN // BLOCK
        columns_blocks = INTERMEDIATE // BLOCK
        gates = weights + (expert * 2 * INTERMEDIATE + column) * HIDDEN
        ups = gates + INTERMEDIATE.to(tl.int64) * HIDDEN
        gates_scale = weights_scale + (expert * 2 * columns_blocks + block) * hidden_blocks
        ups_scale = gates_scale + columns_blocks * hidden_blocks
        gate = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
        up = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
        for step in range(0, hidden_blocks):
            k = step * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(hidden_states + token[:, None] * HIDDEN + k[None, :], mask=used[:, None], other=0.0)
            x = x.to(tl.bfloat16)
            x_scale = tl.load(hidden_scale + step * TOKENS + token, mask=used, other=0.0)
            w = tl.load(gates[None, :] + k[:, None]).to(tl.bfloat16)
            gate += tl.dot(x, w) * (x_scale * tl.load(gates_scale + step))[:, None]
            w = tl.load(ups[None, :] + k[:, None]).to(tl.bfloat16)
            up += tl.dot(x, w) * (x_scale * tl.load(ups_scale + step))[:, None]
        result = up / (1.0 + tl.exp(-up)) * gate
        to = middle + choice[:, None] * INTERMEDIATE + column[None, :]
        tl.store(to, result.to(tl.bfloat16), mask=used[:, None])


@triton.jit
def down_kernel(
    middle, weights, weights_scale, choices, counts, results,
    CAPACITY, HIDDEN, INTERMEDIATE, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    expert = tl.program_id(2).to(tl.int64)
    count = tl.load(counts + expert)
    if tl.program_id(1) * ROWS < count:
        place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        used = place < count
        choice = tl.load(choices + expert * CAPACITY + place, mask=used, other=0).to(tl.int64)
        block = tl.program_id(0)
        column = block * BLOCK + tl.arange(0, BLOCK)
        steps = INTERMEDIATE // BLOCK
        columns = weights + (expert * HIDDEN + column) * INTERMEDIATE
        scales = weights_scale + (expert * (HIDDEN // BLOCK) + block) * steps
        sums = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
        for step in range(0, steps):
            k = step * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(middle + choice[:, None] * INTERMEDIATE + k[None, :], mask=used[:, None], other=0.0)
            w = tl.load(columns[None, :] + k[:, None]).to(tl.bfloat16)
            sums += tl.dot(x, w) * tl.load(scales + step)
        tl.store(results + choice[:, None] * HIDDEN + column[None, :], sums, mask=used[:, None])


@triton.jit
def combine_kernel(
    results, topk_ids, topk_weights, local_expert_offset, output,
    EXPERTS, HIDDEN, TOP_K: tl.constexpr, BLOCK: tl.constexpr,
):
    # The weighted sum of a token's choices, of those that this rank has computed.
    token = tl.program_id(1).to(tl.int64)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for rank in range(0, TOP_K):
        choice = token * TOP_K + rank
        expert = tl.load(topk_ids + choice) - local_expert_offset
        if (expert >= 0) & (expert < EXPERTS):
            row = tl.load(results + choice * HIDDEN + column, mask=column < HIDDEN, other=0.0)
            sums += row * tl.load(topk_weights + choice)
    tl.store(output + token * HIDDEN + column, sums.to(tl.bfloat16), mask=column < HIDDEN)


def run(
    topk_ids, topk_weights, hidden_states, hidden_states_scale, gemm1_weights, gemm1_weights_scale,
    gemm2_weights, gemm2_weights_scale, local_expert_offset, output,
):
    tokens, hidden = hidden_states.shape
    top_k = topk_ids.shape[1]
    experts = gemm1_weights.shape[0]
    intermediate = gemm2_weights.shape[2]
    rows, block = 64, 128
    choices = torch.empty((experts, tokens), dtype=torch.int32, device=output.device)
    counts = torch.empty((experts,), dtype=torch.int32, device=output.device)
    middle = torch.empty((tokens * top_k, intermediate), dtype=torch.bfloat16, device=output.device)
    results = torch.empty((tokens * top_k, hidden), dtype=torch.float32, device=output.device)
    group_kernel[(experts,)](topk_ids, local_expert_offset, choices, counts, tokens * top_k, tokens, BLOCK=1024)
    # How many tokens an expert gets, the host does not know: each gets programs for all.
    grid = (intermediate // block, triton.cdiv(tokens, rows), experts)
    up_kernel[grid](
        hidden_states, hidden_states_scale, gemm1_weights, gemm1_weights_scale, choices, counts, middle,
        tokens, tokens, hidden, intermediate, TOP_K=top_k, ROWS=rows, BLOCK=block, num_warps=8,
    )
    grid = (hidden // block, triton.cdiv(tokens, rows), experts)
    down_kernel[grid](
        middle, gemm2_weights, gemm2_weights_scale, choices, counts, results,
        tokens, hidden, intermediate, ROWS=rows, BLOCK=block, num_warps=8,
    )
    combine_kernel[(triton.cdiv(hidden, 1024), tokens)](
        results, topk_ids, topk_weights, local_expert_offset, output, experts, hidden, TOP_K=top_k, BLOCK=1024
    )
