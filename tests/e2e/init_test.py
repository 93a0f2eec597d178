#!/usr/bin/env python3
"""baton init: a program file from a source or an image runs as it is."""

import subprocess
import sys
import tomllib
import unittest

from baton import ROOT, Case, main

SOURCE = """\
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
namespace rows {
__global__ void outer(const double* a, const double* b, double* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) c[i] = a[i / n] * b[i % n];
}
}
template <typename T> __global__ void scale(T* x, T f, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= f;
}
"""


class Init(Case):
    def ok(self, *arguments):
        result = self.baton(*arguments)
        self.check(result, 0)
        return result

    def fails(self, status, part, *arguments):
        self.check(self.baton(*arguments), status, part)

    def draft(self, *options, source=SOURCE, name="k.cu"):
        self.write(name, source)
        self.ok("init", name, "-o", "p.toml", *options)
        text = (self.folder / "p.toml").read_text(encoding="utf-8")
        return tomllib.loads(text), text

    def test_a_source(self):
        program, text = self.draft()
        self.assertEqual(list(program["kernels"]), ["saxpy", "outer"])
        self.assertEqual(program["kernels"]["saxpy"], {"source": "k.cu"})
        self.assertEqual(program["kernels"]["outer"]["entry"], "rows::outer")
        self.assertEqual(program["buffers"]["saxpy_0"]["role"], "inout")
        self.assertEqual(program["buffers"]["saxpy_1"]["role"], "input")
        self.assertEqual(program["buffers"]["outer_2"],
                         {"dtype": "f64", "shape": ["N", "N"], "role": "output"})
        self.assertEqual(program["steps"][0]["args"], ["saxpy_0", "saxpy_1", 1.0, "N"])
        self.assertIn("# guess", text)
        self.ok("run", "p.toml", "--set", "N=300")
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
        "saxpy_0": saxpy_1 + saxpy_0,
        "outer_2": np.outer(outer_0.ravel()[:N], outer_1.ravel()[:N]),
    }""" + text[end:], encoding="utf-8")
        subprocess.run([sys.executable, script, "N=300", "SEED=5"], cwd=self.folder, check=True)
        result = self.ok("run", "p.toml", "--set", "N=300", "--seed", "5", "--expect", "p_expected",
                         "--json")
        self.assertEqual([(o["name"], o["ok"]) for o in result.json()["outputs"]],
                         [("saxpy_0", True), ("outer_2", True)])
        # What was filled in is not overwritten.
        (self.folder / "p.toml").unlink()
        self.fails(2, "p_reference.py exists already", "init", "k.cu", "-o", "p.toml", "--reference")

    def test_entries(self):
        program, _ = self.draft("--entry", "scale<double>")
        self.assertEqual(program["kernels"]["scale"]["entry"], "scale<double>")
        self.assertEqual(program["buffers"]["scale_0"]["dtype"], "f64")
        self.ok("run", "p.toml", "--set", "N=64")

    def test_an_image(self):
        self.write("k.cu", SOURCE)
        self.ok("compile", "k.cu", "-o", "k.ptx", "--arch", "sm_90a")
        self.ok("init", "k.ptx", "-o", "image.toml")
        self.ok("run", "image.toml", "--set", "N=64")

    def test_a_required_block(self):
        program, _ = self.draft(source="__global__ void __launch_bounds__(64) k(int* p, int n) {"
                                       " if (threadIdx.x < n) p[threadIdx.x] = 1; }")
        self.assertEqual(program["steps"][0]["block"], [64])
        self.assertEqual(program["buffers"]["p0"]["role"], "output")

    def test_a_kernel_that_no_guess_fits(self):
        self.write("k.cu", "__global__ void k(int* p, int n) { p[-1 - n] = 1; }")
        result = self.ok("init", "k.cu", "-o", "p.toml")
        self.assertIn("a trial of kernel k on the simulated GPU failed", result.err)

    def test_a_racy_kernel(self):
        """The guesses are right, so that nobody is told to mend them."""
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

    def test_a_kernel_for_smaller_blocks(self):
        program, _ = self.draft(source="""extern "C" __global__ void tile(float* y, const float* x, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = s[threadIdx.x];
}""")
        self.assertEqual(program["steps"][0]["block"], [64])
        self.assertEqual(program["steps"][0]["grid"], ["ceildiv(N, 64)"])
        self.ok("run", "p.toml", "--set", "N=300")

    def test_a_racy_kernel_for_smaller_blocks(self):
        self.write("k.cu", """extern "C" __global__ void reverse(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x];
}""")
        result = self.ok("init", "k.cu")
        self.assertIn("an error in the code of kernel reverse", result.err)
        self.assertIn("block  = [64]  # guess", (self.folder / "k.toml").read_text())

    def test_it_overwrites_nothing(self):
        self.draft()
        self.fails(2, "exists already", "init", "k.cu", "-o", "p.toml")

    def test_wrong_files(self):
        self.fails(2, "no.cu", "init", "no.cu")
        self.write("empty.cu", "int x;")
        self.fails(2, "has no kernel", "init", "empty.cu", "-o", "e.toml")
        self.fails(2, "needs a source", "init")


if __name__ == "__main__":
    main()
