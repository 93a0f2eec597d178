#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "image/ptx/ptx_reach.h"
#include "ptx/ast.h"

namespace baton::trace {

inline bool is_wait(const ptx::Instruction& i) {
  return i.opcode == "griddepcontrol" && i.has("wait");
}
inline bool is_trigger(const ptx::Instruction& i) {
  return i.opcode == "griddepcontrol" && i.has("launch_dependents");
}
inline bool is_end(const ptx::Instruction& i) {
  return i.opcode == "exit" || i.opcode == "ret";
}

// What the functions of a module do that the records of a kernel would miss. Each is read once. The
// module must outlive it.
class CalledEvents {
 public:
  explicit CalledEvents(const ptx::ParsedModule& module) : reach_(module) {}

  // Why the records of the kernel would not be whole, or empty. Throws kInvalidInput for a body
  // that does not parse.
  std::string missed_by(const ptx::Function& kernel);

 private:
  std::string_view event_of(const ptx::Function& function);

  image::PtxReach reach_;
  std::unordered_map<const ptx::Function*, std::string_view> events_;
};

// What operands and initialisers of the module name: a kernel among it may be launched by others,
// which pass no records. Entries that are declared twice are among it too. Throws kInvalidInput for
// a body that does not parse.
std::unordered_set<std::string_view> used_names(const ptx::ParsedModule& module);

}  // namespace baton::trace
