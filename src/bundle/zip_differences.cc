#include "bundle/zip_differences.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/text/text.h"

namespace baton::bundle {
namespace {

// Compares the zip's directory with `wanted`, which gets its checksums.
std::vector<std::string> compare_directory(std::string_view file, const std::string& name,
                                           std::vector<ZipEntry>& wanted) {
  std::vector<ZipEntry> entries;
  try {
    entries = read_zip_directory(file, name);
  } catch (const Error& unreadable) {
    return {unreadable.message()};
  }
  std::map<std::string_view, ZipEntry*> missing;
  for (ZipEntry& entry : wanted) missing[entry.name] = &entry;
  std::vector<std::string> differences;
  for (const ZipEntry& entry : entries) {
    const auto found = missing.find(entry.name);
    if (found == missing.end()) {
      differences.push_back(fmt::format("the zip's directory has {}, which is not in the index",
                                        printable(entry.name)));
      continue;
    }
    ZipEntry& want = *found->second;
    missing.erase(found);
    want.crc32 = crc32(file.substr(want.offset, want.size));
    if (entry.offset != want.offset || entry.size != want.size) {
      differences.push_back(
          fmt::format("the zip's directory has {} at byte {} with {} bytes, the index at byte {} "
                      "with {}",
                      entry.name, entry.offset, entry.size, want.offset, want.size));
    } else if (want.crc32 != entry.crc32) {
      differences.push_back(
          fmt::format("the zip's directory has another checksum of {}", entry.name));
    }
  }
  for (const auto& [name_of_entry, entry] : missing) {
    differences.push_back(fmt::format("the zip's directory lacks {}", name_of_entry));
  }
  return differences;
}

// Adds a sentence where the file has other bytes at `at` than these.
void compare_bytes(std::string_view file, std::uint64_t at, std::string_view expected,
                   std::vector<std::string>& differences) {
  const std::string_view there = file.substr(at, expected.size());
  if (there == expected) return;
  const auto [one, other] = std::ranges::mismatch(there, expected);
  differences.push_back(fmt::format("byte {}, outside of all parts, is not what a bundle has there",
                                    at + static_cast<std::uint64_t>(one - there.begin())));
}

}  // namespace

std::vector<std::string> zip_differences(std::string_view file, const std::string& name,
                                         std::vector<ZipEntry> wanted) {
  std::vector<std::string> differences = compare_directory(file, name, wanted);
  // The rest is compared with these entries.
  if (!differences.empty()) return differences;
  std::ranges::sort(wanted, {}, &ZipEntry::offset);
  std::vector<std::uint64_t> headers;
  std::uint64_t end = 0;
  for (const ZipEntry& entry : wanted) {
    headers.push_back(end);
    // The room for a header of another shape is not a header that this version knows.
    if (entry.offset != zip_place(entry.name, entry.size, end)) {
      return {fmt::format("{} begins at byte {}, where a bundle has it at byte {}", entry.name,
                          entry.offset, zip_place(entry.name, entry.size, end))};
    }
    compare_bytes(file, end, zip_header(entry, end), differences);
    end = entry.offset + entry.size;
  }
  compare_bytes(file, end, zip_directory(wanted, headers, end), differences);
  return differences;
}

}  // namespace baton::bundle
