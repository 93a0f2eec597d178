#include "pdl/bound.h"

namespace baton::pdl {
namespace {

class Binder {
 public:
  Binder(std::span<const GivenArgument> arguments,
         const std::function<MemoryId(const std::string&)>& variable, BoundLaunch& out)
      : arguments_(arguments), variable_(variable), out_(out) {}

  void bind(const Touch& touch) {
    const std::size_t first = out_.touches.size();
    const char* reason = nullptr;
    for (const Root& root : touch.roots) {
      if (const char* why = bind(touch, root)) reason = why;
    }
    // Scalars count as indexes where something else is the address.
    if (reason == nullptr && out_.touches.size() == first) {
      reason = "its address comes from no buffer";
    }
    if (reason != nullptr) out_.touches.push_back({&touch, std::nullopt, 0, reason});
  }

 private:
  // Why the root may be anything, or null.
  const char* bind(const Touch& touch, const Root& root) {
    if (root.kind == Root::Kind::kVariable) {
      out_.touches.push_back({&touch, variable_(root.variable), 0, ""});
      return nullptr;
    }
    if (root.kind == Root::Kind::kUnknown) return root.reason.c_str();
    if (root.param >= arguments_.size()) return "its address comes from no parameter";
    const GivenArgument& given = arguments_[root.param];
    if (given.kind == GivenArgument::Kind::kMemory && root.offset == 0 && !root.by_value) {
      out_.touches.push_back({&touch, given.memory, given.offset, ""});
      return nullptr;
    }
    if (given.kind == GivenArgument::Kind::kBytes || root.by_value) {
      return "its address stands in a struct that is passed by value";
    }
    if (root.with_loaded) return "its address is loaded from memory";
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
  const std::function<MemoryId(const std::string&)>& variable_;
  BoundLaunch& out_;
};

}  // namespace

BoundLaunch bind(const Footprint& footprint, std::span<const GivenArgument> arguments,
                 const std::array<std::uint32_t, 3>& block,
                 const std::array<std::uint32_t, 3>& grid,
                 const std::function<MemoryId(const std::string& name)>& variable) {
  BoundLaunch out;
  out.footprint = &footprint;
  Binder binder(arguments, variable, out);
  for (const Touch& touch : footprint.touches) binder.bind(touch);
  std::vector<std::optional<std::uint64_t>> scalars;
  if (footprint.waits == Footprint::Waits::kSometimes) {
    for (const GivenArgument& given : arguments) scalars.push_back(given.bits);
  }
  out.waits = footprint.waits_for_certain(block, grid, scalars);
  return out;
}

}  // namespace baton::pdl
