#!/usr/bin/env python3
"""baton init: a program file from a source or an image runs as it is."""

import re
import subprocess
import sys
import tomllib

import numpy

from baton import ROOT, main, without_progress
from init_case import SOURCE, InitCase

# One kernel of each kind that people bring, and what the draft has to say of its launch.
KINDS = {
    "reduce": ("""#include <cuda_runtime.h>
__global__ void reduce(const float* __restrict__ x, float* out, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h >>= 1) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
int main() { reduce<<<1, 256, 1024>>>(nullptr, nullptr, 0); }
""", {"block": [256], "shared": 1024}),
    "halo": ("""__global__ void halo(const float* x, float* y, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x + 1] = i < n ? x[i] : 0;
  if (threadIdx.x == 0) s[0] = i > 0 && i <= n ? x[i - 1] : 0;
  if (threadIdx.x == blockDim.x - 1) s[blockDim.x + 1] = i + 1 < n ? x[i + 1] : 0;
  __syncthreads();
  if (i < n) y[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}
""", {"block": [256], "shared": 2048}),
    "stencil": ("""__global__ void stencil(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  out[y * width + x] = in[y * width + x - 1] + in[y * width + x + 1] + in[(y - 1) * width + x] + in[(y + 1) * width + x];
}
""", {"block": [16, 16], "grid": ["ceildiv(width, 16)", "ceildiv(height, 16)"]}),
    "marching": ("""__global__ void marching(const float* in, float* out, int nx, int ny, int nz, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int i = y * nx + x;
  float below = in[i], own = in[i + plane];
  for (int z = 1; z < nz - 1; ++z) {
    i += plane;
    const float above = in[i + plane];
    out[i] = c * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]) - own;
    below = own;
    own = above;
  }
}
""", {"block": [16, 16], "grid": ["ceildiv(nx, 16)", "ceildiv(ny, 16)"]}),
    "marching_tiles": ("""#define BX 32
#define BY 8
__global__ void marching_tiles(float* out, const float* in, int nx, int ny, int nz) {
  __shared__ float s[BY][BX];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  const bool is_inside = x < nx && y < ny;
  for (int z = 0; z < nz; ++z) {
    __syncthreads();
    s[threadIdx.y][threadIdx.x] = is_inside ? in[(z * ny + y) * nx + x] : 0;
    __syncthreads();
    if (is_inside) out[(z * ny + y) * nx + x] = s[threadIdx.y][threadIdx.x ^ 1];
  }
}
""", {"block": [32, 8], "grid": ["ceildiv(nx, 32)", "ceildiv(ny, 8)"]}),
    "planes": ("""__global__ void planes(float* v, int nx, int ny, int nz) {
  for (int x = threadIdx.x; x < nx; x += blockDim.x) v[(blockIdx.y * ny + blockIdx.x) * nx + x] *= 2;
}
""", {"block": [256], "grid": ["ny", "nz"]}),
    "volume": ("""__global__ void volume(float* v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < n && y < n && z < n) v[(z * n + y) * n + x] *= 2;
}
""", {"block": [8, 8, 4], "grid": ["ceildiv(n, 8)", "ceildiv(n, 8)", "ceildiv(n, 4)"]}),
    "rows": ("""__global__ void rows(const float* x, float* y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < n) y[blockIdx.y * n + column] = x[blockIdx.y * n + column] + blockIdx.y;
}
""", {"block": [256], "grid": ["ceildiv(n, 256)", "n"]}),
    "matmul": ("""#define T 16
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[T][T], b[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += T) {
    a[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] = col < N && k0 + threadIdx.y < K ? B[(k0 + threadIdx.y) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < T; ++k) acc += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}
""", {"block": [16, 16]}),
    "transpose": ("""__global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
""", {"block": [32, 8]}),
    "cooperative": ("""#include <cooperative_groups.h>
__global__ void cooperative(const float* x, float* partial, float* out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  atomicAdd(&partial[blockIdx.x], s);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float t = 0;
    for (int b = 0; b < gridDim.x; ++b) t += partial[b];
    out[0] = t;
  }
}
""", {"cooperative": True, "grid": ["min(ceildiv(n, 256), 32)"]}),
    "cluster": ("""#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) cluster(const int* x, int* y, int n) {
  __shared__ int s[256];
  auto c = cooperative_groups::this_cluster();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  c.sync();
  int* other = c.map_shared_rank(s, c.block_rank() ^ 1);
  if (i < n) y[i] = other[threadIdx.x];
  c.sync();
}
""", {"grid": ["2 * ceildiv(n, 512)"]}),
    "by_value": ("""struct Vec { float x, y, z; };
__global__ void by_value(Vec* v, Vec by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { v[i].x += by.x; v[i].y += by.y; v[i].z += by.z; }
}
""", {"block": [256]}),
    "halves": ("""#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void halves(const __half* a, __nv_bfloat16* c, __half2* d, float f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __float2bfloat16(__half2float(a[i]) * f);
  if (i < n / 2) d[i] = __hmul2(d[i], d[i]);
}
""", {"block": [256]}),
    "row_of_a_block": ("""__global__ void row_of_a_block(const float* x, float* y, const float* s, int rows, int cols) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[r * cols + c] = x[r * cols + c] * s[r];
}
""", {"block": [256], "grid": ["rows"]}),
    "gather": ("""__global__ void gather(const int* ids, const float* table, float* out, int dim) {
  int t = blockIdx.x;
  for (int i = threadIdx.x; i < dim; i += blockDim.x) out[t * dim + i] = table[ids[t] * dim + i];
}
""", {"block": [256], "grid": ["dim"]}),
    "two_halves_of_a_row": ("""__global__ void two_halves_of_a_row(float* out, const float* in, const int d) {
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    out[blockIdx.x * d + i] = in[blockIdx.x * 2 * d + i] * in[blockIdx.x * 2 * d + d + i];
}
""", {"block": [256], "grid": ["d"]}),
    "rotation": ("""__global__ void rotation(float* q, const float* c, const float* s, int heads, int head_dim) {
  int token = blockIdx.x, head = blockIdx.y, i = threadIdx.x, half = head_dim / 2;
  if (i >= half) return;
  float* p = q + ((size_t)token * heads + head) * head_dim;
  float a = p[i], b = p[i + half], x = c[token * half + i], y = s[token * half + i];
  p[i] = a * x - b * y;
  p[i + half] = b * x + a * y;
}
""", {"block": [256], "grid": ["head_dim", "head_dim"]}),
    "without_bounds": ("""__global__ void without_bounds(float* x, float a) { x[blockIdx.x * blockDim.x + threadIdx.x] *= a; }
""", {"block": [256], "grid": ["ceildiv(N, 256)"]}),
    "vectors": ("""__global__ void vectors(const float4* a, float4* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = make_float4(a[i].w, a[i].z, a[i].y, a[i].x);
}
""", {"block": [256], "grid": ["ceildiv(n, 256)"]}),
    "each_block_reads_all": ("""__global__ void each_block_reads_all(const float* x, float* most, int n) {
  float m = -1e30f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) atomicMax((int*)&most[0], __float_as_int(m));
}
""", {"block": [256], "grid": [1]}),
    "histogram": ("""__global__ void histogram(const unsigned char* data, unsigned* bins, size_t n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
""", {"block": [256]}),
}


