# SPDX-License-Identifier: Apache-2.0
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(lhs_t, rhs):
    K, M = lhs_t.shape
    _, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    BM, BN, BK = 16, 2, 8  # tiles of a block
    for nb in nl.affine_range(N // (BN * 512)):
        sums = nl.zeros((M // 128, BN, nl.par_dim(128), 512), dtype=lhs_t.dtype, buffer=nl.sbuf)
        for kb in nl.sequential_range(K // (BK * 128)):
            right = nl.ndarray((BK, nl.par_dim(128), BN * 512), dtype=rhs.dtype, buffer=nl.sbuf)
            for k in nl.affine_range(BK):
                at = (kb * BK + k) * 128
                right[k] = nl.load(rhs[at:at + 128, nb * BN * 512:(nb + 1) * BN * 512])
            for mb in nl.affine_range(M // (BM * 128)):
                left = nl.ndarray((BK, nl.par_dim(128), BM * 128), dtype=lhs_t.dtype, buffer=nl.sbuf)
                for k in nl.affine_range(BK):
                    at = (kb * BK + k) * 128
                    left[k] = nl.load(lhs_t[at:at + 128, mb * BM * 128:(mb + 1) * BM * 128])
                for n in nl.affine_range(BN):
                    for m in nl.affine_range(BM):
                        total = nl.zeros((nl.par_dim(128), 512), nl.float32, buffer=nl.psum)
                        for k in nl.affine_range(BK):
                            total += nisa.nc_matmul(left[k, 0:128, m * 128:(m + 1) * 128], right[k, 0:128, n * 512:(n + 1) * 512])
                        sums[mb * BM + m, n] += total
        for m in nl.affine_range(M // 128):
            for n in nl.affine_range(BN):
                column = (nb * BN + n) * 512
                nl.store(out[m * 128:(m + 1) * 128, column:column + 512], sums[m, n])
    return out
