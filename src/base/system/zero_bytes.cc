#include "base/system/zero_bytes.h"

#include <sys/mman.h>

#include <cstdint>

namespace baton {

namespace {

// Asks for huge pages, of which one takes little longer to get than a small one.
void prefer_huge_pages(void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kSmallPage = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  // From the page on that has the allocator's note: a mapping begins there.
  const std::uintptr_t first = address / kSmallPage * kSmallPage;
  ::madvise(reinterpret_cast<void*>(first), address + bytes - first, MADV_HUGEPAGE);
}

}  // namespace

void populate(void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14; headers may be older
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (address + bytes) / kPage * kPage;
  if (first >= end) return;
  // Where it fails, the pages come one by one, as they are touched.
  ::madvise(reinterpret_cast<void*>(first), end - first, kPopulateWrite);
}

std::string zero_bytes(std::size_t size) {
  constexpr std::size_t kMany = std::size_t{1} << 20;
  std::string bytes;
  bytes.reserve(size);
  if (size >= kMany) {
    prefer_huge_pages(bytes.data(), size);
    populate(bytes.data(), size);
  }
  bytes.resize(size, '\0');
  return bytes;
}

}  // namespace baton
