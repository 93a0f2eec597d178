"""Kernels of CuTe DSL for the tests. testdata/cute has the PTX that nvidia-cutlass-dsl 4.8.1 wrote
for them: `python cute_kernels.py`, with CUTE_DSL_ARCH=sm_90a."""

import pathlib

import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack


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
