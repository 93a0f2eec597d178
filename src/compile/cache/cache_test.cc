#include "compile/cache/cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "baton/log.h"
#include "compile/cache/cache_entry.h"

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

void expect_equal(const Result& a, const Result& b) {
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

TEST_F(CacheTest, GivesBackWhatWasStored) {
  EXPECT_FALSE(cache_.find(kKey));
  cache_.store(kKey, sample());
  const auto found = cache_.find(kKey);
  ASSERT_TRUE(found);
  expect_equal(*found, sample());
  EXPECT_FALSE(cache_.find(std::string(64, 'b')));
}

// Names, bytes and times of everything in a folder.
std::map<fs::path, std::pair<std::string, fs::file_time_type>> snapshot(const fs::path& folder) {
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    all[entry.path()] = {entry.is_regular_file() ? read_file(entry.path()) : "",
                         entry.last_write_time()};
  }
  return all;
}

TEST_F(CacheTest, ReadsLayersAndNeverWritesThem) {
  const fs::path first = folder_.path() / "first";
  const fs::path second = folder_.path() / "second";
  Cache(CacheSettings{first}).store(key_of(1), sample());
  for (int number : {1, 2}) Cache(CacheSettings{second}).store(key_of(number), sample());
  // One entry of the upper layer is damaged, which the lower one has whole.
  const fs::path damaged = first / "00" / (key_of(1) + ".entry");
  write_file_atomically(damaged, read_file(damaged).substr(0, 200));
  const auto before = std::pair(snapshot(first), snapshot(second));

  const Cache cache(CacheSettings{cache_.directory(), {first, second, folder_.path() / "none"}});
  const auto made = [] { return Cache::Made{sample(), true}; };
  const auto never = []() -> Cache::Made { throw std::logic_error("it is in a layer"); };
  EXPECT_TRUE(cache.get(key_of(1), never).hit);
  EXPECT_TRUE(cache.get(key_of(2), never).hit);
  expect_equal(*cache.find(key_of(2)), sample());
  EXPECT_FALSE(cache.get(key_of(3), made).hit);
  EXPECT_TRUE(cache.get(key_of(3), never).hit);
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.counters().hits, 3u);
  cache.clear();
  EXPECT_EQ(std::pair(snapshot(first), snapshot(second)), before);
}

TEST_F(CacheTest, CopiesWholeEntries) {
  for (int number : {1, 2, 3, 4}) cache_.store(key_of(number), sample());
  write_file_atomically(path_of(3), read_file(path_of(3)).substr(0, 300));
  const Cache other(CacheSettings{folder_.path() / "other"});
  other.store(key_of(4), sample());
  const Cache::Copied copied = other.import_from(cache_);
  EXPECT_EQ(copied.entries, 2u);
  EXPECT_EQ(copied.known, 1u);
  EXPECT_EQ(copied.damaged, 1u);
  EXPECT_EQ(other.list().size(), 3u);
  EXPECT_TRUE(other.verify().damaged.empty());
  expect_equal(*other.find(key_of(2)), sample());
  EXPECT_EQ(other.import_from(cache_).known, 3u);
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
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.clear(), 2u);
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_EQ(cache_.clear(), 0u);
}

