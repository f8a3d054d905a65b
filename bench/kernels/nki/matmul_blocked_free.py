# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs_t, rhs):
    K, M = lhs_t.shape
    _, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    BM, BN = 2, 2  # tiles of a block
    for mb in nl.affine_range(M // (BM * 128)):
        left = nl.ndarray((BM, K // 128, nl.par_dim(128), 128), dtype=lhs_t.dtype, buffer=nl.sbuf)
        for m in nl.affine_range(BM):
            for k in nl.affine_range(K // 128):
                at = (mb * BM + m) * 128
                left[m, k] = nl.load(lhs_t[k * 128:(k + 1) * 128, at:at + 128])
        for nb in nl.affine_range(N // (BN * 512)):
            right = nl.ndarray((BN, K // 128, nl.par_dim(128), 512), dtype=rhs.dtype, buffer=nl.sbuf)
            for n in nl.affine_range(BN):
                for k in nl.affine_range(K // 128):
                    at = (nb * BN + n) * 512
                    right[n, k] = nl.load(rhs[k * 128:(k + 1) * 128, at:at + 512])
            for m in nl.affine_range(BM):
                for n in nl.affine_range(BN):
                    total = nl.zeros((nl.par_dim(128), 512), nl.float32, buffer=nl.psum)
                    for k in nl.affine_range(K // 128):
                        total += nisa.nc_matmul(left[m, k], right[n, k])
                    row, column = (mb * BM + m) * 128, (nb * BN + n) * 512
                    nl.store(out[row:row + 128, column:column + 512], nl.copy(total))
    return out
