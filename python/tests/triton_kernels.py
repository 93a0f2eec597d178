"""Kernels of Triton for the tests. testdata/triton has what Triton 3.9 wrote for `scale_rows`."""

import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, out_ptr, stride, n, factor, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * stride + offsets, x * factor, mask=mask)


@triton.jit
def softmax(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < n, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + offsets, x / tl.sum(x, axis=0), mask=offsets < n)


@triton.jit
def add_twice(x_ptr, pair, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    first = tl.load(pair[0] + offsets, mask=mask)
    second = tl.load(pair[1] + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + first + second, mask=mask)


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(out_ptr + x, 1, mask=offsets < n)


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        a = tl.load(a_ptr + rows[:, None] * K + k + rows[None, :])
        b = tl.load(b_ptr + (k + rows[:, None]) * BLOCK + rows[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * BLOCK + rows[None, :], total)
