#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "compile/cache/cache_case.h"
#include "compile/cache/cache_entry.h"

namespace baton::compiler::cache_faults_test {
namespace {

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
  const auto damaged = cache_.verify().damaged;
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].key, kKey);
  EXPECT_FALSE(damaged[0].damage.empty());
  cache_.store(kKey, sample());
  EXPECT_TRUE(cache_.find(kKey));
  EXPECT_TRUE(cache_.verify().damaged.empty());
}

TEST_F(CacheTest, AnEntryOfAnOlderFormatIsAMissAndNoDamage) {
  cache_.store(kKey, sample());
  std::string bytes = read_file(entry_path());
  bytes[kCacheMagic.size()] = 1;
  write_file_atomically(entry_path(), bytes);
  LogCapture log;
  EXPECT_FALSE(cache_.find(kKey));
  EXPECT_FALSE(log.has("damaged"));
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.verify().outdated, 1u);
  cache_.store(kKey, sample());
  EXPECT_TRUE(cache_.find(kKey));
  EXPECT_EQ(cache_.verify().outdated, 0u);
  // No older one has the number 0, and what is newer is not known: so it may be damaged.
  for (const char version : {'\0', '\3'}) {
    bytes[kCacheMagic.size()] = version;
    write_file_atomically(entry_path(), bytes);
    EXPECT_EQ(cache_.verify().damaged.size(), 1u);
  }
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenMeansNoCache) {
  // A file where a folder should be: even root cannot create below it.
  write_file_atomically(folder_.path() / "file", "");
  const Cache cache(CacheSettings{folder_.path() / "file" / "compile"});
  LogCapture log;
  cache.store(kKey, sample());
  EXPECT_TRUE(log.has("not kept"));
  EXPECT_FALSE(cache.find(kKey));
  EXPECT_TRUE(cache.list().empty());
  // It is told once.
  const LogCapture later;
  cache.store(kKey, sample());
  EXPECT_FALSE(later.has("not kept"));
}

// Root may write anywhere: for as long as it lives, this process has no rights.
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

TEST_F(CacheTest, ADamagedEntryIsRepaired) {
  cache_.store(kKey, sample());
  std::string bytes = read_file(entry_path());
  bytes.back() ^= 1;
  write_file_atomically(entry_path(), bytes);
  LogCapture log;
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_EQ(log.times("damaged"), 1);
  EXPECT_EQ(cache_.counters().repairs, 1u);
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_TRUE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_EQ(cache_.counters().repairs, 1u);
}

TEST_F(CacheTest, CountsAfreshWhereTheCountersAreDamaged) {
  cache_.get(kKey, [] { return Cache::Made{sample()}; });
  const fs::path stats = cache_.directory() / "stats";
  const std::string whole = read_file(stats);
  EXPECT_EQ(cache_.counters().misses, 1u);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 1;
    write_file_atomically(stats, damaged);
    EXPECT_EQ(cache_.counters().misses, 0u) << i;
  }
  write_file_atomically(stats, whole.substr(0, 11));
  cache_.get(std::string(64, 'b'), [] { return Cache::Made{sample()}; });
  EXPECT_EQ(cache_.counters().misses, 1u);
}

// A limit on a file's size stands for a full disk: writes fail, some after a part was written.
TEST_F(CacheTest, AFullDiskMeansNoCache) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit unlimited;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const std::size_t size = write_entry(sample(), kKey).size();
  const LogCapture log;
  for (std::size_t most = 0; most < size; most += 7) {
    struct rlimit limit = unlimited;
    limit.rlim_cur = most;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto outcome = cache_.get(kKey, [] { return Cache::Made{sample()}; });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    EXPECT_FALSE(outcome.hit);
    expect_equal(outcome.result, sample());
    EXPECT_FALSE(cache_.find(kKey));
    EXPECT_TRUE(fs::is_empty(cache_.directory() / "tmp"));
  }
  EXPECT_EQ(log.times("not kept"), 1);
  std::signal(SIGXFSZ, before);
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_TRUE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
}

TEST_F(CacheTest, LocksAndRenamesThatFailMeanNoCache) {
  fs::create_directories(cache_.directory() / "locks");
  fs::create_directories(cache_.directory() / "stats");
  fs::create_directories(entry_path());
  LogCapture log;
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_TRUE(log.has("not kept"));
  EXPECT_TRUE(fs::is_empty(cache_.directory() / "tmp"));
  fs::remove(entry_path());
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_TRUE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
}

TEST_F(CacheTest, APipeInPlaceOfAFileIsNotWaitedFor) {
  fs::create_directories(entry_path().parent_path());
  ASSERT_EQ(::mkfifo(entry_path().c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((cache_.directory() / "stats").c_str(), 0600), 0);
  LogCapture log;
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_TRUE(log.has("is not an entry"));
  EXPECT_TRUE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
}

}  // namespace
}  // namespace baton::compiler::cache_faults_test
