"""What the tests of `baton init` share: a source, and its draft."""

import tomllib

from baton import Case

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


class InitCase(Case):
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
