#include "bundle/index_writer.h"

namespace baton::bundle {
namespace {

template <typename Row>
RawTable table_of(std::string_view name, std::uint32_t flags, const std::vector<Row>& rows) {
  return {std::string(name), flags, sizeof(Row),
          std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row))};
}

}  // namespace

TextRef IndexWriter::text(std::string_view text) {
  const TextRef next = {rows(strings), static_cast<std::uint32_t>(text.size())};
  const auto [found, is_new] = known_.emplace(text, next);
  if (is_new) strings.insert(strings.end(), text.begin(), text.end());
  return found->second;
}

RawIndex IndexWriter::take() const {
  RawIndex index{kMinor, {}};
#define BATON_TABLE(Row, name) index.tables.push_back(table_of(#name, kRequired, name));
  BATON_REQUIRED_TABLES(BATON_TABLE)
#undef BATON_TABLE
#define BATON_TABLE(Row, name) \
  if (!name.empty()) index.tables.push_back(table_of(#name, 0, name));
  BATON_OPTIONAL_TABLES(BATON_TABLE)
#undef BATON_TABLE
  return index;
}

}  // namespace baton::bundle
