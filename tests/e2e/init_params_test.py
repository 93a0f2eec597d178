#!/usr/bin/env python3
"""`baton init`: what it knows of parameters, from debug information."""

import tomllib

from baton import main
from init_case import SOURCE, InitCase


class InitParams(InitCase):
    def test_names_of_parameters(self):
        """Comments, macros, templates and namespaces are the compiler's to read."""
        source = """#define POINTER(T) T* __restrict__
namespace a { template <typename T> struct Span { T* first; int size; };
template <typename T, int W> __global__ void __launch_bounds__(128)
mix(POINTER(const T) in, /* float* old, */ POINTER(T) exp, // int n,
    T const (*rows)[W], Span<T> span, int, unsigned int num_items = 4u) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < num_items) exp[i] = in[i] + rows[i][0];
} }
template __global__ void a::mix<float, 1>(const float*, float*, const float (*)[1], Span<float>, int, unsigned);
"""
        program, text = self.draft("--reference", source=source)
        self.assertEqual(list(program["buffers"]), ["in", "exp_", "rows", "span_first"])
        self.assertEqual(program["buffers"]["in"]["role"], "input")
        self.assertEqual(program["steps"][0]["args"][:3], ["in", "exp_", "rows"])
        self.assertRegex(text, r"# guess: span \(.*argument 4 \(int\), num_items \(unsigned int\)")
        self.assertEqual(list(program["kernels"]), ["mix"])
        self.ok("run", "p.toml", "--set", "N=64")
        # "in" is a keyword of Python.
        script = (self.folder / "p_reference.py").read_text(encoding="utf-8")
        self.assertIn("def reference(in_, rows, span_first):", script)
        compile(script, "p_reference.py", "exec")

    def test_types_of_kernels_without_a_mangled_name(self):
        """Debug information has them: no dtype is a guess."""
        source = """#include <cuda_fp16.h>
extern "C" __global__ void cast(__half* y, const double* x, const float4* v, unsigned char* m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { y[i] = __double2half(x[i] + v[i].w); m[i] = 1; }
}
"""
        program, text = self.draft(source=source)
        dtypes = {name: (buffer["dtype"], buffer["shape"]) for name, buffer in program["buffers"].items()}
        self.assertEqual(dtypes, {"y": ("f16", ["n"]), "x": ("f64", ["n"]), "v": ("f32", ["n", 4]), "m": ("u8", ["n"])})
        self.assertIn("# double const*\n", text)
        self.ok("run", "p.toml", "--set", "n=64", "--strict")

    def test_a_buffer_of_structs_has_all_of_their_elements(self):
        source = """struct Particle { float position[3]; float mass; float more[3]; };
__global__ void move(Particle* particles, int count, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) particles[i].position[2] += dt * particles[i].more[2];
}
"""
        program, _ = self.draft(source=source)
        self.assertEqual(program["buffers"]["particles"]["shape"], ["count", 7])
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(count, 256)"])

    def test_instances_that_host_code_launches_have_names(self):
        source = """#include <cstdio>
template <typename T> __global__ void twice(const T* in, T* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) out[i] = 2 * in[i];
}
int main() { twice<float><<<1, 32>>>(nullptr, nullptr, 0); printf("done"); }
"""
        program, _ = self.draft(source=source)
        self.assertEqual(list(program["buffers"]), ["in", "out"])

    def test_fields_of_a_struct(self):
        """Pointers in it are buffers, numbers are guesses like others."""
        kernel = "extern \"C\" __global__ void k(P p) { if (threadIdx.x < p.n) p.y[threadIdx.x] = p.a * p.x[threadIdx.x]; }"
        program, _ = self.draft(source="struct P { const float* x; float* y; int n; float a; };" + kernel)
        self.assertEqual(list(program["buffers"]), ["p_x", "p_y"])
        self.assertEqual(program["steps"][0]["args"],
                         [{"struct": ["p_x", "p_y", {"i32": "n"}, {"f32": 1.0}]}])
        self.ok("run", "p.toml", "--set", "n=64")
        (self.folder / "p.toml").unlink()
        # Program files have no field for these.
        self.write("k.cu", "struct P { float* x; float* y; float a; int n, some : 3; };" + kernel)
        result = self.ok("init", "k.cu", "-o", "p.toml")
        self.assertIn("kernel k gets zeros for p (P), so it may do nothing", result.err)

    def test_structs_and_arrays_inside_of_a_struct(self):
        """Each field has a line; padding that the values do not bring is bytes."""
        program, text = self.draft(source="""#include <cuda_fp16.h>
struct Base { short order; };
struct Extent { short rows; int cols; };
struct alignas(16) Corner { float x; };
struct P : Base {
  const float* x;
  char flag;
  Extent extent;
  float scale[3];
  Corner corner[2];
  union { int i; float f; } either;
  __half half;
  unsigned char table[40];
  double bias;
  float* y;
};
extern "C" __global__ void k(P p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p.y[i] = p.flag * p.scale[i % 3] * p.x[i] + p.bias + p.extent.cols + p.order + p.table[i % 40];
}""")
        self.assertEqual(list(program["buffers"]), ["p_x", "p_y"])
        self.assertEqual(program["steps"][0]["args"], [{"struct": [
            {"i16": 1}, "p_x", {"i8": 1}, {"bytes": "000000"}, {"i16": 1}, {"i32": "cols"},
            {"f32": 1.0}, {"f32": 1.0}, {"f32": 1.0}, {"bytes": "00" * 8}, {"f32": 1.0}, {"bytes": "00" * 12},
            {"f32": 1.0}, {"bytes": "00" * 12}, {"bytes": "00" * 4}, {"f16": 1.0}, {"bytes": "00" * 40},
            {"f64": 1.0}, "p_y"]}, "n"])
        self.assertIn('  { bytes = "000000" },  # padding\n  { i16 = 1 },  # extent.rows\n', text)
        self.assertIn('  { f32 = 1.0 },  # corner[1].x\n', text)
        run = self.ok("run", "p.toml", "--set=n=64", "--set=cols=7", "--json").json()
        self.assertEqual(run["findings"], [])

    def test_names_of_parameters_of_ptx(self):
        self.write("k.cu", SOURCE)
        self.ok("compile", "k.cu", "-o", "k.ptx", "--arch", "sm_90a", "--", "-G")
        self.ok("init", "k.ptx", "-o", "image.toml")
        program = tomllib.loads((self.folder / "image.toml").read_text())
        self.assertEqual(list(program["buffers"])[:2], ["saxpy_y", "saxpy_x"])


if __name__ == "__main__":
    main()
