#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bundle {

// A table of an index as bytes, also one that this version does not know.
struct RawTable {
  std::string name;
  std::uint32_t flags = 0;
  std::uint32_t row_size = 0;
  std::string bytes;

  std::uint64_t rows() const { return bytes.size() / row_size; }
};

// An index as its tables, to be changed and written.
struct RawIndex {
  std::uint32_t minor = 0;
  std::vector<RawTable> tables;

  // From the bytes of a checked index.
  static RawIndex read(std::string_view index);
  // The table of that name, or null.
  RawTable* find(std::string_view name);

  // The size in bytes, which no change of a row in place alters.
  std::uint64_t size() const;
  std::string write(std::uint64_t file_size) const;
};

}  // namespace baton::bundle
