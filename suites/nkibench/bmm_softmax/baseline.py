# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs, rhs):
    B, M, K = lhs.shape
    N = rhs.shape[2]
    y = nl.ndarray((B, M, N), dtype=lhs.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    depth = nl.arange(64)[:, None]
    inner = nl.arange(64)[None, :]
    columns = nl.arange(512)[None, :]
    blocks = (N + 511) // 512
    for b in nl.affine_range(B):
        for i in nl.affine_range((M + 127) // 128):
            scores = nl.ndarray((blocks, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
            powers = nl.ndarray((blocks, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
            largest = nl.full((128, 1), -3.0e38, dtype=nl.float32, buffer=nl.sbuf)
            total = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
            for j in nl.sequential_range(blocks):
                left = nl.load(lhs[b, 128 * i + rows, inner], mask=128 * i + rows < M)
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving = nl.load(rhs[b, depth, 512 * j + columns], mask=512 * j + columns < N)
                product = nisa.nc_matmul(stationary, moving)
                scores[j] = nl.copy(product)
                here = nisa.tensor_reduce(nl.max, scores[j], axis=[1], mask=512 * j + columns < N)
                largest[...] = nl.maximum(largest, here)
            for j in nl.sequential_range(blocks):
                shifted = nl.subtract(scores[j], largest)
                powers[j] = nl.exp(shifted)
                part = nisa.tensor_reduce(nl.add, powers[j], axis=[1], mask=512 * j + columns < N)
                total[...] = nl.add(total, part)
            share = nisa.reciprocal(total)
            for j in nl.affine_range(blocks):
                result = nl.multiply(powers[j], share)
                nl.store(y[b, 128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
