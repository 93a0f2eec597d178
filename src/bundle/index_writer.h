#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bundle/raw_index.h"
#include "bundle/rows.h"

namespace baton::bundle {

// Collects the rows of an index. Fill the tables and call `take`.
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

  // The tables. Optional ones without rows are left out.
  RawIndex take() const;

 private:
  std::unordered_map<std::string, TextRef> known_;
};

}  // namespace baton::bundle
