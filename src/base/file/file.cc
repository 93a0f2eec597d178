#include "base/file/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

#include "base/error.h"
#include "base/file/file_descriptor.h"
#include "base/file/near_file.h"
#include "base/log.h"
#include "base/text/text.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

std::string system_reason(int number) {
  return std::system_category().message(number);
}

[[noreturn]] void fail_to_read(const fs::path& path, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  throw error(missing ? ErrorCode::kNotFound : ErrorCode::kInvalidInput, "cannot read \"{}\": {}{}",
              path.string(), system_reason(number), missing ? file_suggestion(path) : "");
}

[[noreturn]] void fail_to_write(const fs::path& path, int number) {
  throw error(ErrorCode::kInvalidInput, "cannot write \"{}\": {}", path.string(),
              system_reason(number));
}

using FileParts = std::span<const std::string_view>;

// 0, or the reason.
int write_all(int descriptor, FileParts parts) {
  for (std::string_view bytes : parts) {
    while (!bytes.empty()) {
      const ssize_t written =
          uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
      if (written < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

// A temporary file beside its target, removed again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target), descriptor_(create(target, path_)) {}
  ~TemporaryFile() {
    if (!renamed_ && ::unlink(path_.c_str()) != 0) {
      log(LogLevel::kWarning, "cannot remove the temporary file \"{}\": {}", path_.string(),
          system_reason(errno));
    }
  }

  // Takes over who may do what with the file that it replaces.
  void take_rights(const fs::path& replaced) {
    struct stat old = {};
    if (::stat(replaced.c_str(), &old) != 0) return;
    struct stat own = {};
    require(::fstat(descriptor_.number(), &own) == 0 ? 0 : errno);
    const bool same_owner = own.st_uid == old.st_uid && own.st_gid == old.st_gid;
    // Only root may give a file to another owner; whoever may replace the file still may do so.
    if (!same_owner && ::fchown(descriptor_.number(), old.st_uid, old.st_gid) != 0) {
      log(LogLevel::kDebug, "\"{}\" changes its owner: {}", replaced.string(),
          system_reason(errno));
      return;
    }
    require(::fchmod(descriptor_.number(), old.st_mode & 07777) == 0 ? 0 : errno);
  }

  void write(FileParts parts) {
    require(write_all(descriptor_.number(), parts));
    if (uninterrupted([&] { return ::fsync(descriptor_.number()); }) != 0) require(errno);
    require(descriptor_.close());
  }

  void rename() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) require(errno);
    renamed_ = true;
  }

 private:
  // The name holds the process and a count, so that writers in one process never meet; where
  // another machine or container shares the folder, the next count is tried.
  static int create(const fs::path& target, fs::path& path) {
    static std::atomic<unsigned> count{0};
    for (int attempt = 0; attempt < 1000; ++attempt) {
      path = target.parent_path() / fmt::format(".baton-{}-{}.tmp", ::getpid(), count++);
      const int descriptor = uninterrupted(
          [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
      if (descriptor >= 0) return descriptor;
      if (errno != EEXIST) fail_to_write(target, errno);
    }
    fail_to_write(target, EEXIST);
  }

  void require(int reason) const {
    if (reason != 0) fail_to_write(target_, reason);
  }

  const fs::path& target_;
  fs::path path_;
  FileDescriptor descriptor_;
  bool renamed_ = false;
};

void write_in_place(const fs::path& path, FileParts parts) {
  FileDescriptor file(uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (file.number() < 0) fail_to_write(path, errno);
  if (const int reason = write_all(file.number(), parts)) fail_to_write(path, reason);
  if (const int reason = file.close()) fail_to_write(path, reason);
}

// A device, a pipe or a folder: what is there and cannot be replaced by a file.
bool is_written_in_place(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

// The file that a link names is replaced, not the link.
fs::path replaced_file(const fs::path& path) {
  std::error_code ignored;
  const bool link =
      fs::exists(fs::status(path, ignored)) && fs::is_symlink(fs::symlink_status(path, ignored));
  const fs::path target = link ? fs::canonical(path, ignored) : path;
  if (target.empty() || !target.has_filename()) fail_to_write(path, ENOENT);
  return target;
}

// Makes the new name last through a power failure. Some file systems cannot: the file itself is
// whole either way.
void sync_folder(const fs::path& folder) {
  FileDescriptor descriptor(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.number() < 0 || uninterrupted([&] { return ::fsync(descriptor.number()); }) != 0) {
    log(LogLevel::kDebug, "cannot sync the folder \"{}\": {}", folder.string(),
        system_reason(errno));
  }
}

[[noreturn]] void refuse_size(const fs::path& path, std::uint64_t max_bytes) {
  throw error(ErrorCode::kInvalidInput, "cannot read \"{}\": it holds more than {}", path.string(),
              format_bytes(max_bytes));
}

}  // namespace

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  const FileDescriptor file(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  struct stat status;
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) fail_to_read(path, errno);
  if (S_ISDIR(status.st_mode)) fail_to_read(path, EISDIR);

  // One more byte than a regular file is said to hold shows its end without another growth.
  constexpr std::uint64_t kChunk = 64 << 10;
  const auto expected = static_cast<std::uint64_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (expected > max_bytes) refuse_size(path, max_bytes);
  std::string bytes;
  std::size_t filled = 0;
  try {
    bytes.resize(expected > 0 ? expected + 1 : kChunk);
    while (true) {
      if (filled == bytes.size()) bytes.resize(bytes.size() * 2);
      const ssize_t count = uninterrupted(
          [&] { return ::read(file.number(), bytes.data() + filled, bytes.size() - filled); });
      if (count < 0) fail_to_read(path, errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
      if (filled > max_bytes) refuse_size(path, max_bytes);
    }
  } catch (const std::bad_alloc&) {
    throw error(ErrorCode::kInvalidInput, "cannot read \"{}\": {} do not fit in memory",
                path.string(), format_bytes(std::max<std::uint64_t>(expected, filled)));
  }
  bytes.resize(filled);
  return bytes;
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  write_file_atomically(path, std::span(&bytes, 1));
}

void write_file_atomically(const fs::path& path, FileParts parts) {
  if (is_written_in_place(path)) {
    write_in_place(path, parts);
    return;
  }
  const fs::path target = replaced_file(path);
  TemporaryFile file(target);
  file.take_rights(target);
  file.write(parts);
  file.rename();
  sync_folder(target.has_parent_path() ? target.parent_path() : fs::path("."));
}

void require_writable(const fs::path& path) {
  if (is_written_in_place(path)) {
    if (::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno);
    return;
  }
  const fs::path target = replaced_file(path);
  TemporaryFile{target};
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::is_regular_file(a, missing) && fs::equivalent(a, b, missing);
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  if (failure) {
    throw error(ErrorCode::kInvalidInput,
                "there is no folder for temporary files: {}; set TMPDIR to one that exists",
                failure.message());
  }
  std::string name = (parent / "baton-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "cannot create a temporary folder in \"{}\": {}; set TMPDIR to a folder that can "
                "be written",
                parent.string(), system_reason(errno));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code failure;
  fs::remove_all(path_, failure);
  if (failure) {
    log(LogLevel::kWarning, "cannot remove the temporary folder \"{}\": {}", path_.string(),
        failure.message());
  }
}

}  // namespace baton
