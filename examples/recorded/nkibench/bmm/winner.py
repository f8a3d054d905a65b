# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs, rhs):
    B, M, K = lhs.shape
    N = rhs.shape[2]
    y = nl.ndarray((B, M, N), dtype=lhs.dtype, buffer=nl.shared_hbm)
    tiles = (N + 511) // 512
    rows = nl.arange(128)[:, None]
    depth = nl.arange(64)[:, None]
    inner = nl.arange(64)[None, :]
    columns = nl.arange(512)[None, :]
    all_columns = nl.arange(N)[None, :]
    for b in nl.affine_range(B):
        right = nl.ndarray((nl.par_dim(64), 512 * tiles), dtype=nl.float32, buffer=nl.sbuf)
        right[depth, all_columns] = nl.load(rhs[b, depth, all_columns])
        for i in nl.affine_range((M + 127) // 128):
            left = nl.load(lhs[b, 128 * i + rows, inner], mask=128 * i + rows < M)
            turned = nisa.nc_transpose(left)
            stationary = nl.copy(turned)
            result = nl.ndarray((nl.par_dim(128), 512 * tiles), dtype=nl.float32, buffer=nl.sbuf)
            for j in nl.affine_range(tiles):
                product = nisa.nc_matmul(stationary, right[depth, 512 * j + columns])
                result[rows, 512 * j + columns] = nl.copy(product)
            nl.store(y[b, 128 * i + rows, all_columns], result[rows, all_columns], mask=128 * i + rows < M)
    return y
