"""A program of three launches, which several files test."""

import numpy as np

CHAIN = '''
name = "chain"

[symbols]
N = 1024

[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "ones" }
w = { dtype = "f32", shape = ["N"], role = "weight", init = "arange" }
h = { dtype = "f32", shape = ["N"] }
y = { dtype = "f32", shape = ["N"], role = "output" }
count = { dtype = "i32", shape = [1], role = "state", init = "zeros" }

[kernels.add]
text = """
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void step(int* count) { *count += 1; }
"""
entry = "add"

[kernels.step]
text = """
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void step(int* count) { *count += 1; }
"""
entry = "step"

[[steps]]
launch = "add"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["h", "x", "w", "N"]

[[steps]]
launch = "add"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", "h", "w", "N"]

[[steps]]
launch = "step"
grid = [1]
block = [1]
args = ["count"]
'''


def want(x):
    return x + 2 * np.arange(len(x), dtype=np.float32)
