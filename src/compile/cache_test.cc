#include "compile/cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "baton/log.h"
#include "compile/cache_entry.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

const std::string kKey(64, 'a');

Result sample() {
  Result result;
  result.name = "norm.cu";
  result.arch = "sm_90a";
  result.entries = {"rmsnorm<float>", "silu"};
  result.compiler = "NVRTC 13.0";
  result.seconds = 0.125;
  result.symbols = {{"rmsnorm<float>", "_Z7rmsnormIfEvPT_"}};
  result.log = "norm.cu:1:1: warning: x";
  result.ptx = ".version 9.0\n";
  result.cubin = std::string(
      "\x7f"
      "ELF\0\1",
      6);
  return result;
}

void expect_equal(const Result& a, const Result& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.compiler, b.compiler);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.symbols, b.symbols);
  EXPECT_EQ(a.log, b.log);
  EXPECT_EQ(a.ptx, b.ptx);
  EXPECT_EQ(a.cubin, b.cubin);
}

// Collects what is logged, for as long as it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_callback([this](LogLevel, std::string_view message) { text_ += message; });
  }
  ~LogCapture() { set_log_callback({}); }
  bool has(std::string_view what) const { return text_.find(what) != std::string::npos; }

 private:
  std::string text_;
};

class CacheTest : public testing::Test {
 protected:
  fs::path entry_path() const { return cache_.directory() / "aa" / (kKey + ".entry"); }

  TemporaryDirectory folder_;
  Cache cache_{folder_.path() / "compile"};
};

TEST_F(CacheTest, GivesBackWhatWasStored) {
  EXPECT_FALSE(cache_.find(kKey));
  cache_.store(kKey, sample());
  const auto found = cache_.find(kKey);
  ASSERT_TRUE(found);
  expect_equal(*found, sample());
  EXPECT_FALSE(cache_.find(std::string(64, 'b')));
}

TEST_F(CacheTest, ListsAndClears) {
  cache_.store(kKey, sample());
  cache_.store(std::string(64, 'b'), sample());
  const auto entries = cache_.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "norm.cu");
  EXPECT_EQ(entries[0].arch, "sm_90a");
  EXPECT_EQ(entries[0].entries, sample().entries);
  EXPECT_EQ(entries[0].seconds, 0.125);
  EXPECT_EQ(entries[0].size, fs::file_size(entries[0].path));
  EXPECT_TRUE(cache_.verify().empty());
  EXPECT_EQ(cache_.clear(), 2u);
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_EQ(cache_.clear(), 0u);
}

TEST_F(CacheTest, AnEmptyFolderIsAnEmptyCache) {
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_TRUE(cache_.verify().empty());
  EXPECT_EQ(cache_.clear(), 0u);
}

// A change of any one byte, and a cut at any place, is noticed.
TEST_F(CacheTest, NoDamageIsTakenForAResult) {
  const std::string whole = write_entry(sample(), kKey);
  std::string damage;
  ASSERT_TRUE(read_entry(whole, kKey, &damage));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    damage.clear();
    EXPECT_FALSE(read_entry(damaged, kKey, &damage)) << i;
    EXPECT_FALSE(damage.empty());
    EXPECT_FALSE(read_entry(whole.substr(0, i), kKey, &damage)) << i;
  }
  EXPECT_FALSE(read_entry(whole + "x", kKey, &damage));
  EXPECT_FALSE(read_entry(whole, std::string(64, 'b'), &damage));
  EXPECT_EQ(damage, "it belongs to another key");
}

TEST_F(CacheTest, SummariesOfDamagedFilesAreBounded) {
  const std::string whole = write_entry(sample(), kKey);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char mask : {'\x10', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      read_summary(damaged);
      read_summary(damaged.substr(0, i));
    }
  }
}

TEST_F(CacheTest, ADamagedEntryIsAMissAndIsSaid) {
  cache_.store(kKey, sample());
  std::string bytes = read_file(entry_path());
  bytes[bytes.size() / 2] ^= 1;
  write_file_atomically(entry_path(), bytes);
  LogCapture log;
  EXPECT_FALSE(cache_.find(kKey));
  EXPECT_TRUE(log.has("damaged"));
  const auto damaged = cache_.verify();
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].key, kKey);
  EXPECT_FALSE(damaged[0].damage.empty());
  cache_.store(kKey, sample());
  EXPECT_TRUE(cache_.find(kKey));
  EXPECT_TRUE(cache_.verify().empty());
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenMeansNoCache) {
  // A file where a folder should be: even root cannot create below it.
  write_file_atomically(folder_.path() / "file", "");
  const Cache cache(folder_.path() / "file" / "compile");
  LogCapture log;
  cache.store(kKey, sample());
  EXPECT_TRUE(log.has("not kept"));
  EXPECT_FALSE(cache.find(kKey));
  EXPECT_TRUE(cache.list().empty());
}

// Root may write anywhere: for as long as it lives, this process is nobody.
class Unprivileged {
 public:
  Unprivileged() : is_root_(geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    if (is_root_ && seteuid(kNobody) != 0) throw std::runtime_error("seteuid fails");
  }
  ~Unprivileged() {
    if (is_root_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool is_root_;
};

TEST_F(CacheTest, AReadOnlyFolderStillServes) {
  cache_.store(kKey, sample());
  const fs::perms readable{0555};
  for (const fs::path& folder : {folder_.path(), cache_.directory(), cache_.directory() / "aa"}) {
    fs::permissions(folder, readable);
  }
  fs::permissions(entry_path(), readable);
  {
    const Unprivileged unprivileged;
    LogCapture log;
    cache_.store(kKey, sample());
    EXPECT_TRUE(log.has("not kept"));
    cache_.store(std::string(64, 'b'), sample());
    EXPECT_TRUE(log.has("cannot create"));
    EXPECT_TRUE(cache_.find(kKey));
  }
  for (const fs::path& folder : {folder_.path(), cache_.directory(), cache_.directory() / "aa"}) {
    fs::permissions(folder, fs::perms::owner_all);
  }
}

TEST_F(CacheTest, ManyThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        cache_.store(kKey, sample());
        const auto found = cache_.find(kKey);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->ptx, sample().ptx);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache_.list().size(), 1u);
}

TEST(CacheFolder, IsChosenByTheEnvironment) {
  setenv("BATON_CACHE_DIR", "/chosen", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/chosen/compile");
  unsetenv("BATON_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/xdg/baton/compile");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/home/somebody/.cache/baton/compile");
}

}  // namespace
}  // namespace baton::compiler
