#include "pdl/footprint/footprint.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "pdl/code/code.h"
#include "pdl/code/instruction.h"
#include "pdl/code/runtime_calls.h"
#include "pdl/origin/origin_analysis.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;

class Builder {
 public:
  Builder(const Code& code, Footprint& out)
      : code_(code), out_(out), origins_(find_origins(code)) {}

  void build(const std::array<std::uint32_t, 3>& block) {
    WaitOrdering order = find_order(code_, block);
    for (std::size_t at = 0; at < code_.operations.size(); ++at) {
      if (!order.reachable[at]) continue;
      const Operation& operation = code_.operations[at];
      if (operation.kind == Kind::kOpen && !out_.unseen) {
        out_.unseen = {operation.open.value_or(UnseenCause::kCall), code_.place(operation)};
      }
      if (!out_.unseen && prints_text(operation) &&
          !prints_numbers(code_, origins_.pool, origins_.addresses[at])) {
        out_.unseen = {UnseenCause::kForeignCall, code_.place(operation)};
      }
      if (is_access(operation))
        touch(static_cast<std::uint32_t>(at), origins_.addresses[at], order.of[at]);
    }
    out_.triggers = order.triggers;
    out_.triggers_before_wait = order.triggers_before_wait;
    out_.always_triggers_early = order.always_triggers_early;
    out_.waits = order.every_thread_waits && order.waits ? Footprint::Waits::kAll
                 : order.a_thread_waits && order.waits   ? Footprint::Waits::kOne
                 : order.waits                           ? Footprint::Waits::kSometimes
                 : !out_.unseen                          ? Footprint::Waits::kNever
                                                         : Footprint::Waits::kUnknown;
    out_.ordering_ops = std::move(order.ordering_ops);
    out_.behind_barrier = std::move(order.behind_barrier);
    out_.conditions = listed(origins_.conditions);
    out_.stored = listed(origins_.stored);
    out_.aligned = listed(origins_.aligned);
    out_.compared.assign(origins_.compared.begin(), origins_.compared.end());
    out_.left = listed(origins_.left);
    out_.left_in_block = listed(origins_.left_in_block);
    for (auto& [key, found] : accesses_) out_.accesses.push_back(std::move(found));
  }

 private:
  void touch(std::uint32_t number, const OriginSet& set, Order order) {
    const Operation& operation = code_.operations[number];
    if (operation.space == Space::kShared || operation.space == Space::kLocal ||
        operation.space == Space::kParam) {
      return;
    }
    AccessGroup found;
    found.generic = operation.space == Space::kGeneric;
    found.by_map = operation.space == Space::kTensorMap;
    found.origins = listed(set);
    if (found.by_map && adds_offset(operation)) {
      for (Origin& origin : found.origins) origin.is_exact = false;
    }
    // An address that decides a condition has gone into every value, and so into this one. So may
    // one that is compared with numbers.
    const bool of_the_block = found.generic && origins_.conditions.empty() &&
                              origins_.compared.empty() && !found.origins.empty() &&
                              std::ranges::all_of(found.origins, is_of_the_block);
    if (of_the_block) return;
    found.reads = operation.kind != Kind::kStore;
    found.writes = operation.kind != Kind::kLoad;
    found.order = order;
    // Constant memory is read through a cache that no wait empties.
    found.constant =
        operation.space == Space::kConst || std::ranges::any_of(found.origins, has_constant_memory);
    found.non_coherent = operation.non_coherent || found.constant;
    found.strong = operation.strong;
    found.prefetches = operation.prefetches;
    auto key = std::tuple(found.origins, found.generic, found.by_map, found.reads, found.writes,
                          found.non_coherent, found.strong, found.prefetches, order);
    const auto [entry, is_new] = accesses_.try_emplace(std::move(key), std::move(found));
    if (is_new) entry->second.where = code_.place(operation);
    entry->second.operations.push_back(number);
  }

  std::vector<Origin> listed(const OriginSet& set) const {
    std::vector<Origin> list;
    for (const OriginId id : set) list.push_back(origins_.pool[id]);
    std::ranges::sort(list);
    return list;
  }

  // Whether the instruction adds a number to the address.
  static bool adds_offset(const Operation& operation) {
    const ptx::Instruction& instruction = *operation.instruction;
    const int address = shape_of(instruction, ptx::form_of(instruction)).address;
    return address >= 0 && instruction.operands[static_cast<std::size_t>(address)].offset != 0;
  }
  // Whether it is an address in shared or local memory, or in that of the parameters.
  static bool is_of_the_block(const Origin& origin) {
    return !origin.is_unknown && origin.sources.size() == 1 &&
           (origin.sources[0].kind == AddressSource::Kind::kShared ||
            origin.sources[0].kind == AddressSource::Kind::kLocal ||
            origin.sources[0].kind == AddressSource::Kind::kParamSpace);
  }
  static bool has_constant_memory(const Origin& origin) {
    return std::ranges::any_of(origin.sources, [](const AddressSource& source) {
      return source.kind == AddressSource::Kind::kConst;
    });
  }

  const Code& code_;
  Footprint& out_;
  const KernelOrigins origins_;
  using Key = std::tuple<std::vector<Origin>, bool, bool, bool, bool, bool, bool, bool, Order>;
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

bool Footprint::waits_for_certain(const KnownThread& any) const {
  if (waits == Waits::kAll || waits == Waits::kOne) return true;
  if (waits != Waits::kSometimes || code == nullptr) return false;
  KnownThread thread = any;
  thread.tid = thread.index = {{0, 0, 0}};
  if (follow_thread(*code, thread).always_executes) return true;
  thread.tid.reset();
  thread.warp = 0;
  thread.leads = true;
  return follow_thread(*code, thread).always_executes;
}

}  // namespace baton::overlap
