#!/usr/bin/env python3
"""Buffers that are variables of a kernel's module."""

import unittest

import numpy
from baton import Case

PROGRAM = """
[symbols]
N = 4

[buffers.taps]
dtype = "f32"
shape = ["N"]
role = "input"
variable = "blur.taps"

[buffers.calls]
dtype = "i32"
shape = []
role = "output"
init = "zeros"
variable = "blur.calls"

[buffers.y]
dtype = "f32"
shape = [4]
role = "output"

[kernels.blur]
text = '''
__constant__ float taps[4];
__device__ int calls;
extern "C" __global__ void blur(float* y) {
  y[threadIdx.x] = 2 * taps[threadIdx.x];
  if (threadIdx.x == 0) ++calls;
}
'''

[[steps]]
repeat = 3
steps = [{ launch = "blur", grid = [1], block = [4], args = ["y"] }]
"""


class Variables(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)
        self.save("taps.npy", numpy.array([1, 2, 3, 4], dtype=numpy.float32))

    def test_are_read_and_written_as_buffers(self):
        self.save("y.npy", numpy.array([2, 4, 6, 8], dtype=numpy.float32))
        self.save("calls.npy", numpy.array(3, dtype=numpy.int32))
        self.check(self.baton("run", "p.toml", "--input", "taps=taps.npy", "--expect", "y=y.npy",
                              "--expect", "calls=calls.npy"), 0)

    def test_may_be_filled_in_part(self):
        self.save("two.npy", numpy.array([5, 6], dtype=numpy.float32))
        result = self.baton("run", "p.toml", "--set", "N=2", "--input", "taps=two.npy",
                            "--output", "y=y.npy")
        self.check(result, 0)
        numpy.testing.assert_array_equal(numpy.load(self.folder / "y.npy"), [10, 12, 0, 0])

    def test_start_as_the_image_says(self):
        self.write("p.toml", PROGRAM.replace("int calls;", "int calls = 7;")
                   .replace('role = "output"\ninit = "zeros"', 'role = "output"')
                   .replace("taps[4];", "taps[4] = {1, 1, 1, 0};")
                   .replace('role = "input"', 'role = "scratch"'))
        result = self.baton("run", "p.toml", "--output", "calls=calls.npy", "--output", "y=y.npy")
        self.check(result, 0)
        self.assertEqual(numpy.load(self.folder / "calls.npy"), 10)
        numpy.testing.assert_array_equal(numpy.load(self.folder / "y.npy"), [2, 2, 2, 0])
        self.assertNotIn("no step writes", str(result))

    def refused(self, old, new, *parts):
        self.assertIn(old, PROGRAM)
        self.write("bad.toml", PROGRAM.replace(old, new))
        result = self.baton("run", "bad.toml", "--input", "taps=taps.npy")
        self.check(result, 2)
        for part in parts:
            self.assertIn(part, result.first_error)

    def test_that_do_not_fit_are_refused(self):
        self.save("taps.npy", numpy.zeros(5, dtype=numpy.float32))
        self.refused("N = 4", "N = 5", "buffer taps", "20 bytes", "variable taps", "16")

    def test_that_do_not_exist_are_refused(self):
        self.refused("blur.taps", "blur.tap", "tap", "taps", "bad.toml:5")
        self.refused("blur.taps", "blue.taps", "blue", "blur", "bad.toml:5")
        self.refused("blur.taps", "taps", "kernel.variable")
        self.refused("blur.taps", "blur.calls", "taps", "calls", "both")


if __name__ == "__main__":
    unittest.main()
