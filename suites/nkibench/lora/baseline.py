# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w, a, b):
    M, K = x.shape
    N = w.shape[1]
    R = a.shape[1]
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    rank_rows = nl.arange(R)[:, None]
    rank = nl.arange(R)[None, :]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        low = nl.zeros((128, R), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(K // 128):
            first = nl.load(x[128 * i + rows, 128 * k + inner], mask=128 * i + rows < M)
            first_turned = nisa.nc_transpose(first)
            first_stationary = nl.copy(first_turned)
            factor = nl.load(a[128 * k + rows, rank])
            low += nisa.nc_matmul(first_stationary, factor)
        low_rank = nl.copy(low)
        low_turned = nisa.nc_transpose(low_rank)
        low_stationary = nl.copy(low_turned)
        for j in nl.affine_range((N + 511) // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(x[128 * i + rows, 128 * k + inner], mask=128 * i + rows < M)
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving = nl.load(w[128 * k + rows, 512 * j + columns], mask=512 * j + columns < N)
                sums += nisa.nc_matmul(stationary, moving)
            other = nl.load(b[rank_rows, 512 * j + columns], mask=512 * j + columns < N)
            adapted = nisa.nc_matmul(low_stationary, other)
            dense = nl.copy(sums)
            result = nl.add(dense, adapted)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
