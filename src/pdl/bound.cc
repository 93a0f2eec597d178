#include "pdl/bound.h"

#include <algorithm>

#include "pdl/thread.h"

namespace baton::overlap {
namespace {

class FootprintBinder {
 public:
  FootprintBinder(std::span<const GivenArgument> arguments,
                  const std::function<MemoryId(const Root&)>& variable, BoundLaunch& out)
      : arguments_(arguments), variable_(variable), out_(out) {}

  void bind(const AccessGroup& access) {
    first_ = out_.accesses.size();
    std::optional<UnknownAddress> unknown;
    is_null_ = false;
    for (const Root& root : access.roots) {
      if (const auto why = bind(access, root)) unknown = why;
    }
    // Scalars count as indexes where something else is the address.
    if (!unknown && out_.accesses.size() == first_ && !is_null_) {
      unknown = UnknownAddress::kNoBuffer;
    }
    if (unknown) add(access, std::nullopt, 0, *unknown);
    const std::span<BoundAccess> bound = std::span(out_.accesses).subspan(first_);
    for (BoundAccess& each : bound) each.is_one_of = bound.size() > 1;
  }

 private:
  void add(const AccessGroup& access, std::optional<MemoryId> memory, std::uint64_t offset,
           UnknownAddress why = UnknownAddress::kNoOrigin) {
    const auto bound = std::span(out_.accesses).subspan(first_);
    const bool is_there = std::ranges::any_of(bound, [&](const BoundAccess& other) {
      return other.memory == memory && other.offset == offset;
    });
    if (!is_there) out_.accesses.push_back({&access, access.order, memory, offset, why});
  }

  // Why the root may be anything, or nothing.
  std::optional<UnknownAddress> bind(const AccessGroup& access, const Root& root) {
    if (root.kind == Root::Kind::kVariable) {
      add(access, variable_(root), 0);
      return std::nullopt;
    }
    if (root.kind == Root::Kind::kUnknown) return root.why;
    if (root.param >= arguments_.size()) return UnknownAddress::kNoParameter;
    const GivenArgument& given = arguments_[root.param];
    // What a tensor map touches is its buffer's, and its bits are no address.
    const auto wanted =
        root.by_value ? GivenArgument::Kind::kTensorMap : GivenArgument::Kind::kMemory;
    const bool is_its_own = !root.by_value || !root.with_loaded;
    if (given.kind == wanted && root.offset == 0 && is_its_own) {
      add(access, given.memory, given.offset);
      return std::nullopt;
    }
    if (given.kind == GivenArgument::Kind::kBytes ||
        given.kind == GivenArgument::Kind::kTensorMap || root.by_value) {
      return UnknownAddress::kStruct;
    }
    if (root.with_loaded) return UnknownAddress::kLoaded;
    // No buffer was given: whoever looks at it first does not come here.
    is_null_ = is_null_ || (given.bits == 0 && !root.with_param);
    if (root.with_param && !another_is_memory(access)) {
      return UnknownAddress::kNoBuffer;
    }
    return std::nullopt;
  }

