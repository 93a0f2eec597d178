#!/usr/bin/env python3
"""baton init: guesses that come from the code of a kernel and from the names of its parameters."""

import numpy

from baton import main
from init_case import InitCase

MATRICES = """#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void matrices(const half* A, const half* B, float* C, int M, int N, int K) {
  const int m = blockIdx.y * 16, n = blockIdx.x * 16;
  if (m >= M || n >= N) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + m * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + n, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + m * N + n, c, N, wmma::mem_row_major);
}
"""

CHUNKS = """#define CHUNK 1024
__global__ void chunks(float2* data) {
  __shared__ float2 s[CHUNK];
  float2* own = data + blockIdx.x * CHUNK;
  for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) s[i] = own[i];
  __syncthreads();
  for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) {
    own[i] = make_float2(s[CHUNK - 1 - i].x, s[CHUNK - 1 - i].y);
  }
}
"""

HISTOGRAM = """__global__ void histogram(const unsigned char* data, unsigned* bins, size_t n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
"""

TRANSPOSE = """__global__ void transpose(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""

SCAN = """extern "C" __global__ void block_sums(const int* in, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[blockIdx.x], in[i]);
}
extern "C" __global__ void scan_sums(int* sums, int blocks) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int run = 0;
    for (int b = 0; b < blocks; ++b) { const int v = sums[b]; sums[b] = run; run += v; }
  }
}
"""


class InitGuess(InitCase):
    def output(self, name, *options):
        self.ok("run", "p.toml", "--strict", "--output", f"{name}={name}.npy", *options)
        return numpy.load(self.folder / f"{name}.npy")

    def test_a_warp_has_a_tile_of_a_matrix(self):
        program, _ = self.draft(source=MATRICES)
        step = program["steps"][0]
        self.assertEqual(step["block"], [32])
        self.assertEqual(step["grid"], ["ceildiv(max(M, N, K), 16)"] * 2)
        self.assertEqual({name: buffer["role"] for name, buffer in program["buffers"].items()},
                         {"A": "input", "B": "input", "C": "output"})
        # Each block writes another tile, so that nothing stays as it was.
        self.assertTrue(self.output("C", "--set", "M=64", "--set", "N=64", "--set", "K=64").all())

    def test_a_block_has_a_constant_number_of_elements(self):
        program, text = self.draft(source=CHUNKS)
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(N, 1024)"])
        self.assertEqual(program["require"], ["N % 1024 == 0"])
        self.assertEqual((program["buffers"]["data"]["dtype"], program["buffers"]["data"]["shape"]), ("f32", ["N", 2]))
        self.assertNotIn("guess: the dtype", text)
        self.ok("run", "p.toml", "--strict", "--set", "N=4096")

    def test_blocks_with_threads_for_a_part_of_their_tile(self):
        program, _ = self.draft(source=TRANSPOSE)
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(cols, 32)", "ceildiv(rows, 32)"])
        self.assertEqual(program["steps"][0]["block"], [32, 8])
        self.ok("run", "p.toml", "--strict", "--set", "rows=70", "--set", "cols=33")

    def test_a_table_has_a_constant_number_of_elements(self):
        program, text = self.draft(source=HISTOGRAM)
        self.assertEqual(program["buffers"]["data"]["shape"], ["n"])
        self.assertEqual(program["buffers"]["bins"]["shape"], [256])
        self.assertIn("guess: this kernel accesses so many", text)
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(n, 256)"])
        for n in ("10", "3000"):
            self.ok("run", "p.toml", "--strict", "--set", f"n={n}")

    def test_a_small_table_has_its_own_elements(self):
        """Not those of the data: the kernel stays inside of a buffer that is too large."""
        program, text = self.draft(source=HISTOGRAM.replace("256", "64").replace("data[i]]", "data[i] & 63]"))
        self.assertEqual(program["buffers"]["bins"]["shape"], [64])
        self.assertIn("guess: this kernel accesses so many, whatever the sizes are", text)

    def test_the_weights_of_a_filter_have_their_own_elements(self):
        program, _ = self.draft(source="""
__global__ void filter(const float* image, const float* weights, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0;
  for (int k = 0; k < 9; ++k) sum += weights[k] * image[(y + k / 3 - 1) * width + x + k % 3 - 1];
  out[y * width + x] = sum;
}""")
        self.assertEqual(program["buffers"]["weights"]["shape"], [9])
        self.assertEqual(program["buffers"]["image"]["shape"], ["height", "width"])

    def test_a_number_that_grows_slowly_is_no_table(self):
        """A value for each block, and random indexes."""
        program, _ = self.draft(source="""
__global__ void sums(const float* x, const int* index, const float* values, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[blockIdx.x], x[i] * values[index[i]]);
}""")
        for name in ("x", "index", "values", "out"):
            self.assertEqual(program["buffers"][name]["shape"], ["n"], name)

    def test_one_thread_where_the_kernel_knows_no_thread(self):
        program, _ = self.draft(source="__global__ void k(float* x, int n) { if (blockIdx.x < n) x[blockIdx.x] *= 2; }")
        self.assertEqual(program["steps"][0]["block"], [1])
        self.assertEqual(program["steps"][0]["grid"], ["n"])

    def test_offsets_of_rows_have_one_element_more(self):
        """Random indexes, which are below 100, add none."""
        self.write("k.cu", """__global__ void k(const int* offsets, const int* cols, const float* x, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int j = offsets[r]; j < offsets[r + 1]; ++j) sum += x[cols[j]];
  y[r] = sum;
}""")
        self.assertIn("accesses up to 1 element beyond rows", self.ok("init", "k.cu", "-o", "p.toml").err)
        self.ok("run", "p.toml", "--set", "rows=100", "--strict")

    def test_numbers_that_are_no_sizes(self):
        program, text = self.draft(source="""
