#include "program/writer/without_sources.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "program/reader/document.h"

namespace baton {
namespace {

void replace(std::string& toml, Document::Extent extent) {
  const auto begin = toml.begin() + static_cast<std::ptrdiff_t>(extent.begin);
  const auto end = toml.begin() + static_cast<std::ptrdiff_t>(extent.end);
  const auto lines = static_cast<std::size_t>(std::count(begin, end, '\n'));
  toml.replace(begin, end, "'''// left out" + std::string(lines, '\n') + "'''");
}

}  // namespace

std::string without_sources(std::string_view toml, const std::string& name) {
  const Document document(toml, name);
  std::vector<Document::Extent> extents;
  const DocumentNode* kernels = document.root().member("kernels");
  if (kernels == nullptr) return std::string(toml);
  for (const DocumentNode::Member& kernel : kernels->members) {
    for (const char* key : {"text", "prelude"}) {
      const DocumentNode* value = kernel.value.member(key);
      if (value != nullptr) extents.push_back(document.extent(*value));
    }
  }
  // From the last to the first: those before keep their places.
  std::ranges::sort(extents, std::greater(), &Document::Extent::begin);
  std::string out(toml);
  for (const Document::Extent extent : extents) replace(out, extent);
  return out;
}

}  // namespace baton
