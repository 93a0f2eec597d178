#include "base/text/suggestion_or.h"

#include "base/text/suggest.h"

namespace baton {

std::string suggestion_or(std::string_view name, std::span<const std::string_view> candidates,
                          std::string_view otherwise) {
  if (nearest(name, candidates).empty()) return "; " + std::string(otherwise);
  return suggestion(name, candidates);
}

std::string suggestion_or(std::string_view name, const std::vector<std::string>& candidates,
                          std::string_view otherwise) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return suggestion_or(name, std::span<const std::string_view>(views), otherwise);
}

}  // namespace baton
