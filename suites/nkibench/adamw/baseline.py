# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(theta, m, v, g):
    M, N = theta.shape
    theta_new = nl.ndarray((M, N), dtype=theta.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + 511) // 512):
            inside = (128 * i + rows < M) & (512 * j + columns < N)
            old = nl.load(theta[128 * i + rows, 512 * j + columns], mask=inside)
            first = nl.load(m[128 * i + rows, 512 * j + columns], mask=inside)
            second = nl.load(v[128 * i + rows, 512 * j + columns], mask=inside)
            slope = nl.load(g[128 * i + rows, 512 * j + columns], mask=inside)
            kept_first = nl.multiply(first, 0.9, mask=inside)
            new_first = nl.multiply(slope, 0.1, mask=inside)
            moment = nl.add(kept_first, new_first, mask=inside)
            kept_second = nl.multiply(second, 0.999, mask=inside)
            squared = nl.square(slope, mask=inside)
            new_second = nl.multiply(squared, 0.001, mask=inside)
            variance = nl.add(kept_second, new_second, mask=inside)
            scaled = nl.multiply(variance, 1000.0, mask=inside)
            root = nl.sqrt(scaled, mask=inside)
            divisor = nl.add(root, 1e-8, mask=inside)
            inverse = nisa.reciprocal(divisor, mask=inside)
            direction = nl.multiply(moment, inverse, mask=inside)
            step = nl.multiply(direction, 0.01, mask=inside)
            decay = nl.multiply(old, 1e-5, mask=inside)
            decayed = nl.subtract(old, decay, mask=inside)
            new = nl.subtract(decayed, step, mask=inside)
            nl.store(theta_new[128 * i + rows, 512 * j + columns], new, mask=inside)
    return theta_new