TEST_F(CacheTest, AnEmptyFolderIsAnEmptyCache) {
  EXPECT_TRUE(cache_.list().empty());
  EXPECT_TRUE(cache_.verify().damaged.empty());
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

TEST_F(CacheTest, AnEntryWithManyNamesIsListed) {
  Result result = sample();
  result.name = std::string(100'000, 'n');
  for (int i = 0; i < 2'000; ++i) result.entries.push_back(std::string(110, 'x'));
  result.entries.emplace_back(200'000, 'y');
  ASSERT_TRUE(cache_.store(kKey, result));
  const std::vector<Cache::Entry> listed = cache_.list();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].damage, "");
  EXPECT_EQ(listed[0].entries.front(), "rmsnorm<float>");
  const std::size_t shown = listed[0].entries.size() - 1;
  EXPECT_EQ(listed[0].entries.back(),
            "… and " + std::to_string(result.entries.size() - shown) + " more");
  EXPECT_LT(shown, result.entries.size());
  EXPECT_TRUE(cache_.verify().damaged.empty());
  EXPECT_EQ(cache_.find(kKey)->symbols, result.symbols);
  // As many as fit, to the last byte of the bound.
  const std::string bytes = write_entry(result, kKey);
  EXPECT_TRUE(read_summary(std::string_view(bytes).substr(0, kMaxSummary)));
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

TEST_F(CacheTest, OfManyThatWantOneKeyOneMakesIt) {
  std::atomic<int> made = 0;
  std::atomic<int> hits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int number = 0; number < 10; ++number) {
        const Cache::Outcome outcome = cache_.get(key_of(number), [&] {
          ++made;
          std::this_thread::yield();
          return Cache::Made{sample()};
        });
        EXPECT_EQ(outcome.result.ptx, sample().ptx);
        hits += outcome.hit ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 10);
  EXPECT_EQ(hits, 70);
  EXPECT_EQ(cache_.counters().misses, 10u);
  EXPECT_EQ(cache_.counters().hits, 70u);
}

TEST_F(CacheTest, WhatCannotBeMadeIsNotKeptAndNotWaitedFor) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(
        cache_.get(kKey, []() -> Cache::Made { throw Error(ErrorCode::kCompile, "wrong"); }),
        Error);
  }
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample(), false}; }).hit);
  EXPECT_FALSE(cache_.get(kKey, [] { return Cache::Made{sample()}; }).hit);
  EXPECT_TRUE(cache_.get(kKey, []() -> Cache::Made { throw std::logic_error("made again"); }).hit);
}

TEST_F(CacheTest, OneThatHangsIsNotWaitedForForGood) {
  CacheSettings settings;
  settings.directory = cache_.directory();
  settings.patience = std::chrono::milliseconds(1);
  const Cache impatient(settings);
  const auto outcome = cache_.get(kKey, [&] {
    // Meanwhile another wants it.
    EXPECT_FALSE(impatient.get(kKey, [] { return Cache::Made{sample()}; }).hit);
    return Cache::Made{sample()};
  });
  EXPECT_FALSE(outcome.hit);
  EXPECT_EQ(cache_.counters().misses, 2u);
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

TEST_F(CacheTest, ThoseNotUsedForTheLongestTimeMakeRoom) {
  const std::uint64_t size = write_entry(sample(), kKey).size();
  const Cache small = limited(4 * size);
  for (int number = 0; number < 4; ++number) {
    small.store(key_of(number), sample());
    set_unused(number, std::chrono::hours(10 - number));
  }
  EXPECT_EQ(small.counters().evictions, 0u);
  // A use makes the oldest the newest.
  EXPECT_TRUE(small.get(key_of(0), [] { return Cache::Made{sample()}; }).hit);
  small.store(key_of(4), sample());
  EXPECT_TRUE(small.find(key_of(0)));
  EXPECT_FALSE(small.find(key_of(1)));
  EXPECT_FALSE(small.find(key_of(2)));  // a tenth of the limit is made free at a time
  EXPECT_TRUE(small.find(key_of(3)));
  EXPECT_TRUE(small.find(key_of(4)));
  EXPECT_EQ(small.counters().evictions, 2u);
  EXPECT_EQ(small.counters().evicted_bytes, 2 * size);
  EXPECT_EQ(small.counters().stored_bytes, 3 * size);
}

TEST_F(CacheTest, ALowerLimitHoldsFromTheNextEntryOn) {
  const std::uint64_t size = write_entry(sample(), kKey).size();
  for (int number = 0; number < 20; ++number) cache_.store(key_of(number), sample());
  limited(5 * size).store(kKey, sample());
  EXPECT_EQ(cache_.list().size(), 4u);
  EXPECT_TRUE(cache_.find(kKey));
  // One that is larger than all may be is not kept, and drives out nothing.
  limited(size - 1).store(key_of(50), sample());
  EXPECT_EQ(cache_.list().size(), 4u);
}

TEST_F(CacheTest, AReaderKeepsWhatIsEvictedWhileItReads) {
  const std::uint64_t size = write_entry(sample(), kKey).size();
  const Cache small = limited(2 * size);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!done) {
        for (int number = 0; number < 6; ++number) {
          const auto found = small.find(key_of(number));
          if (found && found->ptx != sample().ptx) ++wrong;
        }
      }
    });
  }
  LogCapture log;
  for (int round = 0; round < 100; ++round) small.store(key_of(round % 6), sample());
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(log.has("damaged"));
  EXPECT_GT(small.counters().evictions, 50u);
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

