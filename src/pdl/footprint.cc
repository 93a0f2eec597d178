#include "pdl/footprint.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "pdl/code.h"
#include "pdl/origin.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;

bool is_access(const Operation& operation) {
  return operation.kind == Kind::kLoad || operation.kind == Kind::kStore ||
         operation.kind == Kind::kAtomic;
}

Root unknown(UnknownAddress why) {
  Root root;
  root.why = why;
  return root;
}

Root from_param(const AddressOrigin& origin) {
  Root root;
  root.kind = Root::Kind::kParam;
  root.param = origin.id;
  root.offset = origin.offset;
  root.with_loaded = origin.with_loaded;
  root.with_param = origin.with_param;
  return root;
}

class Builder {
 public:
  Builder(const Code& code, Footprint& out) : code_(code), out_(out) {}

  void build(const std::array<std::uint32_t, 3>& block) {
    WaitOrdering order = find_order(code_, block);
    const std::vector<Origins> origins = find_origins(code_);
    for (std::size_t at = 0; at < code_.operations.size(); ++at) {
      if (!order.reachable[at]) continue;
      const Operation& operation = code_.operations[at];
      if (operation.kind == Kind::kOpen && !out_.unseen) {
        out_.unseen = {operation.open.value_or(UnseenCause::kCall), code_.place(operation)};
      }
      if (is_access(operation)) touch(static_cast<std::uint32_t>(at), origins[at], order.of[at]);
    }
    out_.triggers = order.triggers;
    out_.triggers_before_wait = order.triggers_before_wait;
    out_.waits = order.every_thread_waits && order.waits ? Footprint::Waits::kAll
                 : order.a_thread_waits && order.waits   ? Footprint::Waits::kOne
                 : order.waits                           ? Footprint::Waits::kSometimes
                 : !out_.unseen                          ? Footprint::Waits::kNever
                                                         : Footprint::Waits::kUnknown;
    out_.ordering_ops = std::move(order.ordering_ops);
    for (auto& [key, found] : accesses_) out_.accesses.push_back(std::move(found));
  }

 private:
  void touch(std::uint32_t number, const Origins& origins, Order order) {
    const Operation& operation = code_.operations[number];
    if (operation.space == Space::kShared || operation.space == Space::kLocal) return;
    std::vector<Root> roots;
    if (operation.space == Space::kTensorMap) {
      roots = behind_map(origins);
    } else {
      if (operation.space == Space::kParam) return;
      roots = roots_of(origins);
      if (roots.empty() && operation.space != Space::kGeneric) {
        roots.push_back(unknown(UnknownAddress::kOtherSpace));
      }
    }
    if (roots.empty()) return;
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    AccessGroup found;
    found.reads = operation.kind != Kind::kStore;
    found.writes = operation.kind != Kind::kLoad;
    found.order = order;
    found.roots = std::move(roots);
    // Constant memory is read through a cache that no wait empties.
    found.non_coherent = operation.non_coherent || operation.space == Space::kConst ||
                         std::any_of(found.roots.begin(), found.roots.end(),
                                     [](const Root& r) { return r.constant; });
    found.strong = operation.strong;
    found.prefetches = operation.prefetches;
    auto key = std::tuple(found.roots, found.reads, found.writes, found.non_coherent, found.strong,
                          found.prefetches, order);
    const auto [entry, is_new] = accesses_.try_emplace(std::move(key), std::move(found));
    if (is_new) entry->second.where = code_.place(operation);
    entry->second.operations.push_back(number);
  }

