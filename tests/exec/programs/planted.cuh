#pragma once

// What programs of many cases share: each case is a small program, right or with one planted error.
// `planted NAME` runs one of them. Without a name, all names are printed.
#include <cstring>

#include "check.cuh"

struct Case {
  const char* name;
  void (*run)();
};

// Two streams that nothing orders.
struct Streams {
  cudaStream_t a, b;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  }
};

inline int* device_words(int count) {
  int* words;
  CHECK(cudaMalloc(&words, count * sizeof(int)));
  CHECK(cudaMemset(words, 0, count * sizeof(int)));
  return words;
}

template <int N>
int run_case(const Case (&cases)[N], int count, char** values) {
  for (const Case& each : cases) {
    if (count < 2) std::printf("%s\n", each.name);
    if (count < 2 || std::strcmp(each.name, values[1]) != 0) continue;
    each.run();
    // A case with a fault ends here too: its error is what is expected.
    cudaDeviceSynchronize();
    return 0;
  }
  return count < 2 ? 0 : 2;
}
