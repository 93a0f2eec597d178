#!/usr/bin/env python3
"""Launches on parts of the SMs: what `run` and `check` tell of them, and what is refused."""

import unittest

from baton import ON_GPU, Case, main

PROGRAM = """
[symbols]
N = 4096
S = 8
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "ones" }
y = { dtype = "f32", shape = ["N"], role = "inout", init = "zeros" }
z = { dtype = "f32", shape = ["N"], role = "inout", init = "zeros" }
[kernels]
add = { text = '''extern "C" __global__ void add(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}''' }
[[steps]]
parallel = [
  [ { launch = "add", grid = ["ceildiv(N, 256)"], block = [256], args = ["y", "x", "N"], sms = "S" } ],
  [ { launch = "add", grid = ["ceildiv(N, 256)"], block = [256], args = ["z", "x", "N"], sms = 12 } ] ]
"""


@unittest.skipIf(ON_GPU, "the counts are those of the simulated H100")
class Parts(Case):
    def call(self, command, *options):
        (self.folder / "p.toml").write_text(PROGRAM)
        return self.baton(command, "p.toml", "--device", "sim:h100", *options)

    def test_run_and_check_tell_what_was_given(self):
        for command in ("run", "check"):
            with self.subTest(command):
                result = self.call(command)
                self.check(result, 0)
                self.assertRegex(result.out, r"part +SMs +asked +launches\n +0 +8 +8 +0\n +1 +16 +12 +1\n")

    def test_json_has_the_parts(self):
        for options in (("check",), ("run",), ("run", "--executor", "graph")):
            with self.subTest(options):
                result = self.call(*options, "--json")
                self.check(result, 0)
                self.assertEqual(result.json()["parts"], [{"asked": 8, "given": 8, "launches": [0]},
                                                          {"asked": 12, "given": 16, "launches": [1]}])

    def test_what_does_not_fit_is_refused(self):
        self.check(self.call("run", "--set", "S=200"), 2, "212", "120", "p.toml:")
        self.check(self.call("check", "--set", "S=-1"), 2, "S = -1", "p.toml:")


if __name__ == "__main__":
    main()
