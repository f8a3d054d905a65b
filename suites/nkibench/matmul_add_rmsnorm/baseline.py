# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w, z, g):
    M, K = x.shape
    N = w.shape[1]
    out = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    gains = g.reshape((1, N))
    one = nl.arange(1)[:, None]
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    blocks = (N + 511) // 512
    for i in nl.affine_range((M + 127) // 128):
        whole = nl.ndarray((blocks, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
        squares = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.sequential_range(blocks):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(x[128 * i + rows, 128 * k + inner], mask=128 * i + rows < M)
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving = nl.load(w[128 * k + rows, 512 * j + columns], mask=512 * j + columns < N)
                sums += nisa.nc_matmul(stationary, moving)
            product = nl.copy(sums)
            other = nl.load(z[128 * i + rows, 512 * j + columns], mask=(128 * i + rows < M) & (512 * j + columns < N))
            whole[j] = nl.add(product, other)
            square = nl.square(whole[j])
            mine = nisa.tensor_reduce(nl.add, square, axis=[1], mask=512 * j + columns < N)
            squares[...] = nl.add(squares, mine)
        mean = nl.multiply(squares, 1.0 / N)
        shifted = nl.add(mean, 1e-5)
        scale = nl.rsqrt(shifted)
        for j in nl.affine_range(blocks):
            normed = nl.multiply(whole[j], scale)
            gain = nl.load(gains[one, 512 * j + columns], mask=512 * j + columns < N)
            every_row = gain.broadcast_to((128, 512))
            result = nl.multiply(normed, every_row)
            nl.store(out[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return out
