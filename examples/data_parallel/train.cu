// Gradient descent for a small network: y = w2 . tanh(w1 x), with the squared error of a batch. One
// thread computes one element; the weights and their gradients are w1 and then w2 in one array.

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void hidden(const float* w, const float* x, float* h, int rows, int width,
                                  int inputs) {
  const int i = thread_number();
  if (i >= rows * width) return;
  const float* const weights = w + i % width * inputs;
  const float* const row = x + i / width * inputs;
  float sum = 0.0f;
  for (int k = 0; k < inputs; ++k) sum += weights[k] * row[k];
  h[i] = tanhf(sum);
}

// error[row] = y - t.
extern "C" __global__ void errors(const float* w, const float* h, const float* t, float* error,
                                  int rows, int width, int inputs) {
  const int row = thread_number();
  if (row >= rows) return;
  const float* const weights = w + width * inputs;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += weights[j] * h[row * width + j];
  error[row] = sum - t[row];
}

// The sums over this rank's rows.
extern "C" __global__ void gradients(const float* w, const float* x, const float* h,
                                     const float* error, float* g, int rows, int width,
                                     int inputs) {
  const int i = thread_number();
  if (i >= width * (inputs + 1)) return;
  const bool is_second = i >= width * inputs;
  const int j = is_second ? i - width * inputs : i / inputs;
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    const float value = h[row * width + j];
    const float slope = w[width * inputs + j] * (1.0f - value * value);
    sum += error[row] * (is_second ? value : slope * x[row * inputs + i % inputs]);
  }
  g[i] = sum;
}

extern "C" __global__ void descend(float* w, const float* g, float rate, int count) {
  const int i = thread_number();
  if (i < count) w[i] -= rate * g[i];
}