  bool another_is_memory(const AccessGroup& access) const {
    for (const Root& root : access.roots) {
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
  std::size_t first_ = 0;  // of the access that is bound now
  bool is_null_ = false;   // the address may be that of no buffer
};

using Extents = std::array<std::uint32_t, 3>;

constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 22;  // operations followed for one launch
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMaxWarps = 32;

// A thread of a launch.
struct ThreadPosition {
  Extents tid{}, block{};
};

Extents index_of(std::uint64_t number, const Extents& extents) {
  const std::uint64_t x = std::max(extents[0], 1u), y = std::max(extents[1], 1u);
  return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
          static_cast<std::uint32_t>(number / x / y)};
}
std::uint64_t count_of(const Extents& extents) {
  return std::uint64_t{std::max(extents[0], 1u)} * std::max(extents[1], 1u) *
         std::max(extents[2], 1u);
}

// Those that are most likely to go ways of their own: the first and the last ones, and one of each
// warp.
std::vector<ThreadPosition> positions(const Extents& block, const Extents& grid) {
  const std::uint64_t threads = count_of(block), blocks = count_of(grid);
  std::vector<ThreadPosition> result;
  for (const std::uint64_t b : {std::uint64_t{0}, blocks - 1}) {
    for (const std::uint64_t t : {std::uint64_t{0}, threads - 1}) {
      result.push_back({index_of(t, block), index_of(b, grid)});
    }
  }
  for (std::uint64_t t = 1; t < std::min<std::uint64_t>(threads, 3); ++t) {
    result.push_back({index_of(t, block), {}});
  }
  for (std::uint64_t warp = 1; warp < kMaxWarps && warp * kWarp < threads; ++warp) {
    result.push_back({index_of(warp * kWarp, block), {}});
  }
  return result;
}

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
  FootprintBinder binder(arguments, variable, out);
  for (const AccessGroup& access : footprint.accesses) binder.bind(access);
  std::vector<std::optional<std::uint64_t>> scalars;
  if (footprint.waits == Footprint::Waits::kSometimes) scalars = scalars_of(arguments);
  out.waits = footprint.waits_for_certain(block, grid, scalars);
  return out;
}

void refine(BoundLaunch& launch, std::span<const GivenArgument> arguments,
            const std::array<std::uint32_t, 3>& block, const std::array<std::uint32_t, 3>& grid) {
  const Footprint& footprint = *launch.footprint;
  if (footprint.code == nullptr || footprint.waits == Footprint::Waits::kNever) return;
  const Code& code = *footprint.code;
  const auto scalars = scalars_of(arguments);
  KnownThread thread;
  thread.tid.reset();
  thread.block = block;
  thread.grid = grid;
  thread.params = scalars;
  std::vector<bool> waits(code.operations.size());
  for (std::size_t at = 0; at < waits.size(); ++at) {
    waits[at] = code.operations[at].kind == Operation::Kind::kWait;
  }
  const auto any_of = [](const BoundAccess& access, const std::vector<bool>& operations) {
    return std::any_of(access.group->operations.begin(), access.group->operations.end(),
                       [&](std::uint32_t operation) { return operations[operation]; });
  };
  const std::vector<bool> unwaited = find_reachable_unordered(code, thread, waits);
  std::vector<BoundAccess*> early;  // that look like a witness
  for (BoundAccess& access : launch.accesses) {
    if (!any_of(access, unwaited)) access.order = Order::kAfter;
    if (access.order == Order::kBefore) early.push_back(&access);
  }
  std::uint64_t work = 0;
  for (const ThreadPosition& position : positions(block, grid)) {
    if (early.empty() || (work += code.operations.size()) > kMaxWork) break;
    thread.tid = position.tid;
    thread.index = position.block;
    const std::vector<bool> sure = find_certainly_unordered(code, thread, footprint.ordering_ops);
    std::erase_if(early, [&](const BoundAccess* access) { return any_of(*access, sure); });
  }
  for (BoundAccess* access : early) access->order = Order::kUnclear;
}

bool is_certain(const BoundLaunch& launch, const BoundAccess& access,
                std::span<const GivenArgument> arguments, const std::array<std::uint32_t, 3>& block,
                const std::array<std::uint32_t, 3>& grid) {
  if (launch.footprint->code == nullptr) return false;
  const Code& code = *launch.footprint->code;
  const auto scalars = scalars_of(arguments);
  KnownThread thread;
  thread.block = block;
  thread.grid = grid;
  thread.params = scalars;
  std::vector<bool> accesses(code.operations.size());
  for (const std::uint32_t operation : access.group->operations) accesses[operation] = true;
  std::uint64_t work = 0;
  for (const ThreadPosition& position : positions(block, grid)) {
    if ((work += code.operations.size()) > kMaxWork) return false;
    thread.tid = position.tid;
    thread.index = position.block;
    // The thread makes the access if it can neither end nor leave the known code without it.
    const std::vector<bool> without = find_reachable_unordered(code, thread, accesses);
    bool escapes = false, comes_there = false;
    for (std::size_t at = 0; at < without.size(); ++at) {
      if (!without[at]) continue;
      const Operation::Kind kind = code.operations[at].kind;
      escapes = escapes || kind == Operation::Kind::kEnd || kind == Operation::Kind::kOpen;
      comes_there = comes_there || accesses[at];
    }
    if (comes_there && !escapes) return true;
  }
  return false;
}

}  // namespace baton::overlap
