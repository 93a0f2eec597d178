#pragma once

#include <cuda.h>

#include <cstdint>

#include "sim/graph/graph.h"

namespace baton::sim::api {

// One side of a copy of rows, as a caller describes it.
struct PitchedSide {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from one row to the next
  std::uint64_t slice = 0;  // bytes from one slice of rows to the next
  bool is_host = false;     // the caller takes the address for the host's, and it may be any
};

struct PitchedCopy {
  PitchedSide target;
  PitchedSide source;
  std::uint64_t bytes = 0;  // of a row
  std::uint64_t rows = 1;
  std::uint64_t slices = 1;
};

// Throws Refusal for null, for parts that an array does not have, and for other kinds of memory.
PitchedCopy pitched(const CUDA_MEMCPY3D* params);

// Finds the memory of both sides, whether each is pageable, and checks that all of it is there.
// Throws Refusal(CUDA_ERROR_INVALID_VALUE). No extent of the copy is 0.
CopyWork copy_work(const PitchedCopy& copy, bool* pageable_source, bool* pageable_target);

// Whether a copy waits for its end even where its host memory is pinned.
enum class Waiting : std::uint8_t { kAsNeeded, kAlways };

// Submits the copy to the stream. With kAsNeeded one from pageable memory returns when its source
// was read, and one to pageable memory when it is done.
CUresult submit_pitched(const PitchedCopy& copy, CUstream stream, Waiting waiting);

}  // namespace baton::sim::api
