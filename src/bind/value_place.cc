#include "bind/value_place.h"

#include <fmt/core.h>

#include "base/text.h"
#include "image/param_types.h"

namespace baton::bind {

ValuePlace ValuePlace::field(std::size_t number) const {
  ValuePlace place = *this;
  place.fields.push_back(number);
  return place;
}

std::string ValuePlace::text() const {
  const std::string name = naming == nullptr ? "" : (*naming)(kernel, argument);
  std::string text =
      fmt::format("{} of {}", image::argument_text(argument, name), printable(kernel));
  for (const std::size_t number : fields) text = fmt::format("field {} of {}", number, text);
  return text;
}

}  // namespace baton::bind
