# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    M, N = x.shape
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    width = min(N, 7168)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(width)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + width - 1) // width):
            inside = (128 * i + rows < M) & (width * j + columns < N)
            tile = nl.load(x[128 * i + rows, width * j + columns], mask=inside)
            result = nisa.activation(nl.silu, tile, mask=inside)
            nl.store(y[128 * i + rows, width * j + columns], result, mask=inside)
    return y
