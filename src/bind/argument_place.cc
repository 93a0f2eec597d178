#include "bind/argument_place.h"

#include <fmt/core.h>

#include "base/text.h"

namespace baton::bind {

ArgumentPlace ArgumentPlace::field(std::size_t number) const {
  ArgumentPlace place = *this;
  place.fields.push_back(number);
  return place;
}

std::string ArgumentPlace::text() const {
  std::string text = fmt::format("argument {} of {}", argument, printable(kernel));
  for (const std::size_t number : fields) text = fmt::format("field {} of {}", number, text);
  return text;
}

}  // namespace baton::bind
