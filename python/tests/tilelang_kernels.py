"""Kernels of TileLang for the tests: a GEMM and attention, which it compiles to wgmma and TMA."""

import tilelang.language as T


def gemm(M, N, K, BM, BN, BK, stages=2):
    """C = A @ B."""
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"),
             C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=128) as (bx, by):
            a = T.alloc_shared((BM, BK), "float16")
            b = T.alloc_shared((BK, BN), "float16")
            c = T.alloc_fragment((BM, BN), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, BK), num_stages=stages):
                T.copy(A[by * BM, k * BK], a)
                T.copy(B[k * BK, bx * BN], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * BM, bx * BN])
    return main


def attention(batch, heads, length, dim, BM, BN, causal):
    """Online softmax: one block makes BM rows of one head."""
    scale = (1.0 / dim)**0.5 * 1.44269504  # exp2 in place of exp
    shape = [batch, length, heads, dim]

    @T.prim_func
    def main(Q: T.Tensor(shape, "float16"), K: T.Tensor(shape, "float16"),
             V: T.Tensor(shape, "float16"), Output: T.Tensor(shape, "float16")):
        with T.Kernel(T.ceildiv(length, BM), heads, batch, threads=128) as (bx, by, bz):
            q = T.alloc_shared([BM, dim], "float16")
            k = T.alloc_shared([BN, dim], "float16")
            v = T.alloc_shared([BN, dim], "float16")
            out = T.alloc_shared([BM, dim], "float16")
            scores = T.alloc_fragment([BM, BN], "float32")
            weights = T.alloc_fragment([BM, BN], "float16")
            total = T.alloc_fragment([BM, dim], "float32")
            largest = T.alloc_fragment([BM], "float32")
            before = T.alloc_fragment([BM], "float32")
            shrink = T.alloc_fragment([BM], "float32")
            row = T.alloc_fragment([BM], "float32")
            sums = T.alloc_fragment([BM], "float32")
            T.copy(Q[bz, bx * BM:(bx + 1) * BM, by, :], q)
            T.fill(total, 0)
            T.fill(sums, 0)
            T.fill(largest, -T.infinity("float32"))
            blocks = T.ceildiv((bx + 1) * BM, BN) if causal else T.ceildiv(length, BN)
            for step in T.Pipelined(blocks, num_stages=1):
                T.copy(K[bz, step * BN:(step + 1) * BN, by, :], k)
                if causal:
                    for i, j in T.Parallel(BM, BN):
                        scores[i, j] = T.if_then_else(bx * BM + i >= step * BN + j, 0,
                                                      -T.infinity("float32"))
                else:
                    T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(largest, before)
                T.fill(largest, -T.infinity("float32"))
                T.reduce_max(scores, largest, dim=1, clear=False)
                for i in T.Parallel(BM):
                    largest[i] = T.max(largest[i], before[i])
                for i in T.Parallel(BM):
                    shrink[i] = T.exp2(before[i] * scale - largest[i] * scale)
                for i, j in T.Parallel(BM, BN):
                    scores[i, j] = T.exp2(scores[i, j] * scale - largest[i] * scale)
                T.reduce_sum(scores, row, dim=1)
                for i in T.Parallel(BM):
                    sums[i] = sums[i] * shrink[i] + row[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(BM, dim):
                    total[i, j] *= shrink[i]
                T.copy(V[bz, step * BN:(step + 1) * BN, by, :], v)
                T.gemm(weights, v, total, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(BM, dim):
                total[i, j] /= sums[i]
            T.copy(total, out)
            T.copy(out, Output[bz, bx * BM:(bx + 1) * BM, by, :])
    return main
