#include "replay/param_block.h"

#include <algorithm>

namespace baton::replay {
namespace {

std::size_t end_of(const record::ParamNote& param) {
  return std::size_t{param.offset} + param.size;
}

}  // namespace

std::optional<std::string> lay_out(std::string_view block,
                                   std::span<const record::ParamNote> recorded,
                                   std::span<const record::ParamNote> wanted) {
  const bool agree = std::ranges::equal(recorded, wanted, {}, &record::ParamNote::size,
                                        &record::ParamNote::size);
  if (!agree) return std::nullopt;
  std::size_t bytes = 0;
  for (const record::ParamNote& param : wanted) bytes = std::max(bytes, end_of(param));
  std::string result(bytes, '\0');
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (end_of(recorded[k]) > block.size()) return std::nullopt;
    block.copy(result.data() + wanted[k].offset, wanted[k].size, recorded[k].offset);
  }
  return result;
}

}  // namespace baton::replay