  // Empty where the address lies in no global memory.
  std::vector<Root> roots_of(const Origins& origins) const {
    std::vector<Root> roots;
    if (origins.empty()) return {unknown(UnknownAddress::kNoOrigin)};
    for (const AddressOrigin& origin : origins) {
      switch (origin.kind) {
        case AddressOrigin::Kind::kParam:
          roots.push_back(from_param(origin));
          break;
        case AddressOrigin::Kind::kVariable:
        case AddressOrigin::Kind::kConst: {
          Root root;
          root.kind = Root::Kind::kVariable;
          root.variable = code_.variables[origin.id];
          root.constant = origin.kind == AddressOrigin::Kind::kConst;
          roots.push_back(std::move(root));
          break;
        }
        case AddressOrigin::Kind::kParams:
        case AddressOrigin::Kind::kShared:
        case AddressOrigin::Kind::kLocal:
          break;
        case AddressOrigin::Kind::kNull:
          if (origins.size() == 1) roots.push_back(unknown(UnknownAddress::kConstant));
          break;
        case AddressOrigin::Kind::kLoaded:
          roots.push_back(unknown(UnknownAddress::kLoaded));
          break;
        case AddressOrigin::Kind::kNumber:
          roots.push_back(unknown(UnknownAddress::kComputed));
          break;
        case AddressOrigin::Kind::kUnknown:
          roots.push_back(unknown(UnknownAddress::kManyOrigins));
          break;
      }
    }
    return roots;
  }

  // A tensor map is a parameter itself, or stands in memory where a parameter points, as handles of
  // textures do: what it is then nobody knows.
  static std::vector<Root> behind_map(const Origins& origins) {
    std::vector<Root> roots;
    for (const AddressOrigin& origin : origins) {
      if (origin.kind == AddressOrigin::Kind::kParams ||
          origin.kind == AddressOrigin::Kind::kParam) {
        Root root;
        root.kind = Root::Kind::kParam;
        root.param = origin.id;
        root.offset = origin.offset;
        root.by_value = true;
        root.with_loaded = origin.kind == AddressOrigin::Kind::kParam;
        roots.push_back(std::move(root));
      } else {
        roots.push_back(unknown(UnknownAddress::kMap));
      }
    }
    if (roots.empty()) roots.push_back(unknown(UnknownAddress::kMap));
    return roots;
  }

  const Code& code_;
  Footprint& out_;
  using Key = std::tuple<std::vector<Root>, bool, bool, bool, bool, bool, Order>;
  std::map<Key, AccessGroup> accesses_;
};

}  // namespace

Footprint read_footprint(const std::shared_ptr<const ptx::ParsedModule>& module,
                         const ptx::Function& kernel, const std::array<std::uint32_t, 3>& block) {
  Footprint out;
  out.kernel = kernel.name;
  if (module->address_size() != 64) {
    return unknown_footprint(out.kernel, std::nullopt, std::nullopt,
                             {UnseenCause::kShortAddresses});
  }
  try {
    const auto code = std::make_shared<const Code>(read_code(module, kernel));
    Builder(*code, out).build(block);
    out.code = code;
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kInvalidInput) throw;
    return unknown_footprint(out.kernel, std::nullopt, std::nullopt,
                             {UnseenCause::kUnreadable, failure.message()});
  }
  return out;
}

Footprint unknown_footprint(std::string kernel, std::optional<bool> waits,
                            std::optional<bool> triggers, Unseen unseen) {
  Footprint out;
  out.kernel = std::move(kernel);
  if (waits == false) out.waits = Footprint::Waits::kNever;
  out.triggers = triggers.value_or(true);
  out.triggers_before_wait = out.triggers;
  out.unseen = std::move(unseen);
  return out;
}

bool Footprint::waits_for_certain(const std::array<std::uint32_t, 3>& block,
                                  const std::array<std::uint32_t, 3>& grid,
                                  std::span<const std::optional<std::uint64_t>> params) const {
  if (waits == Waits::kAll || waits == Waits::kOne) return true;
  if (waits != Waits::kSometimes || code == nullptr) return false;
  KnownThread thread;
  thread.block = block;
  thread.grid = grid;
  thread.index = {{0, 0, 0}};
  thread.params = params;
  return follow_thread(*code, thread).always_waits;
}

}  // namespace baton::overlap
