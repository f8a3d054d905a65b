# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, w_up, w_gate, w_down):
    M, K = x.shape
    N = w_up.shape[1]
    y = nl.ndarray((M, K), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(128)[:, None]
    inner = nl.arange(128)[None, :]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        hidden = nl.ndarray((N // 512, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(N // 512):
            up = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            gate = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(x[128 * i + rows, 128 * k + inner], mask=128 * i + rows < M)
                turned = nisa.nc_transpose(left)
                stationary = nl.copy(turned)
                moving_up = nl.load(w_up[128 * k + rows, 512 * j + columns])
                moving_gate = nl.load(w_gate[128 * k + rows, 512 * j + columns])
                up += nisa.nc_matmul(stationary, moving_up)
                gate += nisa.nc_matmul(stationary, moving_gate)
            up_tile = nl.copy(up)
            gate_tile = nl.copy(gate)
            power = nisa.activation(nl.exp, gate_tile, scale=-1.0)
            divisor = nl.add(power, 1.0)
            share = nisa.reciprocal(divisor)
            gated = nl.multiply(gate_tile, share)
            hidden[j] = nl.multiply(gated, up_tile)
        for j in nl.affine_range((K + 511) // 512):
            sums = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for n in nl.affine_range(N // 512):
                for t in nl.affine_range(4):
                    turned_hidden = nisa.nc_transpose(hidden[n, rows, 128 * t + inner])
                    weights = nl.copy(turned_hidden)
                    down = nl.load(w_down[512 * n + 128 * t + rows, 512 * j + columns], mask=512 * j + columns < K)
                    sums += nisa.nc_matmul(weights, down)
            result = nl.copy(sums)
            nl.store(y[128 * i + rows, 512 * j + columns], result, mask=(128 * i + rows < M) & (512 * j + columns < K))
    return y
