#!/usr/bin/env python3
"""Writes triton_add.ptx and triton_softmax.ptx: kernels as the Triton compiler makes them, with the
parameters that it adds behind those of the source (scratch memory, global and for profiles).

    python3 triton_kernels.py        # needs the Python package triton (here 3.9); no GPU
"""

import os
import pathlib

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # it would name this folder
os.environ["TRITON_DEFAULT_FP_FUSION"] = "0"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def triton_softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, values / tl.sum(values, axis=0), mask=at < columns)


KERNELS = {
    triton_add: ({"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, 256),
    triton_softmax: ({"x": "*fp32", "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"}, 512),
}

for kernel, (signature, block) in KERNELS.items():
    compiled = triton.compile(ASTSource(kernel, signature, constexprs={"BLOCK": block}),
                              target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "ptx_version": 86})
    path = pathlib.Path(__file__).with_name(kernel.__name__ + ".ptx")
    path.write_text(compiled.asm["ptx"])
    print(f"{path.name}: {compiled.metadata.shared} bytes of dynamic shared memory")