__global__ void k(unsigned* x, unsigned seed, int level, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * seed + level;
}""")
        self.assertEqual(list(program["symbols"]), ["n"])
        self.assertEqual(program["steps"][0]["args"], ["x", 1, 1, "n"])
        self.assertIn("guess: seed (unsigned int), level (int), n (int)", text)

    def test_pointers_to_constants_in_a_struct(self):
        program, _ = self.draft(source="""
struct Rows { const float* x; float* y; int n; };
__global__ void k(Rows r) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < r.n) r.y[i] += r.x[i];
}""")
        self.assertEqual({name: buffer["role"] for name, buffer in program["buffers"].items()},
                         {"r_x": "input", "r_y": "inout"})

    def test_steps_are_in_the_order_of_the_source(self):
        """Compilers put templates, and kernels that are local to the file, behind the others."""
        self.write("first.cuh", "#define I (blockIdx.x * blockDim.x + threadIdx.x)\n"
                                "static __global__ void first(float* a, int n) { if (I < n) a[I] = I; }\n")
        program, text = self.draft("--entry", "third<2>", "--entry", "first", "--entry", "fourth", source="""
#include "first.cuh"
extern "C" __global__ void second(float* b, const float* a, int n) { if (I < n) b[I] = 2 * a[I]; }
template <int K> __global__ void third(float* c, const float* b, int n) { if (I < n) c[I] = b[I] + K; }
static __global__ void fourth(float* d, const float* c, int n) { if (I < n) d[I] = c[I] * c[I]; }
extern "C" __global__ void fifth(float* e, const float* d, int n) { if (I < n) e[I] = -d[I]; }
""")
        self.assertEqual([step["launch"] for step in program["steps"]], ["first", "second", "third", "fourth", "fifth"])
        self.assertEqual(text.count("is that of"), 4)
        numpy.testing.assert_array_equal(self.output("fifth_e")[:4], [-4, -16, -36, -64])

    def test_buffers_of_which_a_kernel_accesses_less(self):
        """A value for each row, and one of all."""
        program, text = self.draft(source="""
__global__ void largest(const float* rows, int* at, float* sum, int columns) {
  __shared__ float values[256];
  __shared__ int places[256];
  float value = -2;
  int place = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float other = rows[blockIdx.x * columns + i];
    if (other > value) { value = other; place = i; }
  }
  values[threadIdx.x] = value;
  places[threadIdx.x] = place;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && values[threadIdx.x + half] > values[threadIdx.x]) {
      values[threadIdx.x] = values[threadIdx.x + half];
      places[threadIdx.x] = places[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    at[blockIdx.x] = places[0];
    atomicAdd(sum, values[0]);
  }
}""")
        shapes = {name: buffer["shape"] for name, buffer in program["buffers"].items()}
        self.assertEqual(shapes, {"rows": ["columns", "columns"], "at": ["columns"], "sum": [1]})
        self.assertEqual(text.count("guess: this kernel accesses so many"), 2)
        self.ok("run", "p.toml", "--strict", "--set", "columns=300")

    def test_threads_that_go_through_a_row(self):
        """There is a thread for each result, and not one for each element."""
        program, _ = self.draft(source="""
__global__ void sums(const float* m, float* of_rows, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += m[r * cols + c];
  of_rows[r] = sum;
}""")
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(max(rows, cols), 256)"])
        self.assertEqual(program["buffers"]["m"]["shape"], ["rows", "cols"])
        self.assertTrue(self.output("of_rows", "--set", "rows=700", "--set", "cols=3")[:700].all())
        (self.folder / "p.toml").unlink()
        program, _ = self.draft(source="""
__global__ void of_all(const float* x, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) atomicAdd(sum, x[i]);
}""", name="sum.cu")
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(n, 256) * n"])

    def test_a_kernel_that_reads_no_block_has_one(self):
        program, _ = self.draft(source="""
__global__ void sum(const float* x, float* y, int n) {
  float own = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) own += x[i];
  for (int o = 16; o; o /= 2) own += __shfl_xor_sync(~0u, own, o);
  if (threadIdx.x % 32 == 0) atomicAdd(y, own);
}""")
        self.assertEqual(program["steps"][0]["grid"], [1])
        self.assertEqual(program["buffers"]["y"]["shape"], [1])

    def test_a_long_run_has_a_smaller_size(self):
        """By counts of instructions, which are the same whatever else the machine does."""
        sizes = {}
        for turns in ("1", "n", "n * 64L"):
            source = ("__global__ void k(float* y, const float* x, int n) {\n"
                      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "  float sum = 0;\n"
                      f"  for (long j = 0; j < {turns}; ++j) sum += x[j % n];\n"
                      "  if (i < n) y[i] = sum;\n}\n")
            self.write("k.cu", source)
            (self.folder / "p.toml").unlink(missing_ok=True)
            self.ok("init", "k.cu", "-o", "p.toml")
            text = (self.folder / "p.toml").read_text()
            sizes[turns] = int(text.split("n = ")[1].split()[0])
        self.assertEqual(sizes, {"1": 2**20, "n": 2**12, "n * 64L": 2**12})

    def test_kernels_that_size_the_same_buffer_differently(self):
        program, text = self.draft(source=SCAN)
        self.assertEqual(list(program["buffers"]), ["block_sums_in", "block_sums_sums"])
        self.assertEqual(program["buffers"]["block_sums_sums"]["shape"], ["max(n, blocks)"])
        self.assertEqual(program["steps"][1]["args"], ["block_sums_sums", "blocks"])
        self.assertIn("sums is that of block_sums", text)
        self.ok("run", "p.toml", "--strict", "--set", "n=512", "--set", "blocks=700")


if __name__ == "__main__":
    main()