class Init(InitCase):
    def test_a_source(self):
        program, text = self.draft()
        self.assertEqual(list(program["kernels"]), ["saxpy", "outer"])
        self.assertEqual(program["kernels"]["saxpy"], {"source": "k.cu"})
        self.assertEqual(program["kernels"]["outer"]["entry"], "rows::outer")
        self.assertEqual(program["buffers"]["saxpy_y"]["role"], "inout")
        self.assertEqual(program["buffers"]["saxpy_x"]["role"], "input")
        self.assertEqual(program["buffers"]["outer_c"],
                         {"dtype": "f64", "shape": ["n", "n"], "role": "output"})
        self.assertEqual(program["steps"][0]["args"], ["saxpy_y", "saxpy_x", 1.0, "n"])
        self.assertIn("# guess", text)
        self.ok("run", "p.toml", "--set", "n=300")
        self.ok("check", "p.toml")

    def test_a_library_with_launch_metadata(self):
        """The metadata adds what the image does not tell: types, launch values, flags."""
        library = ROOT / "tests/golden/metadata/tvm_0_27_ptx.so"
        self.ok("init", library, "-o", "p.toml")
        self.assertTrue((self.folder / "p.ptx").read_bytes().startswith(b"//"))
        text = (self.folder / "p.toml").read_text(encoding="utf-8")
        program = tomllib.loads(text)
        self.assertEqual(program["kernels"]["rows_kernel"], {"ptx": "p.ptx"})
        rows = next(step for step in program["steps"] if step["launch"] == "rows_kernel")
        self.assertEqual(rows["cluster"], [1])
        self.assertIn("shared", rows)
        self.assertIn("# a call passes these launch values: grid.x, cluster.x, block.x, "
                      "dynamic_smem_bytes", text)
        maps = next(step for step in program["steps"] if step["launch"] == "map_kernel")
        self.assertIn("tensor_map", maps["args"][1])
        self.ok("check", "p.toml", "--device", "sim:h200")

    def test_a_library_with_a_source(self):
        self.ok("init", ROOT / "tests/golden/metadata/tvm_0_27_source.so", "-o", "p.toml")
        self.assertIn("scale_kernel(", (self.folder / "p.cu").read_text(encoding="utf-8"))
        program = tomllib.loads((self.folder / "p.toml").read_text(encoding="utf-8"))
        self.assertEqual(program["kernels"]["scale_kernel"], {"source": "p.cu"})
        self.fails(2, "p.toml exists already", "init",
                   ROOT / "tests/golden/metadata/tvm_0_27_source.so", "-o", "p.toml")

    def test_metadata_without_code(self):
        self.fails(2, "neither an image nor a CUDA source", "init",
                   ROOT / "tests/golden/metadata/tvm_0_27.tvm_meta.json", "-o", "p.toml")

    def test_a_reference(self):
        self.write("k.cu", SOURCE)
        self.ok("init", "k.cu", "-o", "p.toml", "--reference")
        script = self.folder / "p_reference.py"
        text = script.read_text(encoding="utf-8")
        unfilled = subprocess.run([sys.executable, script], capture_output=True, text=True,
                                  cwd=self.folder, check=False)
        self.assertIn("fill in the function reference", unfilled.stderr)
        at = text.index("    raise SystemExit")
        end = text.index("\n", at)
        script.write_text(text[:at] + """    return {
        "saxpy_y": saxpy_x + saxpy_y,
        "outer_c": np.outer(outer_a.ravel()[:n], outer_b.ravel()[:n]),
    }""" + text[end:], encoding="utf-8")
        subprocess.run([sys.executable, script, "n=300", "SEED=5"], cwd=self.folder, check=True)
        result = self.ok("run", "p.toml", "--set", "n=300", "--seed", "5", "--expect", "p_expected",
                         "--json")
        self.assertEqual([(o["name"], o["ok"]) for o in result.json()["outputs"]],
                         [("saxpy_y", True), ("outer_c", True)])
        # What was filled in is not overwritten.
        (self.folder / "p.toml").unlink()
        self.fails(2, "p_reference.py exists already", "init", "k.cu", "-o", "p.toml", "--reference")

    def test_entries(self):
        program, _ = self.draft("--entry", "scale<double>")
        self.assertEqual(program["kernels"]["scale"]["entry"], "scale<double>")
        self.assertEqual(program["buffers"]["scale_x"]["dtype"], "f64")
        self.ok("run", "p.toml", "--set", "n=64")

    def test_what_a_load_does_not_see_is_written_out(self):
        """Debug information tells the type of a number that the PTX does not use."""
        source = 'extern "C" __global__ void k(float* y, long long unused, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
        program, _ = self.draft(source=source)
        self.assertEqual(program["steps"][0]["args"], ["y", {"i64": "unused"}, "n"])
        self.ok("run", "p.toml", "--set", "n=64")

    def test_a_kernel_that_goes_a_little_beyond_its_size(self):
        """The offsets of rows have one element more, and so does an error by one: the user hears of it."""
        for access, more in [("x[i + 1] - x[i]", 1), ("x[i] + x[i + 1] + x[i + 5]", 5)]:
            with self.subTest(access):
                source = f"""__global__ void k(float* y, const float* x, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = {access};
}}
"""
                self.write("k.cu", source)
                (self.folder / "k.toml").unlink(missing_ok=True)
                result = self.ok("init", "k.cu")
                self.assertIn(f"kernel k accesses up to {more} element", result.err)
                program = tomllib.loads((self.folder / "k.toml").read_text())
                self.assertEqual(program["buffers"]["x"]["shape"], [f"n + {more}"])
                self.assertEqual(program["steps"][0]["grid"], ["ceildiv(n, 256)"])
                self.ok("run", "k.toml", "--strict", "--set", "n=777")
                # The warning says that a run without these elements shows the place.
                text = (self.folder / "k.toml").read_text().replace(f"n + {more}", "n")
                self.write("short.toml", text)
                self.check(self.baton("run", "short.toml", "--set", "n=777"), 1, "past the end")

    def test_constants_that_nobody_fills(self):
        source = """__constant__ float weights[5];
__constant__ int fixed = 3;
__global__ void k(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weights[i % 5] * fixed;
}
"""
        self.write("k.cu", source)
        result = self.ok("init", "k.cu")
        self.assertIn("the __constant__ weights holds zeros", result.err)
        self.assertNotIn("fixed", result.err)
        text = (self.folder / "k.toml").read_text()
        self.assertNotIn("weights", tomllib.loads(text)["buffers"])
        self.write("filled.toml", text.replace("# weights = ", "weights = "))
        self.ok("run", "filled.toml", "--set", "n=64", "--output", "y=y.npy")
        self.assertTrue(numpy.load(self.folder / "y.npy").any())

    def test_constants_have_the_types_of_the_source(self):
        source = """#include <cuda_fp16.h>
struct Range { int first, last; };
struct Mixed { float scale; int count; };
namespace tables { __constant__ int lookup[4][8]; }
__constant__ double factor;
__constant__ unsigned char mask[8];
__constant__ __half halves[6];
__constant__ float4 corners[2];
__constant__ Range range;
__constant__ Mixed mixed;
extern "C" __global__ void k(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tables::lookup[i & 3][i & 7] * factor + mask[i & 7] + __half2float(halves[i % 6]) +
                    corners[i & 1].z + range.first + mixed.scale * mixed.count;
}
"""
        self.write("k.cu", source)
        result = self.ok("init", "k.cu")
        lines = re.findall(r'(?m)^# (\w+) = \{ dtype = "(\w+)", shape = \[(\d+)\]',
                           (self.folder / "k.toml").read_text())
        self.assertEqual(sorted(lines), [("corners", "f32", "8"), ("factor", "f64", "1"), ("halves", "f16", "6"),
                                         ("mask", "u8", "8"), ("mixed", "u8", "8"), ("range", "i32", "2"),
                                         ("tables__lookup", "i32", "32")])
        self.assertIn("the __constant__ factor holds zeros; its line in [buffers] is a comment: give it its contents",
                      result.err)

    def test_textures_are_told(self):
        source = """__global__ void k(cudaTextureObject_t image, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex2D<float>(image, i, 0);
}
"""
        self.write("k.cu", source)
        result = self.ok("init", "k.cu")
        self.assertIn("kernel k takes image (texture), which a program file cannot make", result.err)
        self.assertNotIn("a trial", result.err)

    def test_each_count_is_a_symbol(self):
        program, _ = self.draft(source=KINDS["stencil"][0])
        self.assertEqual(list(program["symbols"]), ["width", "height"])
        self.assertEqual(program["steps"][0]["args"], ["in", "out", "width", "height"])
        self.assertEqual(program["buffers"]["in"]["shape"], ["height", "width"])
        self.ok("run", "p.toml", "--set", "width=70", "--set", "height=33", "--strict")

    def test_a_kernel_reads_what_an_earlier_one_writes(self):
        """Where the source calls both the same."""
        program, text = self.draft(source="""
extern "C" __global__ void produce(float* mid, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mid[i] = x[i] * 2;
}
extern "C" __global__ void consume(float* y, const float* mid, const double* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = mid[i] + x[i];
}
extern "C" __global__ void clamp(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && y[i] < 0) y[i] = 0;
}""")
        self.assertEqual(list(program["buffers"]), ["produce_mid", "produce_x", "consume_y", "consume_x"])
        self.assertEqual(program["steps"][2]["args"], ["consume_y", "n"])
        self.assertEqual(program["steps"][1]["args"], ["consume_y", "produce_mid", "consume_x", "n"])
        self.assertIn("mid is that of produce", text)
        self.ok("run", "p.toml", "--set", "n=64", "--strict")

    def test_an_image(self):
        self.write("k.cu", SOURCE)
        self.ok("compile", "k.cu", "-o", "k.ptx", "--arch", "sm_90a")
        self.ok("init", "k.ptx", "-o", "image.toml")
        self.ok("run", "image.toml", "--set", "N=64")

    def test_machine_code_alone(self):
        """The simulated GPU runs PTX, so no guess is tried, and no guess is to blame."""
        self.write("k.cu", SOURCE)
        self.ok("compile", "k.cu", "-o", "k.cubin", "--arch", "sm_90a")
        result = self.ok("init", "k.cubin", "-o", "image.toml")
        self.assertEqual(result.err.count("warning"), 1, result.err)
        self.assertIn("k.cubin holds machine code and no PTX", result.err)
        steps = tomllib.loads((self.folder / "image.toml").read_text())["steps"]
        self.assertEqual({step["launch"] for step in steps}, {"saxpy", "outer"})

    def test_a_required_block(self):
        program, _ = self.draft(source="__global__ void __launch_bounds__(64) k(int* p, int n) {"
                                       " if (threadIdx.x < n) p[threadIdx.x] = 1; }")
        self.assertEqual(program["steps"][0]["block"], [64])
        self.assertEqual(program["buffers"]["p"]["role"], "output")

    def test_kernels_of_many_kinds_run_as_they_are(self):
        """A judged run of each: without a warning, and not by a size of nothing."""
        for name, (source, wanted) in KINDS.items():
            with self.subTest(name):
                self.write(f"{name}.cu", source)
                self.assertEqual(without_progress(self.ok("init", f"{name}.cu").err), "")
                program = tomllib.loads((self.folder / f"{name}.toml").read_text())
                step, sizes = program["steps"][0], [f"--set={name}=100" for name in program["symbols"]]
                self.assertEqual({key: step[key] for key in wanted}, wanted)
                is_bounded = "require" not in (self.folder / f"{name}.toml").read_text()
                self.assertEqual(is_bounded, name != "without_bounds")
                for options in [[], sizes] if is_bounded else [[]]:
                    run = self.ok("run", f"{name}.toml", "--strict", "--json", *options).json()
                    self.assertGreater(run["steps"][0]["instructions"], 0)
                    self.assertEqual(run["findings"], [])

    def test_a_kernel_that_no_guess_fits(self):
        self.write("k.cu", "__global__ void k(int* p, int n) { p[-1 - n] = 1; }")
        result = self.ok("init", "k.cu", "-o", "p.toml")
        self.assertIn("a trial of kernel k on the simulated GPU failed", result.err)

    def test_a_racy_kernel(self):
        """The guesses are right, so that the user is not told to mend them."""
        source = """extern "C" __global__ void reverse(float* y) {
  extern __shared__ float unused[];
  __shared__ float s[256];
  s[threadIdx.x] = threadIdx.x;
  y[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}"""
        self.write("k.cu", source.replace("  extern __shared__ float unused[];\n", ""))
        result = self.ok("init", "k.cu")
        self.assertIn("an error in the code of kernel reverse", result.err)
        self.assertIn(": k.cu:4:3: reads 4 bytes of shared memory", result.err)
        self.assertIn("baton explain shared_race", result.err)
        self.assertNotIn(str(self.folder), result.err)
        self.assertNotIn("mend the guesses", result.err)
        self.assertIn("block  = [256]  # guess", (self.folder / "k.toml").read_text())
        self.check(self.baton("run", "k.toml", "--set", "N=256"), 1, "error")
        self.check(self.baton("explain", "shared_race"), 0)

    def test_a_racy_kernel_that_takes_long(self):
        """Its run ends soon all the same, as that of a kernel without a race."""
        slow = """extern "C" __global__ void slow(float* c, const float* a, int n) {
  __shared__ float s[256];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = x;
  float sum = s[(threadIdx.x + 32) % 256];
  for (int k = 0; k < n; ++k) for (int l = 0; l < 64; ++l) sum += a[k] * l;
  if (x < n) c[x] = sum;
}"""
        self.write("k.cu", slow)
        self.assertIn("an error in the code of kernel slow", self.ok("init", "k.cu").err)
        self.assertLess(tomllib.loads((self.folder / "k.toml").read_text())["symbols"]["n"], 2**20)

    def test_a_kernel_for_smaller_blocks(self):
        program, _ = self.draft(source="""extern "C" __global__ void tile(float* y, const float* x, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = s[threadIdx.x];
}""")
        self.assertEqual(program["steps"][0]["block"], [64])
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(n, 64)"])
        self.ok("run", "p.toml", "--set", "n=300")

    def test_a_racy_kernel_for_smaller_blocks(self):
        self.write("k.cu", """extern "C" __global__ void reverse(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x];
}""")
        result = self.ok("init", "k.cu")
        self.assertIn("an error in the code of kernel reverse", result.err)
        self.assertIn("block  = [64]  # guess", (self.folder / "k.toml").read_text())

    def test_the_next_call_can_be_pasted(self):
        self.write("my kernel.cu", SOURCE)
        out = self.baton("init", "my kernel.cu", "--reference").out
        self.assertIn("then: baton run 'my kernel.toml'\n", out)
        self.assertIn("python3 'my kernel_reference.py' && baton run 'my kernel.toml' --expect 'my kernel_expected'\n",
                      out)

    def test_it_overwrites_nothing(self):
        self.draft()
        self.fails(2, "exists already", "init", "k.cu", "-o", "p.toml")
        (self.folder / "drafts").mkdir()
        self.fails(2, "drafts is a folder; name a file in it", "init", "k.cu", "-o", "drafts")

    def test_a_cache_that_cannot_be_written_is_told_once(self):
        self.write("k.cu", SOURCE)
        self.write("file", "")
        result = self.baton("init", "k.cu", BATON_CACHE_DIR=str(self.folder / "file"))
        self.check(result, 0)
        self.assertEqual(result.err.count("not kept"), 1, result.err)

    def test_commands_that_need_a_program_point_here(self):
        self.write("k.cu", SOURCE)
        for command in ("run", "check", "inspect", "bench", "tune"):
            self.fails(2, "baton init k.cu writes a program file for its kernels", command, "k.cu")
        self.fails(2, "baton init k.cu writes", "build", "k.cu", "-o", "k.baton")

    def test_wrong_files(self):
        self.fails(2, "no.cu", "init", "no.cu")
        self.write("empty.cu", "int x;")
        self.fails(2, "has no kernel", "init", "empty.cu", "-o", "e.toml")
        self.fails(2, "needs a source", "init")
        self.fails(2, "k.toml is a program file already", "init", "k.toml")
        self.write("racy.cu", "syntax error")  # not read: it is known before that nothing can be written
        self.fails(2, "there is no folder none", "init", "racy.cu", "-o", "none/p.toml")


if __name__ == "__main__":
    main()
