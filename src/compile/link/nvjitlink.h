#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace baton::compiler {

// nvJitLink as one table of functions, with the signatures of nvJitLink.h (CUDA 12.4 and later),
// which is not needed to build Baton. Immutable once loaded; any thread may call it.
struct NvJitLink {
  using Handle = struct Opaque*;
  using Result = int;
  static constexpr Result kSuccess = 0;
  static constexpr int kCubinInput = 1;
  static constexpr int kPtxInput = 2;
  static constexpr int kLtoInput = 3;
  static constexpr int kFatbinInput = 4;

  Result (*version)(unsigned* major, unsigned* minor) = nullptr;
  Result (*create)(Handle* handle, std::uint32_t option_count, const char** options) = nullptr;
  Result (*destroy)(Handle* handle) = nullptr;
  Result (*add_data)(Handle handle, int kind, const void* data, std::size_t size,
                     const char* name) = nullptr;
  Result (*complete)(Handle handle) = nullptr;
  Result (*cubin_size)(Handle handle, std::size_t* size) = nullptr;
  Result (*cubin)(Handle handle, void* out) = nullptr;
  Result (*ptx_size)(Handle handle, std::size_t* size) = nullptr;
  Result (*ptx)(Handle handle, char* out) = nullptr;
  Result (*log_size)(Handle handle, std::size_t* size) = nullptr;
  Result (*log)(Handle handle, char* out) = nullptr;

  // Loads the library once for the life of the process. Throws kNotFound where it does not load or
  // lacks a function. Thread-safe.
  static const NvJitLink& load(const std::filesystem::path& library);

  // "13.0"
  std::string version_text() const;
};

}  // namespace baton::compiler
