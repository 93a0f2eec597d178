// part = scale * relu(w h), for `rows` rows of w. A sum is of one thread, in the order of the
// columns: results do not depend on how the rows are divided.
extern "C" __global__ void layer(float* part, const float* w, const float* h, unsigned rows,
                                 unsigned columns, unsigned batch, float scale) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * batch) return;
  const unsigned row = i / batch, column = i % batch;
  float sum = 0;
  for (unsigned k = 0; k < columns; ++k) {
    sum = fmaf(w[row * columns + k], h[k * batch + column], sum);
  }
  part[i] = scale * fmaxf(sum, 0.0f);
}
