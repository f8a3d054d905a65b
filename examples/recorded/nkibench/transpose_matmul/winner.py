# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs, rhs):
    K, M = lhs.shape
    N = rhs.shape[1]
    y = nl.ndarray((M, N), dtype=lhs.dtype, buffer=nl.shared_hbm)
    blocks = 4 if M % 512 == 0 else 1
    width = 128 * blocks
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    wide = nl.arange(width)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + width - 1) // width):
        left = nl.ndarray((K // 128, nl.par_dim(128), width), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.affine_range(K // 128):
            left[k] = nl.load(lhs[128 * k + rows, width * i + wide], mask=width * i + wide < M)
        for j in nl.affine_range((N + 511) // 512):
            sums = nl.zeros((blocks, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                moving = nl.load(rhs[128 * k + rows, 512 * j + columns], mask=512 * j + columns < N)
                for s in nl.affine_range(blocks):
                    sums[s] += nisa.nc_matmul(left[k, rows, 128 * s + inner], moving)
            for s in nl.affine_range(blocks):
                result = nl.copy(sums[s])
                nl.store(y[width * i + 128 * s + rows, 512 * j + columns], result,
                         mask=(width * i + 128 * s + rows < M) & (512 * j + columns < N))
    return y
