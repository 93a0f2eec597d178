#include "bundle/raw_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/hash/hash.h"
#include "bundle/rows.h"

namespace baton::bundle {
namespace {

constexpr std::uint64_t up_to_8(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

}  // namespace

RawIndex RawIndex::read(std::string_view index) {
  HeaderRow header;
  std::memcpy(&header, index.data(), sizeof header);
  RawIndex raw{header.minor, {}};
  for (std::uint32_t number = 0; number < header.tables; ++number) {
    TableRow row;
    std::memcpy(&row, index.data() + sizeof header + number * sizeof row, sizeof row);
    raw.tables.push_back({std::string(row.name, strnlen(row.name, sizeof row.name)), row.flags,
                          row.row_size,
                          std::string(index.substr(row.offset, row.rows * row.row_size))});
  }
  return raw;
}

RawTable* RawIndex::find(std::string_view name) {
  const auto found = std::ranges::find(tables, name, &RawTable::name);
  return found == tables.end() ? nullptr : &*found;
}

std::uint64_t RawIndex::size() const {
  std::uint64_t size = sizeof(HeaderRow) + tables.size() * sizeof(TableRow);
  for (const RawTable& table : tables) size += up_to_8(table.bytes.size());
  return size;
}

std::string RawIndex::write(std::uint64_t file_size) const {
  std::string out(size(), '\0');
  std::uint64_t row_at = sizeof(HeaderRow);
  std::uint64_t at = row_at + tables.size() * sizeof(TableRow);
  for (const RawTable& table : tables) {
    TableRow row{};
    std::ranges::copy(table.name, row.name);
    row.flags = table.flags;
    row.row_size = table.row_size;
    row.offset = at;
    row.rows = table.rows();
    std::memcpy(out.data() + row_at, &row, sizeof row);
    std::ranges::copy(table.bytes, out.begin() + static_cast<std::ptrdiff_t>(at));
    row_at += sizeof row;
    at += up_to_8(table.bytes.size());
  }
  HeaderRow header{};
  std::ranges::copy(kIndexMagic, header.magic);
  header.major = kMajor;
  header.minor = minor;
  header.file_size = file_size;
  header.index_size = out.size();
  header.tables = static_cast<std::uint32_t>(tables.size());
  std::memcpy(out.data(), &header, sizeof header);
  header.xxh3 = xxh3(std::string_view(out).substr(offsetof(HeaderRow, major)));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

}  // namespace baton::bundle
