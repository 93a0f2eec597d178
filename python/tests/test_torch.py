"""Tensors of torch: on the simulated GPU those of the CPU. Skips without torch."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import baton as baton_package  # noqa: E402

SOURCE = """
#include <cuda_bf16.h>
__global__ void scale(float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
__global__ void scale_bf16(__nv_bfloat16* x, float a) {
  x[threadIdx.x] = __float2bfloat16(__bfloat162float(x[threadIdx.x]) * a);
}
"""


@pytest.fixture
def kernels(baton):
    return baton.compile(text=SOURCE)


def test_tensors(kernels):
    x = torch.arange(100, dtype=torch.float32)
    kernels["scale"][1, 128](x, 2.0, 100)
    assert torch.equal(x, 2 * torch.arange(100, dtype=torch.float32))
    kernels["scale"][1, 128](x[50:], 0.0, 50)
    assert x[49] == 98 and (x[50:] == 0).all()


def test_bf16(kernels):
    x = torch.arange(32).bfloat16()
    kernels["scale_bf16"][1, 32](x, 0.5)
    assert torch.equal(x, torch.arange(32).bfloat16() * 0.5)


def without_storage():
    tensor = torch.zeros(8)
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.mark.parametrize("tensor, message", [
    (lambda: torch.zeros(8, dtype=torch.float64), r"an array of f64 \[8\]"),
    (lambda: torch.zeros(8, 8).t(), "not contiguous"),
    (lambda: torch.zeros(8, dtype=torch.complex64), "complex"),
    (lambda: torch.zeros(8, dtype=torch.complex64).conj(), "complex"),
    (lambda: torch.zeros(8, 8).to_sparse(), "argument 0 is a Tensor that gives no view of its memory"),
    (lambda: torch._neg_view(torch.ones(8)), "the negative bit, whose bytes are not its values"),
    (lambda: without_storage(), "argument 0 has 32 bytes, and no memory"),
], ids=["dtype", "transposed", "complex", "conjugate", "sparse", "negative", "dead"])
def test_refused_tensors(kernels, tensor, message):
    with pytest.raises((TypeError, RuntimeError, BufferError, ValueError), match=message):
        kernels["scale"][1, 8](tensor(), 2.0, 8)


def test_a_tensor_of_torch_is_no_number(kernels):
    with pytest.raises(baton_package.ArgumentError, match="argument 1 is a Tensor"):
        kernels["scale"][1, 8](torch.zeros(8), torch.tensor(2.0), 8)


def test_programs(baton, examples):
    saxpy = baton_package.Program(examples / "saxpy" / "saxpy.toml").bind(N=64, device=baton.target)
    x, y = torch.ones(64), torch.ones(64)
    assert saxpy(x=x, y=y)["y"] is y
    assert (y == 3).all()
