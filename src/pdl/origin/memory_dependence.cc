#include "pdl/origin/memory_dependence.h"

#include <algorithm>
#include <vector>

#include "pdl/order/signal_use.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;

// Follows what was read from memory through the registers, forwards.
class ContentsFollower {
 public:
  explicit ContentsFollower(const Code& code) : code_(code), read_(code.values()) {}

  bool run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Operation& operation : code_.operations) {
        if (decides(operation)) return true;
        changed |= follow(operation);
      }
    }
    return false;
  }

 private:
  bool is_read(const ValueSource& source) const {
    if (source.kind == ValueSource::Kind::kAnything) return true;
    return source.kind == ValueSource::Kind::kRegister && read_[source.id];
  }
  bool any_source(const Operation& operation) const {
    return std::ranges::any_of(operation.sources,
                               [this](const ValueSource& source) { return is_read(source); });
  }

  bool decides(const Operation& operation) const {
    if (operation.kind == Kind::kOpen) return true;
    if (operation.guard != kNone && read_[operation.guard]) return true;
    if (is_read(operation.address)) return true;
    if (!any_source(operation)) return false;
    if (operation.kind == Kind::kStore || operation.kind == Kind::kAtomic) return false;
    // What gives no value and takes one: branches, barriers, asynchronous copies.
    return operation.defines.empty() || mbarrier_use(operation) || barrier_use(operation);
  }

  // Whether more values are known to come from memory.
  bool follow(const Operation& operation) {
    const bool stores = operation.kind == Kind::kStore || operation.kind == Kind::kAtomic;
    const bool may_be_local =
        operation.space == Space::kLocal || operation.space == Space::kGeneric;
    bool changed = false;
    if (stores && may_be_local && !local_ && any_source(operation)) changed = local_ = true;
    const bool loads = operation.kind == Kind::kAtomic ||
                       (operation.kind == Kind::kLoad && operation.space != Space::kParam &&
                        (operation.space != Space::kLocal || local_));
    const bool kept =
        std::ranges::any_of(operation.kept, [this](std::uint32_t id) { return read_[id]; });
    if (!loads && !kept && !any_source(operation)) return changed;
    for (const std::uint32_t id : operation.defines) {
      changed |= !read_[id];
      read_[id] = true;
    }
    return changed;
  }

  const Code& code_;
  std::vector<bool> read_;  // by value
  bool local_ = false;      // local memory holds such a value
};

}  // namespace

bool depends_on_contents(const Code& code) {
  return ContentsFollower(code).run();
}

}  // namespace baton::overlap
