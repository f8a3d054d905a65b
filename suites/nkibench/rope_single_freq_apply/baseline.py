# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, cos, sin):
    D, B, H, N = x.shape
    L = B * H * N
    y = nl.ndarray((D, B, H, N), dtype=x.dtype, buffer=nl.shared_hbm)
    tokens = x.reshape((D, L))
    cosines = cos.reshape((64, L))
    sines = sin.reshape((64, L))
    rotated = y.reshape((D, L))
    rows = nl.arange(64)[:, None]
    columns = nl.arange(512)[None, :]
    for j in nl.affine_range((L + 511) // 512):
        inside = 512 * j + columns < L
        low = nl.load(tokens[rows, 512 * j + columns], mask=inside)
        high = nl.load(tokens[64 + rows, 512 * j + columns], mask=inside)
        cosine = nl.load(cosines[rows, 512 * j + columns], mask=inside)
        sine = nl.load(sines[rows, 512 * j + columns], mask=inside)
        low_cosine = nl.multiply(low, cosine, mask=inside)
        high_sine = nl.multiply(high, sine, mask=inside)
        first = nl.subtract(low_cosine, high_sine, mask=inside)
        nl.store(rotated[rows, 512 * j + columns], first, mask=inside)
        low_sine = nl.multiply(low, sine, mask=inside)
        high_cosine = nl.multiply(high, cosine, mask=inside)
        second = nl.add(low_sine, high_cosine, mask=inside)
        nl.store(rotated[64 + rows, 512 * j + columns], second, mask=inside)
    return y
