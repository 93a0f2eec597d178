#include "base/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/file/near_file.h"

namespace baton {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

[[noreturn]] void fail_to_map(const std::string& name, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  throw error(missing ? ErrorCode::kNotFound : ErrorCode::kInvalidInput, "cannot read \"{}\": {}{}",
              name, std::system_category().message(number), missing ? file_suggestion(name) : "");
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
  if (!is_mapped() || bytes_.empty()) return;
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void MappedFile::read(std::string_view part, char* target) const {
  if (!is_mapped()) {
    std::ranges::copy(part, target);
    return;
  }
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  std::size_t done = 0;
  while (done < part.size()) {
    const ssize_t count = uninterrupted([&] {
      return ::pread(descriptor_.number(), target + done, part.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (count < 0) fail_to_map(name_, errno);
    if (count == 0) {
      require_whole();  // says what happened
      throw error(ErrorCode::kInvalidInput, "{} ends before byte {}", name_, offset + done);
    }
    done += static_cast<std::size_t>(count);
  }
}

std::optional<std::string> MappedFile::copy(std::string_view part) const {
  if (!is_mapped()) return std::nullopt;
  std::string out(part.size(), '\0');
  read(part, out.data());
  return out;
}

void MappedFile::for_each_piece(std::string_view part,
                                const std::function<void(std::string_view)>& each) const {
  if (!is_mapped()) return each(part);
  std::string piece(std::min(part.size(), kPieceBytes), '\0');
  for (; !part.empty(); part.remove_prefix(piece.size())) {
    piece.resize(std::min(part.size(), piece.size()));
    read(part.substr(0, piece.size()), piece.data());
    each(piece);
  }
}

std::optional<MappedFile::Identity> MappedFile::identity() const {
  struct stat status;
  if (!is_mapped() || ::fstat(descriptor_.number(), &status) != 0) return std::nullopt;
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
  if (!is_mapped()) return;
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
