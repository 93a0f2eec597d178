#include "bundle/index_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/hash.h"

namespace baton::bundle {
namespace {

constexpr std::uint32_t count_tables() {
  std::uint32_t count = 0;
#define BATON_TABLE(Row, name) ++count;
  BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE
  return count;
}

constexpr std::uint64_t kTablesEnd = sizeof(HeaderRow) + count_tables() * sizeof(TableRow);

constexpr std::uint64_t up_to_8(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

template <typename Row>
std::string_view bytes_of(const std::vector<Row>& rows) {
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row)};
}

}  // namespace

TextRef IndexWriter::text(std::string_view text) {
  const TextRef next = {rows(strings), static_cast<std::uint32_t>(text.size())};
  const auto [found, is_new] = known_.emplace(text, next);
  if (is_new) strings.insert(strings.end(), text.begin(), text.end());
  return found->second;
}

std::uint64_t IndexWriter::size() const {
  std::uint64_t size = kTablesEnd;
#define BATON_TABLE(Row, name) size += up_to_8(bytes_of(name).size());
  BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE
  return size;
}

std::string IndexWriter::write(std::uint64_t file_size) const {
  std::string out(size(), '\0');
  std::uint64_t row_at = sizeof(HeaderRow);
  std::uint64_t at = kTablesEnd;
  const auto put = [&](std::string_view name, std::uint32_t row_size, std::uint64_t rows,
                       std::string_view bytes) {
    TableRow row{};
    std::ranges::copy(name, row.name);
    row.flags = kRequired;
    row.row_size = row_size;
    row.offset = at;
    row.rows = rows;
    std::memcpy(out.data() + row_at, &row, sizeof row);
    std::ranges::copy(bytes, out.begin() + static_cast<std::ptrdiff_t>(at));
    row_at += sizeof row;
    at += up_to_8(bytes.size());
  };
#define BATON_TABLE(Row, name) put(#name, sizeof(Row), name.size(), bytes_of(name));
  BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE
  HeaderRow header{};
  std::ranges::copy(kIndexMagic, header.magic);
  header.major = kMajor;
  header.minor = kMinor;
  header.file_size = file_size;
  header.index_size = out.size();
  header.tables = count_tables();
  std::memcpy(out.data(), &header, sizeof header);
  header.xxh3 = xxh3(std::string_view(out).substr(offsetof(HeaderRow, major)));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

}  // namespace baton::bundle
