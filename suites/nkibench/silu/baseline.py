# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    M, N = x.shape
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + 511) // 512):
            inside = (128 * i + rows < M) & (512 * j + columns < N)
            tile = nl.load(x[128 * i + rows, 512 * j + columns], mask=inside)
            power = nisa.activation(nl.exp, tile, scale=-1.0, mask=inside)
            divisor = nl.add(power, 1.0, mask=inside)
            share = nisa.reciprocal(divisor, mask=inside)
            result = nl.multiply(tile, share, mask=inside)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=inside)
    return y
