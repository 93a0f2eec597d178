#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/mapped_file.h"
#include "bundle/rows.h"

namespace baton::bundle {

// The rows of one table. Every number is in the table's bounds: the index checked that.
template <typename Row>
class IndexTable {
 public:
  std::uint64_t size() const { return rows_; }
  Row operator[](std::uint64_t number) const {
    const char* const at = bytes_ + number * row_size_;
    Row row;
    if (row_size_ >= sizeof row) {
      std::memcpy(&row, at, sizeof row);  // of a constant size: compilers read the fields in place
    } else {
      row = {};  // an earlier version has no later fields
      std::memcpy(&row, at, row_size_);
    }
    return row;
  }
  std::string_view bytes() const { return {bytes_, rows_ * row_size_}; }

 private:
  friend class Index;
  const char* bytes_ = nullptr;
  std::uint64_t row_size_ = sizeof(Row);
  std::uint64_t rows_ = 0;
};

// The index of a bundle, checked: every reference in it leads to what it names. Immutable.
class Index {
 public:
  // Reads the index of a file and checks it. The file's other bytes are not read. Throws
  // kInvalidInput.
  static Index read(const MappedFile& file);

#define BATON_TABLE(Row, name) IndexTable<Row> name;
  BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE

  std::uint32_t major() const {
    return header_.major;
  }
  std::uint32_t minor() const {
    return header_.minor;
  }
  // The index as it lies in the file.
  std::string_view bytes() const {
    return {bytes_.get(), size_};
  }
  std::string_view text(TextRef ref) const {
    return {strings.bytes_ + ref.offset, ref.size};
  }
  // The section of that name, or kNone.
  std::uint32_t section(std::string_view name) const;
  // Tables and sections that this version does not know and need not know.
  const std::vector<std::string>& skipped() const {
    return skipped_;
  }

 private:
  explicit Index(const MappedFile& file);
  void read_tables(const std::string& name);
  template <typename Row>
  void take(IndexTable<Row>& table, const TableRow& row, std::string_view table_name,
            const std::string& name);

  HeaderRow header_;
  // A copy, which does not change after the checks.
  std::unique_ptr<char[]> bytes_;
  std::uint64_t size_ = 0;
  std::vector<std::string> skipped_;
};

// Whether the bytes are a bundle, whole or not.
bool is_bundle(std::string_view file);

}  // namespace baton::bundle
