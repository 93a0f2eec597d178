"""Kernels of CuTe DSL for the tests. testdata/cute has the PTX that nvidia-cutlass-dsl 4.8.1 wrote
for them: `python cute_kernels.py`, with CUTE_DSL_ARCH=sm_90a."""

import pathlib

import cutlass
import cutlass.cute as cute
import cutlass.memory
import cutlass.utils.hopper_helpers as hopper
import torch
from cutlass.cute.nvgpu import OperandMajorMode, warpgroup
from cutlass.cute.runtime import from_dlpack
from cutlass.tensor_utils import LayoutEnum

# The tiles of the matmul.
BM, BN, BK = 64, 64, 64


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if i < n:
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32):
    add_kernel(a, b, c, n).launch(grid=[cute.ceil_div(n, 128), 1, 1], block=[128, 1, 1])


@cute.kernel
def scale_kernel(a: cute.Tensor, b: cute.Tensor, factor: cutlass.Float32):
    row, column = cute.arch.block_idx()[0], cute.arch.thread_idx()[0]
    if column < cute.size(a, mode=[1]):
        b[row, column] = a[row, column] * factor


@cute.jit
def scale(a: cute.Tensor, b: cute.Tensor, factor: cutlass.Float32):
    scale_kernel(a, b, factor).launch(grid=[cute.size(a, mode=[0]), 1, 1], block=[128, 1, 1])


@cute.kernel
def matmul_kernel(mma: cute.TiledMma, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor,
                  a_layout: cute.ComposedLayout, b_layout: cute.ComposedLayout):
    """c = a @ b^T by wgmma; a block of 128 threads makes one tile."""
    thread = cute.arch.thread_idx()[0]
    row, column, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    sa = memory.allocate_tensor(cutlass.Float16, a_layout.outer, 128, swizzle=a_layout.inner)
    sb = memory.allocate_tensor(cutlass.Float16, b_layout.outer, 128, swizzle=b_layout.inner)
    ga = cute.local_tile(a, (BM, BK), (row, None))
    gb = cute.local_tile(b, (BN, BK), (column, None))
    part = mma.get_slice(thread)
    fa = mma.make_fragment_A(part.partition_A(sa))
    fb = mma.make_fragment_B(part.partition_B(sb))
    out = part.partition_C(cute.local_tile(c, (BM, BN), (row, column)))
    total = cute.make_rmem_tensor(out.shape, cutlass.Float32)
    mma.set(warpgroup.Field.ACCUMULATE, False)
    for step in range(cute.size(ga, mode=[2])):
        for i in range(BM * BK // 128):
            at = i * 128 + thread
            sa[(at // BK, at % BK, 0)] = ga[(at // BK, at % BK, step)]
            sb[(at // BK, at % BK, 0)] = gb[(at // BK, at % BK, step)]
        cute.arch.fence_proxy("async.shared", space="cta")
        cute.arch.sync_threads()
        warpgroup.fence()
        for k in cutlass.range_constexpr(cute.size(fa, mode=[2])):
            cute.gemm(mma, total, fa[(None, None, k, 0)], fb[(None, None, k, 0)], total)
            mma.set(warpgroup.Field.ACCUMULATE, True)
        warpgroup.commit_group()
        warpgroup.wait_group(0)
        cute.arch.sync_threads()
    for i in range(cute.size(total)):
        out[i] = total[i].to(cutlass.Float16)


@cute.jit
def matmul(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    mma = hopper.make_trivial_tiled_mma(cutlass.Float16, cutlass.Float16, OperandMajorMode.K,
                                        OperandMajorMode.K, cutlass.Float32, (1, 1, 1), (BM, BN))
    a_layout = hopper.make_smem_layout_a(LayoutEnum.ROW_MAJOR, (BM, BN, BK), cutlass.Float16, 1)
    b_layout = hopper.make_smem_layout_b(LayoutEnum.ROW_MAJOR, (BM, BN, BK), cutlass.Float16, 1)
    matmul_kernel(mma, a, b, c, a_layout, b_layout).launch(
        grid=[cute.size(c, mode=[0]) // BM, cute.size(c, mode=[1]) // BN, 1], block=[128, 1, 1])


def compile_matmul(M, N, K):
    def tensor(*shape):
        return from_dlpack(torch.zeros(*shape, dtype=torch.float16))
    return cute.compile(matmul, tensor(M, K), tensor(N, K), tensor(M, N),
                        options="--keep-ptx --keep-cubin")


def compile_add():
    x = from_dlpack(torch.zeros(128)).mark_layout_dynamic()
    return cute.compile(add, x, x, x, cutlass.Int32(128), options="--keep-ptx --keep-cubin")


def compile_scale():
    """The first tensor has a dynamic layout, the second one is static: (4, 8)."""
    dynamic = from_dlpack(torch.zeros(4, 8)).mark_layout_dynamic()
    return cute.compile(scale, dynamic, from_dlpack(torch.zeros(4, 8)), cutlass.Float32(1),
                        options="--keep-ptx --keep-cubin")


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "testdata" / "cute"
    for name, compiled in (("add", compile_add()), ("scale", compile_scale())):
        (folder / f"{name}.ptx").write_text(compiled.artifacts.PTX)
