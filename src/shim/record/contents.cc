#include "shim/record/contents.h"

#include <cuda.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "record/format.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

using record::CopyShape;

bool keeps_contents() {
  static const bool keeps = [] {
    const char* const value = std::getenv("BATON_RECORD_CONTENTS");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return keeps;
}

// Rows of bytes in memory of the host.
struct HostRows {
  const char* first = nullptr;
  std::uint64_t bytes = 0;  // of a row
  std::uint64_t rows = 1, pitch = 0;
  std::uint64_t slices = 1, slice = 0;
};

// Whether an address is memory of the host.
bool is_host(std::uint64_t address) {
  static const auto ask =
      real<CUresult(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
  if (ask == nullptr) return false;
  unsigned type = 0;
  // The driver does not know memory that only the host has.
  if (ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) return true;
  return type == CU_MEMORYTYPE_HOST;
}

std::uint64_t host_address(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_HOST) return reinterpret_cast<std::uintptr_t>(host);
  return type == CU_MEMORYTYPE_UNIFIED && is_host(device) ? device : 0;
}

HostRows rows_of(const CUDA_MEMCPY2D& copy) {
  const std::uint64_t source = host_address(copy.srcMemoryType, copy.srcHost, copy.srcDevice);
  if (source == 0) return {};
  const std::uint64_t pitch = copy.srcPitch == 0 ? copy.WidthInBytes : copy.srcPitch;
  return {reinterpret_cast<const char*>(source + copy.srcY * pitch + copy.srcXInBytes),
          copy.WidthInBytes, copy.Height, pitch};
}

HostRows rows_of(const CUDA_MEMCPY3D& copy) {
  const std::uint64_t source = host_address(copy.srcMemoryType, copy.srcHost, copy.srcDevice);
  if (source == 0) return {};
  const std::uint64_t pitch = copy.srcPitch == 0 ? copy.WidthInBytes : copy.srcPitch;
  const std::uint64_t slice = pitch * (copy.srcHeight == 0 ? copy.Height : copy.srcHeight);
  return {reinterpret_cast<const char*>(source + copy.srcZ * slice + copy.srcY * pitch +
                                        copy.srcXInBytes),
          copy.WidthInBytes,
          copy.Height,
          pitch,
          copy.Depth,
          slice};
}

HostRows rows_of(CopyShape shape, std::span<const std::uint64_t> words) {
  switch (shape) {
    case CopyShape::kHostToDevice:
      return {reinterpret_cast<const char*>(words[1]), words[2]};
    case CopyShape::kAny:
      if (!is_host(words[1])) return {};
      return {reinterpret_cast<const char*>(words[1]), words[2]};
    case CopyShape::kRows:
      return rows_of(*reinterpret_cast<const CUDA_MEMCPY2D*>(words[0]));
    case CopyShape::kSlices:
      return rows_of(*reinterpret_cast<const CUDA_MEMCPY3D*>(words[0]));
    case CopyShape::kOther:
    case CopyShape::kDeviceToHost:
    case CopyShape::kDeviceToDevice:
    case CopyShape::kPeer:
      return {};
  }
  return {};
}

// The file of contents of this process.
struct ContentsFile {
  std::mutex mutex;
  std::string owner;  // the file of events that it belongs to
  int file = -1;
  std::uint64_t size = 0;
  bool is_full = false;  // it takes no more

  // With the mutex held. A fork has a file of events of its own.
  bool open() {
    const std::string events = event_file();
    if (events.empty()) return false;
    if (owner == events) return file >= 0 && !is_full;
    if (file >= 0) close(file);
    owner = events;
    const std::string path = events.substr(0, events.size() - std::strlen(record::kEventsEnding)) +
                             record::kContentsEnding;
    size = 0;
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    is_full = file < 0;
    if (is_full) remark(path + " cannot be made: " + std::strerror(errno));
    return !is_full;
  }
};

ContentsFile& contents_file() {
  static auto& file = *new ContentsFile;
  return file;
}

// The memory may not belong to the program: then the system refuses, as the driver will.
bool write_at(int file, std::uint64_t offset, const char* bytes, std::uint64_t size) {
  while (size != 0) {
    const ssize_t done = pwrite(file, bytes, std::min<std::uint64_t>(size, std::uint64_t{1} << 30),
                                static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    offset += static_cast<std::uint64_t>(done);
    size -= static_cast<std::uint64_t>(done);
  }
  return true;
}

std::optional<record::ContentsNote> save(const HostRows& from) {
  ContentsFile& to = contents_file();
  const std::lock_guard lock(to.mutex);
  if (!to.open()) return std::nullopt;
  const record::ContentsNote saved = {to.size, from.bytes * from.rows * from.slices};
  std::uint64_t offset = to.size;
  const bool is_whole = (from.rows == 1 || from.pitch == from.bytes) &&
                        (from.slices == 1 || from.slice == from.bytes * from.rows);
  const std::uint64_t rows = is_whole ? 1 : from.rows, slices = is_whole ? 1 : from.slices;
  const std::uint64_t bytes = is_whole ? saved.bytes : from.bytes;
  for (std::uint64_t z = 0; z < slices; ++z) {
    for (std::uint64_t y = 0; y < rows; ++y, offset += bytes) {
      const char* const row = from.first + z * from.slice + y * from.pitch;
      if (write_at(to.file, offset, row, bytes)) continue;
      if (errno == EFAULT) return std::nullopt;
      to.is_full = true;
      remark(std::string("contents are in the record up to here only: ") + std::strerror(errno));
      return std::nullopt;
    }
  }
  to.size = offset;
  return saved;
}

template <typename T>
void note_structure(std::uint64_t address) {
  const record::StructureNote head = {0, sizeof(T)};
  note(record::EventKind::kStructure, 0, next_order(), 0,
       {{&head, sizeof head}, {reinterpret_cast<const void*>(address), sizeof(T)}});
}

}  // namespace

void note_copy(CopyShape shape, std::span<const std::uint64_t> words) {
  const bool is_structure = shape == CopyShape::kRows || shape == CopyShape::kSlices;
  if (is_structure && words[0] == 0) return;
  if (shape == CopyShape::kRows) note_structure<CUDA_MEMCPY2D>(words[0]);
  if (shape == CopyShape::kSlices) note_structure<CUDA_MEMCPY3D>(words[0]);
  if (!keeps_contents()) return;
  const HostRows rows = rows_of(shape, words);
  if (rows.first == nullptr || rows.bytes == 0 || rows.rows == 0 || rows.slices == 0) return;
  if (const std::optional<record::ContentsNote> saved = save(rows)) {
    note(record::EventKind::kContents, 0, next_order(), 0, {{&*saved, sizeof *saved}});
  }
}

}  // namespace baton::recorder
