# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs, rhs):
    K, M = lhs.shape
    N = rhs.shape[1]
    y = nl.ndarray((M, N), dtype=lhs.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + 511) // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                stationary = nl.load(lhs[128 * k + rows, 128 * i + inner], mask=128 * i + inner < M)
                moving = nl.load(rhs[128 * k + rows, 512 * j + columns], mask=512 * j + columns < N)
                sums += nisa.nc_matmul(stationary, moving)
            result = nl.copy(sums)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
