#include "bind/value_place.h"

#include <fmt/core.h>

#include "base/text/text.h"

namespace baton::bind {

ValuePlace ValuePlace::field(std::size_t number) const {
  ValuePlace place = *this;
  place.fields.push_back(number);
  return place;
}

std::string ValuePlace::text() const {
  std::string text = fmt::format("argument {} of {}", argument, printable(kernel));
  for (const std::size_t number : fields) text = fmt::format("field {} of {}", number, text);
  return text;
}

std::string ValuePlace::parameter_name() const {
  return naming == nullptr || !fields.empty() ? "" : (*naming)(kernel, argument);
}

}  // namespace baton::bind
