#pragma once

// What the opaque members of the tree are: the names of a module, and a body that is yet to be
// parsed.

#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "ptx/ast.h"

namespace baton::ptx {

struct ParsedModule::Index {
  std::unordered_map<std::string_view, const Function*> functions;
  std::unordered_map<std::string_view, const Variable*> variables;
  std::unordered_map<std::string_view, std::string_view> aliases;  // .alias name, function
  std::unordered_map<std::uint32_t, std::string_view> files;

  // Both return the earlier definition where there are two, else null. A definition takes the
  // place of a declaration.
  const Function* add(const Function& function);
  const Variable* add(const Variable& variable);
};

struct Function::Lazy {
  std::once_flag once;
  Block block;
  std::optional<Error> error;  // why the body does not parse
};

}  // namespace baton::ptx
