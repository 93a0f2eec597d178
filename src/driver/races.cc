#include "baton/races.h"

#include <iterator>
#include <span>

#include "base/error.h"
#include "base/text/suggest.h"

namespace baton {
namespace {

constexpr std::string_view kRaces[] = {"usual", "global", "model"};

}  // namespace

std::string_view to_string(Races races) {
  return kRaces[static_cast<std::size_t>(races)];
}

Races parse_races(std::string_view text) {
  for (std::size_t k = 0; k < std::size(kRaces); ++k) {
    if (kRaces[k] == text) return static_cast<Races>(k);
  }
  throw error(ErrorCode::kInvalidInput, "there are no races called \"{}\"{}", text,
              suggestion(text, std::span(kRaces)));
}

}  // namespace baton
