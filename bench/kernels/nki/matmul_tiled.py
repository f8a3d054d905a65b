# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs_t, rhs):
    K, M = lhs_t.shape
    _, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // 128):
        for n in nl.affine_range(N // 512):
            total = nl.zeros((nl.par_dim(128), 512), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                left = nl.load(lhs_t[k * 128:(k + 1) * 128, m * 128:(m + 1) * 128])
                right = nl.load(rhs[k * 128:(k + 1) * 128, n * 512:(n + 1) * 512])
                total += nisa.nc_matmul(left, right)
            nl.store(out[m * 128:(m + 1) * 128, n * 512:(n + 1) * 512], nl.copy(total))
    return out
