#include "base/file/file_lock.h"

#include <fcntl.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/error.h"

namespace baton {

std::optional<FileLock> FileLock::acquire(const std::filesystem::path& path, std::uint64_t offset,
                                          std::chrono::milliseconds patience,
                                          std::string* failure) {
  using Clock = std::chrono::steady_clock;
  failure->clear();
  const auto failed = [&](const char* what) {
    *failure = fmt::format("cannot {} \"{}\": {}", what, path.string(),
                           std::system_category().message(errno));
    return std::nullopt;
  };
  FileDescriptor file(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666); }));
  if (file.number() < 0) return failed("open");

  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset & (~std::uint64_t{0} >> 2));  // end within off_t
  range.l_len = 1;
  // Asking again and again, instead of F_OFD_SETLKW: a wait in the kernel has no end where the
  // holder is stopped or hangs on a dead network disk.
  const Clock::time_point deadline = Clock::now() + patience;
  auto pause = std::chrono::microseconds(100);
  constexpr std::chrono::microseconds kLongestPause = std::chrono::milliseconds(10);
  while (uninterrupted([&] { return ::fcntl(file.number(), F_OFD_SETLK, &range); }) != 0) {
    if (errno != EAGAIN && errno != EACCES) return failed("lock");
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return std::nullopt;
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, left));
    pause = std::min(pause * 2, kLongestPause);
  }
  return FileLock(std::move(file));
}

}  // namespace baton
