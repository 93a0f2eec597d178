#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bundle/rows.h"

namespace baton::bundle {

// Collects the rows of an index and writes them. Fill the tables and call `write`.
class IndexWriter {
 public:
#define BATON_TABLE(Row, name) std::vector<Row> name;
  BATON_BUNDLE_TABLES(BATON_TABLE)
#undef BATON_TABLE

  // The text's place in `strings`; equal texts share one.
  TextRef text(std::string_view text);
  // The rows so far: the number of the next one.
  template <typename Row>
  static std::uint32_t rows(const std::vector<Row>& table) {
    return static_cast<std::uint32_t>(table.size());
  }

  // The size of the index, which no change of a row in place alters.
  std::uint64_t size() const;
  std::string write(std::uint64_t file_size) const;

 private:
  std::unordered_map<std::string, TextRef> known_;
};

}  // namespace baton::bundle
