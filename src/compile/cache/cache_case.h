// What the tests of the cache share: a result, a folder of their own, and what is logged.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "baton/log.h"
#include "compile/cache/cache.h"

namespace baton::compiler {

namespace fs = std::filesystem;

inline const std::string kKey(64, 'a');

inline Result sample() {
  Result result;
  result.name = "norm.cu";
  result.arch = "sm_90a";
  result.entries = {"rmsnorm<float>", "silu"};
  result.compiler = "NVRTC 13.0";
  result.seconds = 0.125;
  result.symbols = {{"rmsnorm<float>", "_Z7rmsnormIfEvPT_"}};
  result.kernels = {{"_Z7rmsnormIfEvPT_", 32, 16, 8, 4, 1024, 0.5}, {"silu", 8, 0, 0, 0, 0, 0}};
  result.log = "norm.cu:1:1: warning: x";
  result.ptx = ".version 9.0\n";
  result.cubin = std::string(
      "\x7f"
      "ELF\0\1",
      6);
  result.line_files = {{"/a/norm.cu", "\x01source\x01"}};
  return result;
}

inline void expect_equal(const Result& a, const Result& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.compiler, b.compiler);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.symbols, b.symbols);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    EXPECT_EQ(a.kernels[i].symbol, b.kernels[i].symbol);
    EXPECT_EQ(a.kernels[i].registers, b.kernels[i].registers);
    EXPECT_EQ(a.kernels[i].stack_bytes, b.kernels[i].stack_bytes);
    EXPECT_EQ(a.kernels[i].spill_store_bytes, b.kernels[i].spill_store_bytes);
    EXPECT_EQ(a.kernels[i].spill_load_bytes, b.kernels[i].spill_load_bytes);
    EXPECT_EQ(a.kernels[i].static_shared, b.kernels[i].static_shared);
    EXPECT_EQ(a.kernels[i].seconds, b.kernels[i].seconds);
  }
  EXPECT_EQ(a.log, b.log);
  EXPECT_EQ(a.ptx, b.ptx);
  EXPECT_EQ(a.cubin, b.cubin);
  EXPECT_EQ(a.line_files, b.line_files);
}

// Collects what is logged, for as long as it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_callback([this](LogLevel, std::string_view message) { text_ += message; });
  }
  ~LogCapture() { set_log_callback({}); }
  bool has(std::string_view what) const { return text_.find(what) != std::string::npos; }
  int times(std::string_view what) const {
    int count = 0;
    for (std::size_t at = 0; (at = text_.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  }

 private:
  std::string text_;
};

class CacheTest : public testing::Test {
 protected:
  fs::path entry_path() const { return cache_.directory() / "aa" / (kKey + ".entry"); }

  // A key, and its entry's path, for each number.
  static std::string key_of(int number) {
    std::string key = std::to_string(number);
    key.insert(0, kKey.size() - key.size(), '0');
    return key;
  }
  fs::path path_of(int number) const {
    return cache_.directory() / "00" / (key_of(number) + ".entry");
  }
  Cache limited(std::uint64_t max_bytes) const {
    CacheSettings settings;
    settings.directory = cache_.directory();
    settings.max_bytes = max_bytes;
    return Cache(settings);
  }
  // Says that the entry was used so long ago.
  void set_unused(int number, std::chrono::hours hours) const {
    fs::last_write_time(path_of(number), fs::file_time_type::clock::now() - hours);
  }

  TemporaryDirectory folder_;
  Cache cache_{CacheSettings{folder_.path() / "compile"}};
};

}  // namespace baton::compiler
