#include "base/file/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "baton/error.h"

namespace baton::file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  fs::path path(const char* name) const { return folder_.path() / name; }

  std::set<std::string> entries() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  const TemporaryDirectory folder_;
};

template <typename Call>
void expect_error(ErrorCode code, const std::string& text, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error, but expected: " << text;
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), code);
    EXPECT_THAT(failure.what(), HasSubstr(text));
  }
}

TEST_F(FileTest, ReadsWhatWasWritten) {
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i * 7);
  for (const std::string& content : {std::string(), std::string("\0\xff\n", 3), bytes}) {
    write_file_atomically(path("a"), content);
    EXPECT_EQ(read_file(path("a")), content);
  }
  EXPECT_EQ(entries(), std::set<std::string>{"a"});
}

TEST_F(FileTest, SaysWhyAFileCannotBeRead) {
  expect_error(ErrorCode::kNotFound, path("none").string() + "\": No such file",
               [&] { read_file(path("none")); });
  expect_error(ErrorCode::kInvalidInput, "Is a directory", [&] { read_file(folder_.path()); });
  write_file_atomically(path("a"), "1");
  expect_error(ErrorCode::kNotFound, "Not a directory", [&] { read_file(path("a") / "b"); });
}

TEST_F(FileTest, ReadsNoMoreThanItMay) {
  write_file_atomically(path("a"), std::string(1000, 'x'));
  EXPECT_EQ(read_file(path("a"), 1000).size(), 1000u);
  expect_error(ErrorCode::kInvalidInput, "holds more than 999 B",
               [&] { read_file(path("a"), 999); });
  // A file that never ends, and one whose size is a claim without bytes behind it.
  expect_error(ErrorCode::kInvalidInput, "holds more than 1 MiB",
               [] { read_file("/dev/zero", 1 << 20); });
  write_file_atomically(path("sparse"), "");
  fs::resize_file(path("sparse"), kMaxFileBytes + 1);
  expect_error(ErrorCode::kInvalidInput, "holds more than 64 GiB",
               [&] { read_file(path("sparse")); });
}

TEST_F(FileTest, ReadsFilesThatDoNotSayTheirSize) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string sent(300000, 'p');
  // A pipe that exists is written in place.
  std::thread writer([&] { write_file_atomically(path("pipe"), sent); });
  EXPECT_EQ(read_file(path("pipe")), sent);
  writer.join();
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(FileTest, SaysWhyAFileCannotBeWritten) {
  expect_error(ErrorCode::kInvalidInput, "none/a\": No such file or directory",
               [&] { write_file_atomically(path("none") / "a", "1"); });
  expect_error(ErrorCode::kInvalidInput, "Is a directory",
               [&] { write_file_atomically(folder_.path(), "1"); });
  expect_error(ErrorCode::kInvalidInput, "cannot write", [] { write_file_atomically("", "1"); });
  const std::string long_name(300, 'n');
  expect_error(ErrorCode::kInvalidInput, "File name too long",
               [&] { write_file_atomically(path(long_name.c_str()), "1"); });
  EXPECT_EQ(entries(), std::set<std::string>{});
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNoOther) {
  write_file_atomically(path("a"), "old");
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(ErrorCode::kInvalidInput, "File too large",
               [&] { write_file_atomically(path("a"), std::string(100000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), std::set<std::string>{"a"});
}

TEST_F(FileTest, ConcurrentWritersLeaveOneWholeFile) {
  const auto content = [](int writer) {
    return std::string(50000, static_cast<char>('a' + writer));
  };
  write_file_atomically(path("a"), content(0));
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 10; ++i) write_file_atomically(path("a"), content(writer));
    });
  }
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(path("a"));
    ASSERT_EQ(seen, std::string(50000, seen.at(0)));
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(entries(), std::set<std::string>{"a"});
}

TEST_F(FileTest, FollowsALinkAndKeepsIt) {
  write_file_atomically(path("real"), "old");
  fs::create_symlink("real", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real")), "new");
}

TEST_F(FileTest, AReplacedFileKeepsItsMode) {
  write_file_atomically(path("a"), "old");
  const fs::perms mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  fs::permissions(path("a"), mode);
  write_file_atomically(path("a"), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), mode);
  fs::permissions(path("a"), mode | fs::perms::others_exec);
  fs::create_symlink("a", path("link"));
  write_file_atomically(path("link"), "newer");
  EXPECT_EQ(fs::status(path("a")).permissions(), mode | fs::perms::others_exec);
  EXPECT_EQ(read_file(path("a")), "newer");
}

TEST_F(FileTest, AReplacedFileKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  write_file_atomically(path("a"), "old");
  ASSERT_EQ(::chown(path("a").c_str(), 1234, 4321), 0);
  write_file_atomically(path("a"), "new");
  struct stat status = {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 4321u);
}

TEST_F(FileTest, WritableIsFoundOutWithoutWriting) {
  require_writable(path("a"));
  EXPECT_EQ(entries(), std::set<std::string>{});
  write_file_atomically(path("a"), "old");
  require_writable(path("a"));
  require_writable("/dev/null");
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), std::set<std::string>{"a"});
  expect_error(ErrorCode::kInvalidInput, "cannot write", [] { require_writable("/proc/a"); });
  expect_error(ErrorCode::kInvalidInput, "No such file",
               [&] { require_writable(path("none") / "a"); });
}

TEST_F(FileTest, DevicesAreNotReplaced) {
  write_file_atomically("/dev/null", "1");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, HonoursTheUmask) {
  const mode_t before = ::umask(027);
  write_file_atomically(path("a"), "1");
  ::umask(before);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
}

TEST(TemporaryDirectoryTest, GoesWithAllItHolds) {
  fs::path kept;
  {
    const TemporaryDirectory first;
    const TemporaryDirectory second;
    EXPECT_NE(first.path(), second.path());
    kept = first.path();
    fs::create_directories(kept / "a" / "b");
    write_file_atomically(kept / "a" / "b" / "c", "1");
    EXPECT_EQ(fs::status(kept).permissions(), fs::perms(0700));
  }
  EXPECT_FALSE(fs::exists(kept));
}

}  // namespace
}  // namespace baton::file_test
