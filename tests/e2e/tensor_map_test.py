#!/usr/bin/env python3
"""Tensor maps in program files: a tile is copied as NumPy says, and what cannot be is refused."""

import numpy

from baton import Case, buffer, kernel, launch, main, program

# Each block scales a tile and stores it some rows further down.
SOURCE = r"""
#include <cuda.h>

constexpr int kRows = 16, kColumns = 32;

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

extern "C" __global__ void move_tiles(const __grid_constant__ CUtensorMap from,
                                      const __grid_constant__ CUtensorMap to, int down, float factor) {
  __shared__ alignas(1024) float tile[kRows][kColumns];
  __shared__ unsigned long long barrier;
  const int column = blockIdx.x * kColumns, row = blockIdx.y * kRows;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(unsigned(sizeof(tile))));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                 "l"(&from), "r"(column), "r"(row), "r"(bar) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; "
               "@!done bra AGAIN; }" ::"r"(bar) : "memory");
  for (int k = threadIdx.x; k < kRows * kColumns; k += blockDim.x) tile[0][k] *= factor;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
               "l"(&to), "r"(column), "r"(row + down), "r"(shared_address(tile)) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
"""
BOX = [16, 32]


def tensor_map(buffer_, **keys):
    return {"tensor_map": {"buffer": buffer_, "box": BOX, **keys}}


class TensorMaps(Case):
    def text(self, *args):
        return program(buffer("x", "f32", ["M", "N"], "input", "random"),
                       buffer("y", "f32", ["M", "N"], "output", "zeros"),
                       kernel("move_tiles", text=SOURCE),
                       launch("move_tiles", ["ceildiv(N, 32)", "ceildiv(M, 16)"], [128], args), M=40, N=76)

    def test_N6_tiles_of_a_matrix_that_they_do_not_divide(self):
        x = numpy.random.default_rng(1).standard_normal((40, 76)).astype("f4")
        want = numpy.zeros_like(x)
        want[3:] = 2 * x[:-3]
        self.save("x.npy", x)
        self.save("y.npy", want)
        for swizzle in ("none", "128b"):  # both ways the same, so that it cannot be told
            with self.subTest(swizzle):
                maps = [tensor_map(name, swizzle=swizzle) for name in ("x", "y")]
                self.write("p.toml", self.text(*maps, 3, 2.0))
                result = self.baton("run", "p.toml", "--input", "x=x.npy", "--expect", "y=y.npy", "--json")
                self.check(result, 0)
                self.assertEqual(result.json()["outputs"][0]["ok"], True)

    def test_part_of_a_buffer(self):
        x = numpy.random.default_rng(2).standard_normal((40, 76)).astype("f4")
        want = numpy.zeros_like(x)
        want[8:24, 4:44] = 0.5 * x[8:24, 4:44]
        self.save("x.npy", x)
        self.save("y.npy", want)
        part = {"shape": [16, 40], "strides": ["N", 1]}
        self.write("p.toml", self.text(tensor_map("x + 8*N + 4", **part), tensor_map("y + 8*N + 4", **part), 0, 0.5))
        self.check(self.baton("run", "p.toml", "--input", "x=x.npy", "--expect", "y=y.npy"), 0)

    def test_what_cannot_be_is_refused_with_both_numbers(self):
        good = tensor_map("y")
        for bad, *parts in (
                (tensor_map("x", shape=["M", "N + 1"], strides=["N", 1]), "the buffer has 3040"),
                (tensor_map("x", strides=[75, 1]), "75 elements, 300 bytes", "multiple of 16"),
                (tensor_map("x", swizzle="64b"), "128 bytes", "64 bytes"),
                (tensor_map("x + 1", shape=[2, 4]), "aligned to 4 bytes", "16"),
                ({"tensor_map": {"buffer": "x", "box": [16, 512]}}, "512", "256"),
                ({"tensor_map": {"buffer": "x", "box": [16]}}, "2 dimensions", "1 extents"),
                (tensor_map("x", swizle="64b"), "swizzle"),
                (tensor_map("x", swizzle="64"), "\"64b\""),
                ({"tensor_map": 1}, "must be a table"),
                (0, "struct by value")):
            with self.subTest(str(bad)):
                self.write("p.toml", self.text(bad, good, 0, 1.0))
                result = self.baton("run", "p.toml")
                self.check(result, 2, "p.toml:", *parts)
        self.write("p.toml", self.text(good, good, good, 1.0))
        self.check(self.baton("run", "p.toml"), 2, "p.toml:", "argument 2 of move_tiles", "128 bytes", "4")


if __name__ == "__main__":
    main()
