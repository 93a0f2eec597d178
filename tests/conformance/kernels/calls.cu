__device__ __noinline__ int add_three(int a, int b, int c) { return a + b + c; }

struct Pair {
  double first;
  int second;
};
__device__ __noinline__ Pair make_pair(int seed) { return {seed * 0.5, seed + 7}; }
__device__ __noinline__ void bump(Pair* pair, int by) {
  pair->first += by;
  pair->second -= by;
}

extern "C" __global__ void direct(double* out) {
  const int i = threadIdx.x;
  Pair pair = make_pair(i);
  bump(&pair, add_three(i, 1, 2));
  out[i] = pair.first * 1000 + pair.second;
}

__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursive(unsigned* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 13); }

__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }
extern "C" __global__ void mutual(int* out) { out[threadIdx.x] = even(threadIdx.x) ? 1 : 0; }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function table[] = {twice, square, negate};

// Lanes of one warp call different functions through pointers.
extern "C" __global__ void indirect(int* out, const int* which) {
  const int i = threadIdx.x;
  out[i] = table[which[i]](i);
}

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
  int a, b;
  __device__ Rectangle(int x, int y) : a(x), b(y) {}
  __device__ int area() const override { return a * b; }
};
extern "C" __global__ void virtual_calls(int* out) {
  const int i = threadIdx.x;
  const Square square_shape(i);
  const Rectangle rectangle(i, 3);
  const Shape* const shape = i % 2 == 0 ? static_cast<const Shape*>(&square_shape) : &rectangle;
  out[i] = shape->area();
}

// A local array that only an index of run time reaches.
extern "C" __global__ void local_array(int* out, int rotate) {
  int values[37];
  for (int k = 0; k < 37; ++k) values[k] = static_cast<int>(threadIdx.x) * 100 + k;
  int sum = 0;
  for (int k = 0; k < 37; ++k) {
    const int j = (k * rotate + static_cast<int>(threadIdx.x)) % 37;
    sum += values[j] * (k + 1);
    values[j] = k;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Insertion sort in a local array of 2 KiB, bytes and wide words mixed.
extern "C" __global__ void local_sort(unsigned long long* out, unsigned seed) {
  unsigned long long keys[128];
  unsigned char order[128];
  unsigned state = seed + threadIdx.x;
  for (int k = 0; k < 128; ++k) {
    state = state * 1664525u + 1013904223u;
    keys[k] = (static_cast<unsigned long long>(state) << 20) ^ state;
    order[k] = static_cast<unsigned char>(k);
  }
  for (int k = 1; k < 128; ++k) {
    const unsigned char moving = order[k];
    int j = k - 1;
    for (; j >= 0 && keys[order[j]] > keys[moving]; --j) order[j + 1] = order[j];
    order[j + 1] = moving;
  }
  unsigned long long hash = 0;
  for (int k = 0; k < 128; ++k) hash = hash * 31 + keys[order[k]];
  out[threadIdx.x] = hash;
}

// Each frame of the recursion has an array of its own.
__device__ __noinline__ int nest(int depth, int* caller) {
  int mine[8];
  for (int k = 0; k < 8; ++k) mine[k] = caller[k] + depth * k;
  if (depth == 0) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += mine[k];
    return sum;
  }
  const int below = nest(depth - 1, mine);
  return below + mine[depth % 8];
}
extern "C" __global__ void frames(int* out) {
  int start[8] = {1, 2, 3, 4, 5, 6, 7, static_cast<int>(threadIdx.x)};
  out[threadIdx.x] = nest(static_cast<int>(threadIdx.x % 6), start);
}
