# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(delta, a, b, c, u):
    C, M = delta.shape
    S = a.shape[1]
    y = nl.ndarray((C, M), dtype=delta.dtype, buffer=nl.shared_hbm)
    one = nl.arange(1)[:, None]
    single = nl.arange(1)[None, :]
    rows = nl.arange(128)[:, None]
    columns = nl.arange(512)[None, :]
    for i in nl.affine_range((C + 127) // 128):
        states = nl.zeros((S, nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
        for t in nl.sequential_range((M + 511) // 512):
            inside = (128 * i + rows < C) & (512 * t + columns < M)
            total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            for s in nl.sequential_range(S):
                step = nl.load(delta[128 * i + rows, 512 * t + columns], mask=inside)
                inputs = nl.load(u[128 * i + rows, 512 * t + columns], mask=inside)
                rate = nl.load(a[128 * i + rows, s + single], mask=128 * i + rows < C)
                row_in = nl.load(b[s + one, 512 * t + columns], mask=512 * t + columns < M)
                row_out = nl.load(c[s + one, 512 * t + columns], mask=512 * t + columns < M)
                decay = nisa.activation(nl.exp, step, scale=rate)
                gain = nl.multiply(step, inputs)
                every_in = row_in.broadcast_to((128, 512))
                driven = nl.multiply(gain, every_in)
                state = nisa.tensor_tensor_scan(decay, driven, states[s], nl.multiply, nl.add)
                states[s] = nl.copy(state[:, 511:512])
                every_out = row_out.broadcast_to((128, 512))
                part = nl.multiply(state, every_out)
                total[...] = nl.add(total, part)
            nl.store(y[128 * i + rows, 512 * t + columns], total, mask=inside)
    return y
