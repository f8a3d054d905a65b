# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w_up, w_gate, w_down):
    M, K = x.shape
    N = w_up.shape[1]
    y = nl.ndarray((M, K), dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = 4 if M % 512 == 0 else 1
    width = 128 * blocks
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    whole = nl.arange(K)[None, :]
    for i in nl.sequential_range((M + width - 1) // width):
        turned = nl.ndarray((K // 128, nl.par_dim(128), width), dtype=nl.float32, buffer=nl.sbuf)
        for s in nl.affine_range(blocks):
            block = nl.load(x[width * i + 128 * s + rows, whole], mask=width * i + 128 * s + rows < M)
            for k in nl.affine_range(K // 128):
                square = nisa.nc_transpose(block[rows, 128 * k + inner])
                turned[k, rows, 128 * s + inner] = nl.copy(square)
        hidden = nl.ndarray((N // 128, nl.par_dim(128), width), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(N // 512):
            ups = nl.ndarray((K // 128, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
            gates = nl.ndarray((K // 128, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
            for k in nl.affine_range(K // 128):
                ups[k] = nl.load(w_up[128 * k + rows, 512 * j + columns])
                gates[k] = nl.load(w_gate[128 * k + rows, 512 * j + columns])
            for t in nl.affine_range(4):
                up = nl.zeros((128, width), dtype=nl.float32, buffer=nl.psum)
                gate = nl.zeros((128, width), dtype=nl.float32, buffer=nl.psum)
                for k in nl.affine_range(K // 128):
                    gate += nisa.nc_matmul(gates[k, rows, 128 * t + inner], turned[k])
                    up += nisa.nc_matmul(ups[k, rows, 128 * t + inner], turned[k])
                active = nisa.activation(nl.silu, gate)
                hidden[4 * j + t] = nisa.tensor_tensor(active, up, nl.multiply)
        for c in nl.affine_range((K + 511) // 512):
            sums = nl.zeros((blocks, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
            for n in nl.affine_range(N // 128):
                down = nl.load(w_down[128 * n + rows, 512 * c + columns], mask=512 * c + columns < K)
                for s in nl.affine_range(blocks):
                    sums[s] += nisa.nc_matmul(hidden[n, rows, 128 * s + inner], down)
            for s in nl.affine_range(blocks):
                result = nl.copy(sums[s])
                nl.store(y[width * i + 128 * s + rows, 512 * c + columns], result,
                         mask=(width * i + 128 * s + rows < M) & (512 * c + columns < K))
    return y
