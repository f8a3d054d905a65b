# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(theta, m, v, g):
    M, N = theta.shape
    theta_new = nl.ndarray((M, N), dtype=theta.dtype, buffer=nl.shared_hbm)
    width = min(N, 2048)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(width)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + width - 1) // width):
            inside = (128 * i + rows < M) & (width * j + columns < N)
            slope = nl.load(g[128 * i + rows, width * j + columns], mask=inside)
            second = nl.load(v[128 * i + rows, width * j + columns], mask=inside)
            squared = nisa.activation(nl.square, slope, mask=inside)
            kept_second = nl.multiply(second, 999.0, mask=inside)
            variance = nl.add(kept_second, squared, mask=inside)
            root = nisa.activation(nl.sqrt, variance, mask=inside)
            divisor = nl.add(root, 1e-8, mask=inside)
            inverse = nisa.reciprocal(divisor, mask=inside)
            first = nl.load(m[128 * i + rows, width * j + columns], mask=inside)
            kept_first = nl.multiply(first, 0.009, mask=inside)
            new_first = nl.multiply(slope, 0.001, mask=inside)
            moment = nl.add(kept_first, new_first, mask=inside)
            step = nl.multiply(moment, inverse, mask=inside)
            old = nl.load(theta[128 * i + rows, width * j + columns], mask=inside)
            decayed = nl.multiply(old, 0.99999, mask=inside)
            new = nl.subtract(decayed, step, mask=inside)
            nl.store(theta_new[128 * i + rows, width * j + columns], new, mask=inside)
    return theta_new
