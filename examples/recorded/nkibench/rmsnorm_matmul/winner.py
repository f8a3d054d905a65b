# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w):
    M, K = x.shape
    N = w.shape[1]
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    whole = nl.arange(K)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        block = nl.load(x[128 * i + rows, whole], mask=128 * i + rows < M)
        square = nl.square(block)
        total = nisa.tensor_reduce(nl.add, square, axis=[1])
        mean = nl.multiply(total, 1.0 / K)
        scale = nl.rsqrt(mean)
        normed = nisa.tensor_scalar(block, nl.multiply, scale)
        turned = nl.ndarray((K // 128, nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.sbuf)
        for k in nl.affine_range(K // 128):
            part = nisa.nc_transpose(normed[rows, 128 * k + inner])
            turned[k] = nl.copy(part)
        for j in nl.affine_range((N + 511) // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                moving = nl.load(w[128 * k + rows, 512 * j + columns], mask=512 * j + columns < N)
                sums += nisa.nc_matmul(turned[k], moving)
            result = nl.copy(sums)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < N))
    return y
