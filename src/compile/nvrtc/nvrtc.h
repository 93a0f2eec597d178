#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace baton::compiler {

// NVRTC as one table of functions, with the signatures of nvrtc.h (CUDA 12.0 and later), which need
// not be there to build Baton. Immutable once loaded; NVRTC may be called from many threads.
struct Nvrtc {
  using Program = struct Opaque*;
  using Result = int;
  static constexpr Result kSuccess = 0;
  static constexpr Result kInvalidOption = 5;
  static constexpr Result kCompilation = 6;

  const char* (*error_string)(Result) = nullptr;
  Result (*version)(int* major, int* minor) = nullptr;
  Result (*supported_archs_count)(int* count) = nullptr;
  Result (*supported_archs)(int* archs) = nullptr;
  Result (*create)(Program* program, const char* source, const char* name, int header_count,
                   const char* const* headers, const char* const* include_names) = nullptr;
  Result (*destroy)(Program* program) = nullptr;
  Result (*compile)(Program program, int option_count, const char* const* options) = nullptr;
  Result (*ptx_size)(Program program, std::size_t* size) = nullptr;
  Result (*ptx)(Program program, char* out) = nullptr;
  Result (*cubin_size)(Program program, std::size_t* size) = nullptr;
  Result (*cubin)(Program program, char* out) = nullptr;
  Result (*lto_size)(Program program, std::size_t* size) = nullptr;
  Result (*lto)(Program program, char* out) = nullptr;
  Result (*log_size)(Program program, std::size_t* size) = nullptr;
  Result (*log)(Program program, char* out) = nullptr;
  Result (*add_name)(Program program, const char* expression) = nullptr;
  // Of 13.3 and later: writes the headers that NVRTC has inside; null where it has none.
  Result (*install_headers)(const char* folder, unsigned flags, const char** why) = nullptr;
  Result (*lowered_name)(Program program, const char* expression, const char** name) = nullptr;

  std::string path;

  // Loads the library once for the life of the process. Throws kNotFound where it does not load or
  // lacks a function. Thread-safe.
  static const Nvrtc& load(const std::filesystem::path& library);

  // "13.0"
  std::string version_text() const;
  // The numbers of the architectures it compiles for: 75, 80, 90, …
  std::vector<int> archs() const;
  // Throws kInternal, naming the call, where `result` is not success.
  void check(Result result, const char* call) const;
};

}  // namespace baton::compiler
