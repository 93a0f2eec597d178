#include "image/find_variable.h"

#include <optional>

#include "image/names/mangled_name.h"

namespace baton::image {

std::string source_name(const VariableFacts& variable) {
  const std::optional<MangledName> read = read_mangled(variable.name);
  return read ? read->text : variable.name;
}

std::string_view find_variable(const ImageFacts& facts, std::string_view name) {
  for (const VariableFacts& variable : facts.variables) {
    if (variable.name == name) return variable.name;
  }
  const VariableFacts* found = nullptr;
  for (const VariableFacts& variable : facts.variables) {
    if (source_name(variable) != name) continue;
    if (found != nullptr) return name;
    found = &variable;
  }
  return found == nullptr ? name : std::string_view(found->name);
}

}  // namespace baton::image
