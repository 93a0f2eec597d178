#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "base/error.h"

namespace baton {
namespace {

[[noreturn]] void fail_to_map(const std::string& name, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  throw error(missing ? ErrorCode::kNotFound : ErrorCode::kInvalidInput, "cannot read \"{}\": {}",
              name, std::system_category().message(number));
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  std::shared_ptr<MappedFile> file(new MappedFile(path.string()));
  file->descriptor_ =
      FileDescriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  struct stat status;
  const int descriptor = file->descriptor_.number();
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) fail_to_map(file->name_, errno);
  if (S_ISDIR(status.st_mode)) fail_to_map(file->name_, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw error(ErrorCode::kInvalidInput,
                "cannot map \"{}\": it is not a regular file; copy its bytes into one",
                file->name_);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) fail_to_map(file->name_, errno);
  file->bytes_ = {static_cast<const char*>(start), size};
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::from_bytes(std::string bytes, std::string name) {
  std::shared_ptr<MappedFile> file(new MappedFile(std::move(name)));
  file->owned_ = std::move(bytes);
  file->bytes_ = file->owned_;
  return file;
}

MappedFile::~MappedFile() {
  if (descriptor_.number() < 0 || bytes_.empty()) return;
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

std::optional<std::string> MappedFile::copy(std::string_view part) const {
  if (descriptor_.number() < 0) return std::nullopt;
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  std::string out(part.size(), '\0');
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = uninterrupted([&] {
      return ::pread(descriptor_.number(), out.data() + done, out.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (count < 0) fail_to_map(name_, errno);
    if (count == 0) {
      require_whole();  // says what happened
      throw error(ErrorCode::kInvalidInput, "{} ends before byte {}", name_, offset + done);
    }
    done += static_cast<std::size_t>(count);
  }
  return out;
}

std::optional<MappedFile::Identity> MappedFile::identity() const {
  struct stat status;
  if (descriptor_.number() < 0 || ::fstat(descriptor_.number(), &status) != 0) return std::nullopt;
  const timespec& modified = status.st_mtim;
  const timespec& changed = status.st_ctim;
  const auto since_epoch =
      std::chrono::seconds(changed.tv_sec) + std::chrono::nanoseconds(changed.tv_nsec);
  return Identity{
      fmt::format("device {} inode {} size {} modified {}.{:09} changed {}.{:09}", status.st_dev,
                  status.st_ino, status.st_size, modified.tv_sec, modified.tv_nsec, changed.tv_sec,
                  changed.tv_nsec),
      std::chrono::system_clock::time_point(
          std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch))};
}

void MappedFile::require_whole() const {
  if (descriptor_.number() < 0) return;
  struct stat status;
  if (::fstat(descriptor_.number(), &status) != 0) fail_to_map(name_, errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size >= bytes_.size()) return;
  throw error(ErrorCode::kInvalidInput,
              "{} shrank from {} to {} bytes while it was in use; replace a file by renaming "
              "another one over it",
              name_, bytes_.size(), size);
}

}  // namespace baton
