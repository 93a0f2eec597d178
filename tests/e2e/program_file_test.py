"""The keys of a program file that stand for work around it: require, init, expect and include."""

import hashlib
import json

import numpy as np

from baton import Case, main

DOUBLE = """
[kernels.double]
text = '''extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}'''
"""
STEP = """
[[steps]]
launch = "double"
grid = "ceildiv(N, 64)"
block = 64
args = ["x", "y", "N"]
"""


def words(name, count, seed=0):
    """As docs/program-file.md says."""
    key = int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "little")
    i = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(key) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def normal(name, count, seed=0):
    z = words(name, 4 * count, seed).reshape(count, 4)
    part = np.uint64((1 << 21) - 1)
    total = sum((z >> np.uint64(k)) & part for k in (0, 21, 42)).sum(axis=1).astype(np.int64)
    return (2 * total - 12 * ((1 << 21) - 1)) * 2.0**-22


class ProgramFile(Case):
    def test_distributions_are_those_of_the_document(self):
        self.write("p.toml", """
[symbols]
N = 1000
[buffers]
f16 = { dtype = "f16", shape = "N", role = "inout", init = { normal = 0.02 } }
f32 = { dtype = "f32", shape = "N", role = "inout", init = { normal = 2 } }
f64 = { dtype = "f64", shape = "N", role = "inout", init = { uniform = [-0.5, 3] } }
i8  = { dtype = "i8", shape = "N", role = "inout", init = { uniform = [-127, 127] } }
u   = { dtype = "u32", shape = [], role = "scratch" }
[[steps]]
fill = { buffer = "u", value = 0 }
""")
        saved = [word for name in ("f16", "f32", "f64", "i8")
                 for word in ("--output", f"{name}={name}.npy")]
        self.check(self.baton("run", "p.toml", "--seed", "7", *saved), 0)
        for name, want in (
                ("f16", (0.02 * normal("f16", 1000, 7)).astype(np.float16)),
                ("f32", (2 * normal("f32", 1000, 7)).astype(np.float32)),
                ("f64", -0.5 + (words("f64", 1000, 7) >> np.uint64(11)) * 2.0**-53 * 3.5),
                ("i8", np.array([-127 + ((int(z) * 255) >> 64) for z in words("i8", 1000, 7)],
                                np.int8))):
            np.testing.assert_array_equal(np.load(self.folder / f"{name}.npy"), want, name)

    def test_a_requirement_names_both_values(self):
        self.write("p.toml", """
require = ["N % 8 == 0", { "the cache has room" = "POS + N <= T" }]
[symbols]
N = 8
POS = 0
T = 64
[buffers]
y = { dtype = "f32", shape = "N" }
[[steps]]
fill = { buffer = "y", value = 0 }
""")
        for command in ("run", "check"):
            self.check(self.baton(command, "p.toml"), 0)
            self.check(self.baton(command, "p.toml", "--set", "N=12"), 2,
                       "requires N % 8 == 0, but N % 8 is 4 (N = 12)", "p.toml:2:13",
                       "give its symbols other values")
            self.check(self.baton(command, "p.toml", "--set", "POS=60"), 2,
                       "requires POS + N <= T (the cache has room), but POS + N is 68 and T is 64 "
                       "(POS = 60, N = 8)")

    def test_an_output_is_compared_with_what_the_program_expects(self):
        x = np.arange(100, dtype=np.float32)
        self.save("x.npy", x)
        self.save("y.npy", 2 * x)
        self.write("p.toml", """
[symbols]
N = 100
[buffers]
x = { dtype = "f32", shape = "N", role = "input", file = "x.npy" }
y = { dtype = "f32", shape = "N", role = "output", expect = "y.npy" }
""" + DOUBLE + STEP)
        result = self.baton("run", "p.toml", "--json")
        self.check(result, 0)
        output = result.json()["outputs"][0]
        self.assertEqual((output["expected"], output["ok"]), ("y.npy", True))
        # --expect goes before the file, and other symbols before both.
        self.save("other.npy", x)
        self.check(self.baton("run", "p.toml", "--expect", "y=other.npy"), 1, "other.npy")
        self.save("x.npy", np.arange(50, dtype=np.float32))
        other = self.baton("run", "p.toml", "--set", "N=50")
        self.check(other, 0)
        self.assertIn("warning: y is not compared: y.npy holds the shape [100], the buffer has [50]",
                      other.err)
        self.save("x.npy", x + 1)
        self.check(self.baton("run", "p.toml"), 1, "y.npy", "100 of 100")
        self.check(self.baton("run", "p.toml", "--atol", "3"), 0)
        (self.folder / "y.npy").unlink()
        self.check(self.baton("run", "p.toml"), 2, "y.npy", "p.toml:6:1")

    def test_a_file_includes_another(self):
        self.write("base/base.toml", """
[symbols]
N = 100
[buffers]
x = { dtype = "f32", shape = "N", role = "input", file = "x.npy" }
y = { dtype = "f32", shape = "N", role = "output" }
[kernels.double]
text = '''
#include "factor.h"
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = FACTOR * x[i];
}'''
""")
        self.write("base/factor.h", "#define FACTOR 2\n")
        x = np.arange(64, dtype=np.float32)
        self.save("base/x.npy", x)
        self.save("y.npy", 2 * x)
        self.write("p.toml", "include = [\"base/base.toml\"]\n[symbols]\nN = 64\n" + STEP)
        self.check(self.baton("run", "p.toml", "--expect", "y=y.npy"), 0)
        # A bundle has the text of both files.
        self.check(self.baton("build", "p.toml", "-o", "p.baton", "--weights"), 0)
        (self.folder / "base").rename(self.folder / "gone")
        self.check(self.baton("run", "p.baton", "--expect", "y=y.npy"), 0)
        self.check(self.baton("run", "p.toml"), 2, "base/base.toml", "p.toml:1:12")

    def test_one_extent_and_the_kernel_of_the_own_name_need_no_more(self):
        self.write("p.toml", """
[buffers]
x = { dtype = "f32", shape = 64, role = "input", init = "arange" }
y = { dtype = "f32", shape = 64, role = "output" }
[kernels]
twice = { source = "k.cu" }
[[steps]]
launch = "twice"
grid = 4
block = 16
args = ["x", "y"]
""")
        self.write("k.cu", """
extern "C" __global__ void other(float* y) { *y = 0; }
extern "C" __global__ void twice(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
""")
        result = self.baton("run", "p.toml", "--json")
        self.check(result, 0)
        self.assertEqual(json.loads(result.out)["steps"][0]["grid"], [4, 1, 1])


if __name__ == "__main__":
    main()
