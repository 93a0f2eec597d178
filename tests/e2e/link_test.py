#!/usr/bin/env python3
"""Kernels of several files, linked: run, checked, inspected, built into bundles, and refused."""

import json
import unittest

import numpy

from baton import ON_GPU, Case, main

PROGRAM = """\
name = "linked"

[symbols]
N = 1000

[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "arange"

[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"

[kernels.first]
link = LINK
OPTIONS

[kernels.second]
link = LINK
entry = "second<float>"
OPTIONS

[[steps]]
launch = "first"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", "x", "N"]

[[steps]]
launch = "second"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", "N"]
"""
HEADER = 'extern "C" __device__ float scale(float x);\n'
CALLER = """\
#include "scale.h"
extern __device__ float table[4];
static __device__ float helper(float x) { return x + 1; }
extern "C" __global__ void first(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scale(helper(x[i])) + table[i % 4];
}
"""
CALLEE = """\
#include "scale.h"
__device__ float table[4] = {1, 2, 3, 4};
static __device__ float helper(float x) { return x * 3; }
extern "C" __device__ float scale(float x) { return helper(x); }
template <typename T> __global__ void second(T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scale(y[i]);
}
"""
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 result) scale(.param .b32 x) {
  .reg .f32 %f<3>;
  ld.param.f32 %f1, [x];
  mul.f32 %f2, %f1, 0f40400000;
  st.param.f32 [result], %f2;
  ret;
}
"""
ONLY_CALLER = PROGRAM.split("[kernels.second]")[0] + "[[steps]]" + PROGRAM.split("[[steps]]")[1]
NO_COMPILER = {"BATON_NVRTC": "/nonexistent", "BATON_NVJITLINK": "/nonexistent",
               "BATON_CACHE_SIZE": "0"}


class Links(Case):
    def setUp(self):
        super().setUp()
        self.write("a.cu", CALLER)
        self.write("b.cu", CALLEE)
        self.write("scale.h", HEADER)
        self.write("f.ptx", PTX)
        index = numpy.arange(1000, dtype=numpy.float32)
        first = 3 * (index + 1) + 1 + numpy.arange(1000) % 4
        self.save("first.npy", first.astype(numpy.float32))
        self.save("y.npy", (3 * first).astype(numpy.float32))

    def program(self, link='["a.cu", "b.cu"]', options="", text=PROGRAM):
        self.write("p.toml", text.replace("LINK", link).replace("OPTIONS", options))
        return "p.toml"

    def refused(self, status, *parts):
        result = self.baton("check", "p.toml")
        self.assertEqual(result.status, status, result)
        for part in parts:
            self.assertIn(part, result.first_error)

    def test_sources(self):
        self.check(self.baton("run", self.program(), "--expect", "y=y.npy"), 0)
        result = self.baton("run", "p.toml", "--json").json()
        # Equal definitions are one module.
        self.assertEqual([module["name"] for module in result["modules"]], ["a.cu + b.cu"])
        self.assertEqual(result["modules"][0]["kernels"], ["first", "second"])
        self.assertTrue(result["modules"][0]["compile"]["cache_hit"])
        self.check(self.baton("check", "p.toml"), 0)

    def test_link_time_optimisation(self):
        self.program(options='options = ["-dlto"]')
        self.check(self.baton("run", "p.toml", "--expect", "y=y.npy"), 0)

    def test_ptx_and_source(self):
        self.write("table.cu", "__device__ float table[4] = {1, 2, 3, 4};")
        self.program('["f.ptx", "a.cu", "table.cu"]', text=ONLY_CALLER)
        self.check(self.baton("run", "p.toml", "--expect", "y=first.npy"), 0)

    def test_rewriting(self):
        self.program(options='rewrite = "wait"')
        result = self.baton("run", "p.toml", "--expect", "y=y.npy", "--json")
        self.assertEqual(result.json()["edges"][0]["verdict"], "proven", result)

    def test_bundles(self):
        self.program()
        self.check(self.baton("build", "p.toml", "-o", "p.baton", "--arch", "sm_90a,compute_90"), 0)
        expected = self.baton("run", "p.toml", "--json").json()
        for name in ("p.toml", "a.cu", "b.cu", "scale.h"):
            (self.folder / name).rename(self.folder / (name + ".kept"))
        result = self.baton("run", "p.baton", "--expect", "y=y.npy", "--json", **NO_COMPILER)
        self.check(result, 0)
        self.assertEqual(result.json()["edges"], expected["edges"])
        self.assertEqual(result.json()["modules"][0]["name"], "a.cu + b.cu")
        self.check(self.baton("inspect", "p.baton", "--extract", "out", **NO_COMPILER), 0)
        for name in ("a.cu", "b.cu", "scale.h"):
            self.assertEqual((self.folder / "out" / name).read_bytes(),
                             (self.folder / (name + ".kept")).read_bytes())
        self.check(self.baton("run", "p.baton", "--keep", "kept", **NO_COMPILER), 0)

    def test_kept_files_and_manifest(self):
        self.check(self.baton("run", self.program('["a.cu", "b.cu", "f2.ptx"]')), 2)
        self.write("f2.ptx", PTX.replace("scale", "other"))
        self.check(self.baton("run", "p.toml", "--keep", "kept"), 0)
        manifest = json.loads((self.folder / "kept/manifest.json").read_text())
        linked = manifest["modules"][0]["link"]
        self.assertEqual([entry["name"] for entry in linked], ["a.cu", "b.cu", "f2.ptx"])
        self.assertEqual((self.folder / "kept/a.cu").read_text(), CALLER)

    def test_machine_code_needs_a_gpu(self):
        self.program()
        self.check(self.baton("run", "p.toml", "--keep", "kept"), 0)
        self.program('["kept/first.cubin", "a.cu"]', text=ONLY_CALLER)
        self.refused(2, "kept/first.cubin is linked already", "p.toml:17:10")

    def test_what_is_refused(self):
        self.program('["a.cu"]', text=ONLY_CALLER)
        self.refused(2, "a.cu uses scale, which none of the linked files defines (p.toml:17:10)")
        self.program('["a.cu", "b.cu", "f.ptx"]', text=ONLY_CALLER)
        self.refused(2, "f.ptx defines scale, and so does b.cu")
        self.program('["a.cu", "none.cu"]')
        self.refused(2, 'cannot read "none.cu"')
        self.program("[]")
        self.refused(2, "kernel first has link = [] (p.toml:18:8); name the sources and images to link")
        self.program('"a.cu"')
        self.refused(2, "link of kernel first must be an array of strings")
        self.program('["a.cu", 3]')
        self.refused(2, "must be an array of strings")
        self.program(options='source = "a.cu"')
        self.refused(2, "has both source and link")
        self.program('["f.ptx"]', 'options = ["-DX"]', text=ONLY_CALLER)
        self.refused(2, "links no source")
        self.write("broken.cu", "__global__ void k() { undeclared(); }")
        self.program('["a.cu", "b.cu", "broken.cu"]')
        self.refused(2, "broken.cu:1:23")


if __name__ == "__main__":
    main()
