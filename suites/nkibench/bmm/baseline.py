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
    for b in nl.affine_range(B):
        for i in nl.affine_range((M + 127) // 128):
            for j in nl.affine_range((N + 511) // 512):
                left = nl.load(lhs[b, 128 * i + rows, inner], mask=128 * i + rows < M)
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving = nl.load(rhs[b, depth, 512 * j + columns], mask=512 * j + columns < N)
                product = nisa.nc_matmul(stationary, moving)
                result = nl.copy(product)
                nl.store(y[b, 128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
