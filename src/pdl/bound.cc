#include "pdl/bound.h"

#include <algorithm>

#include "pdl/thread.h"

namespace baton::overlap {
namespace {

class Binder {
 public:
  Binder(std::span<const GivenArgument> arguments,
         const std::function<MemoryId(const Root&)>& variable, BoundLaunch& out)
      : arguments_(arguments), variable_(variable), out_(out) {}

  void bind(const Touch& touch) {
    const std::size_t first = out_.touches.size();
    const char* reason = nullptr;
    is_null_ = false;
    for (const Root& root : touch.roots) {
      if (const char* why = bind(touch, root)) reason = why;
    }
    // Scalars count as indexes where something else is the address.
    if (reason == nullptr && out_.touches.size() == first && !is_null_) {
      reason = "its address comes from no buffer";
    }
    if (reason != nullptr) add(touch, std::nullopt, 0, reason);
  }

 private:
  void add(const Touch& touch, std::optional<MemoryId> memory, std::uint64_t offset,
           const char* reason) {
    out_.touches.push_back({&touch, touch.order, memory, offset, reason});
  }

  // Why the root may be anything, or null.
  const char* bind(const Touch& touch, const Root& root) {
    if (root.kind == Root::Kind::kVariable) {
      add(touch, variable_(root), 0, "");
      return nullptr;
    }
    if (root.kind == Root::Kind::kUnknown) return root.reason.c_str();
    if (root.param >= arguments_.size()) return "its address comes from no parameter";
    const GivenArgument& given = arguments_[root.param];
    if (given.kind == GivenArgument::Kind::kMemory && root.offset == 0 && !root.by_value) {
      add(touch, given.memory, given.offset, "");
      return nullptr;
    }
    if (given.kind == GivenArgument::Kind::kBytes || root.by_value) {
      return "its address stands in a struct that is passed by value";
    }
    if (root.with_loaded) return "its address is loaded from memory";
    // No buffer was given: whoever looks at it first does not come here.
    is_null_ = is_null_ || (given.bits == 0 && !root.with_param);
    if (root.with_param && !another_is_memory(touch)) return "its address comes from no buffer";
    return nullptr;
  }

  bool another_is_memory(const Touch& touch) const {
    for (const Root& root : touch.roots) {
      if (root.kind == Root::Kind::kParam && root.with_param && root.param < arguments_.size() &&
          arguments_[root.param].kind == GivenArgument::Kind::kMemory) {
        return true;
      }
    }
    return false;
  }

  std::span<const GivenArgument> arguments_;
  const std::function<MemoryId(const Root&)>& variable_;
  BoundLaunch& out_;
  bool is_null_ = false;  // the address may be that of no buffer
};

std::vector<std::optional<std::uint64_t>> scalars_of(std::span<const GivenArgument> arguments) {
  std::vector<std::optional<std::uint64_t>> scalars;
  for (const GivenArgument& given : arguments) scalars.push_back(given.bits);
  return scalars;
}

}  // namespace

BoundLaunch bind(const Footprint& footprint, std::span<const GivenArgument> arguments,
                 const std::array<std::uint32_t, 3>& block,
                 const std::array<std::uint32_t, 3>& grid,
                 const std::function<MemoryId(const Root& root)>& variable) {
  BoundLaunch out;
  out.footprint = &footprint;
  Binder binder(arguments, variable, out);
  for (const Touch& touch : footprint.touches) binder.bind(touch);
  std::vector<std::optional<std::uint64_t>> scalars;
  if (footprint.waits == Footprint::Waits::kSometimes) scalars = scalars_of(arguments);
  out.waits = footprint.waits_for_certain(block, grid, scalars);
  return out;
}

void refine(BoundLaunch& launch, std::span<const GivenArgument> arguments,
            const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& grid) {
  const Footprint& footprint = *launch.footprint;
  if (footprint.code == nullptr || footprint.waits == Footprint::Waits::kNever) return;
  const auto scalars = scalars_of(arguments);
  KnownThread any;
  any.tid.reset();
  any.block = block;
  any.grid = grid;
  any.params = scalars;
  const std::vector<bool> unwaited = find_unwaited(*footprint.code, any);
  for (BoundTouch& touch : launch.touches) {
    const bool waited = std::none_of(touch.touch->operations.begin(), touch.touch->operations.end(),
                                     [&](std::uint32_t operation) { return unwaited[operation]; });
    if (waited) touch.order = Order::kAfter;
  }
}

}  // namespace baton::overlap
