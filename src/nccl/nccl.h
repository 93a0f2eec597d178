#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace baton::nccl {

// NCCL as one table of functions. Types, values and signatures are those of nccl.h of NCCL 2.32
// (https://github.com/NVIDIA/nccl, src/nccl.h.in), which need not be there to build Baton; they are
// the same since 2.24. Immutable once loaded.
struct Nccl {
  using Comm = struct OpaqueComm*;      // ncclComm_t
  using Stream = struct OpaqueStream*;  // cudaStream_t, which is a CUstream
  // ncclResult_t
  using Result = int;
  static constexpr Result kSuccess = 0;
  static constexpr Result kInProgress = 7;
  // ncclDataType_t
  enum class Type : int {
    kI8 = 0,
    kU8 = 1,
    kI32 = 2,
    kU32 = 3,
    kI64 = 4,
    kU64 = 5,
    kF16 = 6,
    kF32 = 7,
    kF64 = 8,
    kBF16 = 9,
    kF8E4M3 = 10,
    kF8E5M2 = 11,
  };
  // ncclRedOp_t
  enum class Op : int { kSum = 0, kMax = 2, kMin = 3 };
  // ncclUniqueId
  struct UniqueId {
    char bytes[128];
  };

  Result (*version)(int* version) = nullptr;
  const char* (*error_string)(Result result) = nullptr;
  const char* (*last_error)(Comm comm) = nullptr;
  Result (*unique_id)(UniqueId* id) = nullptr;
  Result (*init_rank)(Comm* comm, int ranks, UniqueId id, int rank) = nullptr;
  Result (*destroy)(Comm comm) = nullptr;
  Result (*abort)(Comm comm) = nullptr;
  Result (*async_error)(Comm comm, Result* result) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*all_reduce)(const void* from, void* to, std::size_t count, Type type, Op op, Comm comm,
                       Stream stream) = nullptr;
  Result (*all_gather)(const void* from, void* to, std::size_t count, Type type, Comm comm,
                       Stream stream) = nullptr;
  Result (*reduce_scatter)(const void* from, void* to, std::size_t count, Type type, Op op,
                           Comm comm, Stream stream) = nullptr;
  Result (*broadcast)(const void* from, void* to, std::size_t count, Type type, int root, Comm comm,
                      Stream stream) = nullptr;
  Result (*send)(const void* from, std::size_t count, Type type, int peer, Comm comm,
                 Stream stream) = nullptr;
  Result (*receive)(void* to, std::size_t count, Type type, int peer, Comm comm,
                    Stream stream) = nullptr;

  std::string path;
  int number = 0;  // of the version: 22403 is 2.24.3

  // The oldest that serves: the first with 8-bit floats.
  static constexpr int kFloor = 22400;

  // Loads the library once for the life of the process. Throws kNotFound where it does not load,
  // lacks a function or is older than the floor. Thread-safe.
  static const Nccl& load(const std::filesystem::path& library);
};

// "2.24.3"
std::string version_text(int number);

// Looks, in this order: BATON_NCCL (a file); NCCL that is loaded in this process; the loader's
// path; nvidia/nccl/lib among the Python packages that are searched for NVRTC, and in VIRTUAL_ENV
// or CONDA_PREFIX. BATON_CUDA_ROOT=none leaves out the loader's path and the environments. Throws
// kNotFound, saying what was searched and how to get it, and what `load` throws. Thread-safe as far
// as getenv is.
const Nccl& find_nccl();

}  // namespace baton::nccl
