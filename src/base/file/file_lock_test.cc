#include "base/file/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "base/file/file.h"

namespace baton::file_lock_test {
namespace {

using std::chrono::milliseconds;

class FileLockTest : public testing::Test {
 protected:
  std::optional<FileLock> try_lock(std::uint64_t offset) {
    return FileLock::acquire(path_, offset, milliseconds(0), &failure_);
  }

  TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "locks";
  std::string failure_;
};

TEST_F(FileLockTest, ExcludesOthersOfItsOffsetForItsLife) {
  {
    const auto held = try_lock(7);
    ASSERT_TRUE(held) << failure_;
    EXPECT_FALSE(try_lock(7));
    EXPECT_EQ(failure_, "");
    EXPECT_TRUE(try_lock(8));
    EXPECT_TRUE(try_lock(~std::uint64_t{0}));
  }
  EXPECT_TRUE(try_lock(7));
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
}

TEST_F(FileLockTest, LetsOneThreadInAtATime) {
  // Atomic, since only the kernel knows of the order that the lock gives.
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::string failure;
        const auto lock = FileLock::acquire(path_, 1, std::chrono::minutes(1), &failure);
        ASSERT_TRUE(lock) << failure;
        most = std::max(most.load(), ++inside);
        ++count;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(count, 200);
}

TEST_F(FileLockTest, IsReleasedByTheDeathOfItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::string failure;
    const auto lock = FileLock::acquire(path_, 3, milliseconds(0), &failure);
    const char held = lock ? 'y' : 'n';
    if (::write(ready[1], &held, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char held = 0;
  ASSERT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  EXPECT_FALSE(try_lock(3));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(try_lock(3)) << failure_;
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FileLockTest, SaysWhyTheSystemCannotLock) {
  path_ = folder_.path() / "missing" / "locks";
  EXPECT_FALSE(try_lock(1));
  EXPECT_NE(failure_.find("cannot open"), std::string::npos) << failure_;
}

}  // namespace
}  // namespace baton::file_lock_test
