// Processes that are killed at every one of their system calls while they use the cache.

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/file/file.h"
#include "baton/log.h"
#include "compile/cache/cache.h"
#include "compile/cache/cache_entry.h"

namespace baton::compiler::cache_kill_test {
namespace {

namespace fs = std::filesystem;

const std::string kKey(64, 'a');
constexpr int kUntraceableStatus = 77;

Result sample() {
  Result result;
  result.name = "k.cu";
  result.arch = "sm_90a";
  result.ptx = std::string(100'000, 'p');
  result.cubin = std::string(50'000, 'c');
  return result;
}

enum class End { kKilled, kDone, kUntraceable };

// Runs `work` in a process of its own and kills it at its nth stop. It stops at each system call
// twice: before the kernel does it, and after.
End kill_at(int stop, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kUntraceableStatus);
    ::raise(SIGSTOP);
    set_log_callback([](LogLevel, std::string_view) {});
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int i = 0; i < stop && WIFSTOPPED(status); ++i) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
  }
  if (WIFEXITED(status)) {
    return WEXITSTATUS(status) == kUntraceableStatus ? End::kUntraceable : End::kDone;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return End::kKilled;
}

class CacheKill : public testing::Test {
 protected:
  ~CacheKill() override { set_log_callback({}); }

  // `prepare` makes the cache as the victim finds it. After each kill the entry of the key is there
  // and whole, or not at all, no process has to wait, and the next one repairs all there is to
  // repair.
  void survives(std::uint64_t max_bytes, const std::function<void(const Cache&)>& prepare) {
    // Nothing that lasts happens between one system call and the next.
    for (int stop = 2;; stop += 2) {
      SCOPED_TRACE(stop);
      const TemporaryDirectory folder;
      CacheSettings settings;
      settings.directory = folder.path() / "compile";
      settings.max_bytes = max_bytes;
      settings.patience = std::chrono::milliseconds(0);
      const Cache cache(settings);
      prepare(cache);
      const std::size_t damaged = cache.verify().damaged.size();

      const End end = kill_at(stop, [&] { cache.get(kKey, [] { return Cache::Made{sample()}; }); });
      if (end == End::kUntraceable) GTEST_SKIP() << "processes cannot be traced here";

      EXPECT_LE(cache.verify().damaged.size(), damaged);
      std::string log;
      set_log_callback([&](LogLevel, std::string_view message) { log += message; });
      set_log_level(LogLevel::kInfo);
      const Cache::Outcome outcome = cache.get(kKey, [] { return Cache::Made{sample()}; });
      set_log_callback({});
      set_log_level(LogLevel::kWarning);
      EXPECT_EQ(outcome.result.ptx, sample().ptx);
      EXPECT_EQ(outcome.result.cubin, sample().cubin);
      EXPECT_EQ(log.find("without a lock"), std::string::npos) << log;
      EXPECT_TRUE(cache.verify().damaged.empty());
      EXPECT_TRUE(cache.find(kKey));
      std::uint64_t bytes = 0;
      for (const Cache::Entry& entry : cache.list()) bytes += entry.size;
      EXPECT_LE(bytes, max_bytes);
      if (end == End::kDone) {
        EXPECT_TRUE(outcome.hit);
        EXPECT_GT(stop, 10);  // or nothing was tried; a hit takes fewer than 20 system calls
        return;
      }
      if (HasFailure()) return;
    }
  }
};

TEST_F(CacheKill, OfAWriterBreaksNothing) {
  survives(1 << 20, [](const Cache&) {});
}

TEST_F(CacheKill, OfAReaderBreaksNothing) {
  survives(1 << 20, [](const Cache& cache) { cache.store(kKey, sample()); });
}

TEST_F(CacheKill, OfARepairerBreaksNothing) {
  survives(1 << 20, [](const Cache& cache) {
    std::string bytes = write_entry(sample(), kKey);
    bytes.back() ^= 1;
    fs::create_directories(cache.directory() / "aa");
    write_file_atomically(cache.directory() / "aa" / (kKey + ".entry"), bytes);
  });
}

TEST_F(CacheKill, OfOneThatMakesRoomBreaksNothing) {
  survives(500'000, [](const Cache& cache) {
    for (const char digit : {'b', 'c', 'd'}) cache.store(std::string(64, digit), sample());
  });
}

}  // namespace
}  // namespace baton::compiler::cache_kill_test
