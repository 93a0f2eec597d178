#pragma once

#include <span>
#include <string_view>

namespace baton {

// One launch attribute by the name that program files use.
struct AttributeName {
  std::string_view name;
  bool supported;  // else refused by name, so that none is ever dropped
  bool boolean;    // `false` equals leaving it out, and is taken even where it is not supported
};

// Every attribute, with dynamic shared memory, which stands among them.
std::span<const AttributeName> launch_attributes();
const AttributeName* find_attribute(std::string_view name);

}  // namespace baton
