#include "pdl/early_work.h"

namespace baton::overlap {

bool may_be_early(const Code& code, std::uint32_t operation, const AccessGroup& access,
                  const EarlyWork& early) {
  if (access.writes || code.operations[operation].orders) return false;
  bool is_memory = false;
  for (const Root& root : access.roots) {
    if (root.kind == Root::Kind::kVariable && root.constant && early.constant_memory) {
      is_memory = true;
      continue;
    }
    if (root.kind != Root::Kind::kParam || root.param >= early.params.size()) return false;
    const EarlyArgument use = early.params[root.param];
    if (use == EarlyArgument::kAny || root.by_value || root.offset != 0) return false;
    // With a number for the parameter, the address is what was loaded: it may be anywhere.
    if (use == EarlyArgument::kScalar && root.with_loaded) return false;
    is_memory |= use == EarlyArgument::kConstantMemory;
  }
  return is_memory;
}

}  // namespace baton::overlap
