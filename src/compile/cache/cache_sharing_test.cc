#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/file/file_lock.h"
#include "compile/cache/cache_case.h"
#include "compile/cache/cache_entry.h"

namespace baton::compiler::cache_sharing_test {
namespace {

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

}  // namespace
}  // namespace baton::compiler::cache_sharing_test
