#pragma once

// What the programs of this folder check by: a failure prints its place and ends the process.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                           \
  do {                                                                        \
    const cudaError_t error_ = (call);                                        \
    if (error_ != cudaSuccess) {                                              \
      std::fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorName(error_));                                 \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)
