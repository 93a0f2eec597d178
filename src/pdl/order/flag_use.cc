#include "pdl/order/flag_use.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "pdl/order/meetings.h"
#include "pdl/order/shared_place.h"
#include "pdl/order/signal_use.h"
#include "ptx/isa.h"
#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using Space = Operation::Space;
using ptx::Form;

constexpr std::uint64_t kMbarrierPart = 16;  // and what is written beside one

const Form* form_of(const Operation& operation) {
  return operation.instruction == nullptr ? nullptr : ptx::form_of(*operation.instruction);
}

bool may_be_shared(const Operation& operation) {
  return operation.space == Space::kShared || operation.space == Space::kGeneric;
}

bool is_strong(const ptx::Instruction& i) {
  return i.has("volatile") || i.has("relaxed") || i.has("acquire") || i.has("release");
}

// A copy names the space that it writes to first.
bool copies_out(const ptx::Instruction& i) {
  for (const std::string_view modifier : i.modifiers) {
    if (modifier == "global") return true;
    if (modifier.starts_with("shared")) return false;
  }
  return false;
}

}  // namespace

bool may_poll(const Operation& operation) {
  if (operation.instruction == nullptr) return false;
  const ptx::Instruction& i = *operation.instruction;
  const std::string_view type = i.modifiers.empty() ? std::string_view() : i.modifiers.back();
  const bool is_integer = type.starts_with('b') || type.starts_with('u') || type.starts_with('s');
  return i.opcode == "ld" && may_be_shared(operation) && is_integer && operation.width <= 64 &&
         operation.defines.size() == 1 && is_strong(i);
}

bool acquires(const Operation& operation) {
  return operation.instruction->has("acquire");
}

std::optional<SharedWrite> shared_write(const Operation& operation) {
  const Form* const form = form_of(operation);
  if (form == nullptr) return std::nullopt;
  const ptx::Instruction& i = *operation.instruction;
  SharedWrite write;
  if (form->kind == Form::Kind::kMbarrier) {
    write.kind = SharedWrite::Kind::kMbarrier;
    write.bytes = kMbarrierPart;
    return write;
  }
  switch (form->access) {
    case Form::Access::kNone:
    case Form::Access::kRead:
    case Form::Access::kPrefetch:
      return std::nullopt;
    case Form::Access::kCopy:
    case Form::Access::kReduce:
      return copies_out(i) ? std::nullopt : std::optional(write);
    case Form::Access::kWrite:
    case Form::Access::kUpdate:
      break;
  }
  if (!may_be_shared(operation)) return std::nullopt;
  const bool updates = i.opcode == "atom" || i.opcode == "red";
  if ((i.opcode != "st" && !updates) || i.has("async")) return write;
  write.kind = updates ? SharedWrite::Kind::kUpdate : SharedWrite::Kind::kStore;
  write.bytes = operation.width / 8 * operation.sources.size();
  write.is_strong = updates || is_strong(i);
  write.releases = i.has("release") || i.has("acq_rel");
  return write;
}

Value shared_place_of(const Operation& operation, const Follower& follower) {
  if (operation.kind != Kind::kLoad && operation.kind != Kind::kStore &&
      operation.kind != Kind::kAtomic) {
    return mbarrier_address(operation, follower);
  }
  const auto& operands = operation.instruction->operands;
  const auto place = std::ranges::find(operands, ptx::InstructionOperand::Kind::kAddress,
                                       &ptx::InstructionOperand::kind);
  if (place == operands.end()) return Value::varies();
  return moved(follower.of(operation.address), place->offset);
}

bool is_block_fence(const Operation& operation) {
  const Form* const form = form_of(operation);
  if (form == nullptr || form->kind != Form::Kind::kFence || !is_certain(operation)) return false;
  const ptx::Instruction& i = *operation.instruction;
  if (i.opcode == "membar") return !i.has("proxy");
  return (i.has("sc") || i.has("acq_rel")) && !i.has("proxy") && !i.has("sync_restrict");
}

std::vector<bool> find_unfenced(const Code& code) {
  std::vector<std::uint32_t> roots;
  for (const Operation& operation : code.operations) {
    const bool is_ordered = operation.kind == Kind::kWait || operation.kind == Kind::kBarrier ||
                            operation.kind == Kind::kOpen || operation.orders;
    if (!is_ordered || is_block_fence(operation)) continue;
    roots.insert(roots.end(), operation.next.begin(), operation.next.end());
  }
  return ptx::reachable(code.operations.size(), roots, [&](std::uint32_t at, const auto& go) {
    if (is_block_fence(code.operations[at])) return;
    for (const std::uint32_t to : code.operations[at].next) go(to);
  });
}

bool is_fenced_behind(const Code& code, std::uint32_t poll) {
  const std::vector<bool> before_fence =
      ptx::reachable(code.operations.size(), std::span(code.operations[poll].next),
                     [&](std::uint32_t at, const auto& go) {
                       if (is_block_fence(code.operations[at]) || at == poll) return;
                       for (const std::uint32_t to : code.operations[at].next) go(to);
                     });
  for (std::uint32_t at = 0; at < before_fence.size(); ++at) {
    const Operation& operation = code.operations[at];
    if (!before_fence[at] || at == poll || is_block_fence(operation)) continue;
    const Form* const form = form_of(operation);
    const bool stays_inside =
        operation.kind == Kind::kBranch || operation.kind == Kind::kEnd ||
        operation.kind == Kind::kPass || operation.kind == Kind::kTrap ||
        (form != nullptr && (form->kind == Form::Kind::kPure || form->kind == Form::Kind::kCarry ||
                             form->kind == Form::Kind::kHint));
    if (!stays_inside) return false;
  }
  return true;
}

}  // namespace baton::overlap