// Statistics must not make a process wait for another: even one that holds both locks for good.
TEST_F(CacheTest, AHitTakesNoLock) {
  cache_.store(kKey, sample());
  std::string failure;
  std::vector<FileLock> held;
  for (const char* name : {"stats", "hits"}) {
    auto lock = FileLock::acquire(cache_.directory() / name, 0, std::chrono::seconds(0), &failure);
    ASSERT_TRUE(lock) << failure;
    held.push_back(std::move(*lock));
  }
  const auto never = []() -> Cache::Made { throw std::logic_error("made again"); };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache_.get(kKey, never).hit);
  EXPECT_EQ(cache_.counters().hits, 3u);
  held.clear();
  EXPECT_TRUE(cache_.get(kKey, never).hit);
  EXPECT_EQ(cache_.counters().hits, 4u);
  EXPECT_EQ(cache_.clear(), 1u);
  EXPECT_EQ(cache_.counters().hits, 0u);
}

// Whoever makes room must not forget what others stored since it looked at all entries.
TEST_F(CacheTest, MakingRoomKeepsTheCountOfWhatOthersStore) {
  const std::uint64_t size = write_entry(sample(), kKey).size();
  const Cache small = limited(8 * size);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> writers;
    for (int t = 0; t < 4; ++t) {
      writers.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) small.store(key_of(round * 100 + t * 10 + i), sample());
      });
    }
    for (std::thread& writer : writers) writer.join();
    std::uint64_t there = 0;
    for (const Cache::Entry& entry : small.list()) there += entry.size;
    ASSERT_TRUE(small.counters().stored_bytes);
    EXPECT_GE(*small.counters().stored_bytes, there) << "in round " << round;
  }
}

TEST_F(CacheTest, AbandonedWritesAreRemoved) {
  const fs::path temporary = cache_.directory() / "tmp";
  cache_.store(kKey, sample());
  EXPECT_TRUE(fs::is_empty(temporary));
  write_file_atomically(temporary / "1-0.tmp", "half an ent");
  write_file_atomically(temporary / "1-1.tmp", "another's, now");
  fs::last_write_time(temporary / "1-0.tmp",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache_.store(kKey, sample());
  EXPECT_FALSE(fs::exists(temporary / "1-0.tmp"));
  EXPECT_TRUE(fs::exists(temporary / "1-1.tmp"));
  EXPECT_EQ(cache_.clear(), 1u);
  EXPECT_TRUE(fs::is_empty(temporary));
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

TEST(CacheFolder, IsChosenByTheEnvironment) {
  setenv("BATON_CACHE_DIR", "/chosen", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/chosen/compile");
  unsetenv("BATON_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/xdg/baton/compile");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(Cache::open_default()->directory(), "/home/somebody/.cache/baton/compile");
  unsetenv("HOME");
  EXPECT_FALSE(Cache::open_default());
}

TEST(CacheSize, IsChosenByTheEnvironment) {
  setenv("BATON_CACHE_DIR", "/chosen", 1);
  const auto size_for = [](const char* text) {
    setenv("BATON_CACHE_SIZE", text, 1);
    const auto cache = Cache::open_default();
    return cache ? cache->max_bytes() : 0;
  };
  const std::uint64_t otherwise = CacheSettings{}.max_bytes;
  EXPECT_EQ(size_for("4096"), 4096u);
  EXPECT_EQ(size_for("3K"), 3072u);
  EXPECT_EQ(size_for("16G"), std::uint64_t{16} << 30);
  EXPECT_EQ(size_for("0"), 0u);
  LogCapture log;
  for (const char* wrong : {"much", "-1", "1X", "1GB", "99999999999999999999", "99999999T"}) {
    EXPECT_EQ(size_for(wrong), otherwise) << wrong;
  }
  EXPECT_TRUE(log.has("BATON_CACHE_SIZE is \"much\""));
  unsetenv("BATON_CACHE_SIZE");
  EXPECT_EQ(Cache::open_default()->max_bytes(), otherwise);
  unsetenv("BATON_CACHE_DIR");
}

}  // namespace
}  // namespace baton::compiler
