# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    a_rows = a + row[:, None].to(tl.int64) * K
    b_rows = b + column[None, :].to(tl.int64) * K
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        left = tl.load(a_rows + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b_rows + k[:, None], mask=(column[None, :] < N) & (k[:, None] < K), other=0.0)
        sums = tl.dot(left, right, sums)
    to = c + row[:, None].to(tl.int64) * N + column[None, :]
    tl.store(to, sums.to(tl.float16), mask=(row[:, None] < M) & (column[None, :] < N))


def run(a, b, c):
    M, K = a.shape
    N = b.shape[0]
    BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 64
    grid = (triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
    gemm_kernel[grid](a, b, c, M, N, K, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K, num_warps=8)
