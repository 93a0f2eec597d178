#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "baton/compile.h"
#include "baton/error.h"

namespace baton {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

inline constexpr char kSaxpy[] = R"(
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

inline constexpr char kKernels[] = R"(
template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }
template <int N, bool Flag> __global__ void sized(int* x) { x[0] = N + Flag; }
namespace ns { __global__ void plain(int* x) { x[0] = 1; } }
static __global__ void internal(int* x) { x[0] = 2; }
extern "C" __global__ void c_name(int* x) { x[0] = 3; }
__device__ int helper(int x) { return x + 1; }
)";

// Compiles into a cache of the test's own, beside which it may write files.
class CompileTest : public testing::Test {
 protected:
  CompileTest() { setenv("BATON_CACHE_DIR", (folder_.path() / "cache").c_str(), 1); }
  ~CompileTest() override { unsetenv("BATON_CACHE_DIR"); }

  fs::path write(const std::string& name, std::string_view text) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    write_file_atomically(path, text);
    return path;
  }
  static Compiled compiled(const Source& source, std::vector<std::string> entries = {}) {
    return compile(source, {.arch = "sm_90a", .entries = std::move(entries), .use_cache = true});
  }
  static Compiled compiled(const std::string& text, std::vector<std::string> entries = {}) {
    return compiled(Source::from_text(text, "k.cu"), std::move(entries));
  }
  static Error refusal(const Source& source, const CompileOptions& options = {.arch = "sm_90a"}) {
    try {
      compile(source, options);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << source.name << " compiles";
    return Error(ErrorCode::kInternal, "");
  }
  static std::string ptx(const Compiled& of) { return std::string(of.ptx.bytes()); }

  TemporaryDirectory folder_;
};

}  // namespace baton
