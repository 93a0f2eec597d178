#include "pdl/order/late_work.h"

#include <algorithm>
#include <cstdint>

#include "pdl/code/code.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

// Whether it counts as work that a trigger need not wait for.
bool is_work(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kLoad:
    case Kind::kStore:
    case Kind::kAtomic:
      switch (operation.space) {
        case Operation::Space::kGeneric:
        case Operation::Space::kGlobal:
        case Operation::Space::kTensorMap:
          return true;
        case Operation::Space::kShared:
        case Operation::Space::kLocal:
        case Operation::Space::kParam:
        case Operation::Space::kConst:
          return false;
      }
      return true;
    case Kind::kWait:
    case Kind::kOpen:
      return true;
    case Kind::kCompute:
    case Kind::kPass:
    case Kind::kTrigger:
    case Kind::kBarrier:
    case Kind::kBranch:
    case Kind::kEnd:
    case Kind::kTrap:
    case Kind::kNothing:
      return false;
  }
  return true;
}

// Whether the operation fetches into a cache. Verdicts do not count that as an access.
bool is_prefetch(const Operation& operation) {
  const ptx::Instruction* const i = operation.instruction;
  return i != nullptr && (i->opcode == "prefetch" || i->has("prefetch"));
}

}  // namespace

bool triggers_at_its_end(const Footprint& footprint) {
  if (!footprint.triggers || footprint.code == nullptr) return false;
  const std::vector<Operation>& operations = footprint.code->operations;
  std::vector<bool> seen(operations.size());
  std::vector<std::uint32_t> open;
  const auto visit = [&](const Operation& operation) {
    for (const std::uint32_t next : operation.next) {
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  };
  for (const Operation& operation : operations) {
    if (operation.kind == Kind::kTrigger) visit(operation);
  }
  while (!open.empty()) {
    const Operation& operation = operations[open.back()];
    open.pop_back();
    if (is_work(operation)) return false;
    visit(operation);
  }
  return true;
}

std::vector<bool> params_read_late(const Footprint& footprint, std::size_t params) {
  std::vector<bool> late(params), other(params);
  if (footprint.unseen || footprint.code == nullptr) return late;
  if (std::ranges::any_of(footprint.code->operations, is_prefetch)) return late;
  for (const AccessGroup& access : footprint.accesses) {
    if (!access.reads) continue;
    const bool is_late = access.order == Order::kAfter;
    for (const Origin& origin : access.origins) {
      if (origin.is_unknown && !is_late) return std::vector<bool>(params);
      const bool is_gather = std::ranges::any_of(origin.sources, [](const AddressSource& source) {
        return source.kind == SourceKind::kLoaded;
      });
      for (const AddressSource& source : origin.sources) {
        const bool is_param =
            source.kind == SourceKind::kParam || source.kind == SourceKind::kParamWord;
        if (!is_param || source.id >= params) continue;
        (is_late && !is_gather ? late : other)[source.id] = true;
      }
    }
  }
  for (std::size_t i = 0; i < params; ++i) late[i] = late[i] && !other[i];
  return late;
}

}  // namespace baton::overlap
