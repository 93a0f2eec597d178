#include "pdl/order/signal_use.h"

#include <algorithm>
#include <string_view>

#include "pdl/order/shared_place.h"
#include "ptx/isa.h"

namespace baton::overlap {
namespace {

using ptx::Form;

// Rows of the table that work on an mbarrier, and make no arrival.
constexpr std::string_view kNoArrivals[] = {
    "mbarrier.init",        "mbarrier.inval", "mbarrier.expect_tx",
    "mbarrier.complete_tx", "tcgen05.alloc",  "clusterlaunchcontrol.try_cancel"};

}  // namespace

std::optional<MbarrierUse> mbarrier_use(const Operation& operation) {
  if (operation.instruction == nullptr) return std::nullopt;
  const ptx::Instruction& i = *operation.instruction;
  const Form* const form = ptx::form_of(i);
  if (form == nullptr) return std::nullopt;
  const bool tests = form->kind == Form::Kind::kMbarrierWait;
  const bool works = form->kind == Form::Kind::kMbarrier;
  if (!tests && (!works || std::ranges::find(kNoArrivals, form->name) != std::end(kNoArrivals))) {
    return std::nullopt;
  }
  MbarrierUse use;
  use.of_cluster = i.has("cluster");
  use.is_own = i.has("shared") || i.has("shared::cta");
  if (tests) {
    const bool acquires = i.has("parity") && !i.has("relaxed") && operation.defines.size() == 1 &&
                          operation.sources.size() >= 2;
    return acquires ? std::optional(use) : std::nullopt;
  }
  // What the system does when copies or products are complete may release nothing of the thread.
  const bool is_its_own = form->name == "mbarrier.arrive" || form->name == "mbarrier.arrive_drop";
  use.kind = is_its_own && !i.has("relaxed") ? MbarrierUse::Kind::kArrival
                                             : MbarrierUse::Kind::kWeakArrival;
  return use;
}

Value mbarrier_address(const Operation& operation, const Follower& follower) {
  const auto& operands = operation.instruction->operands;
  const auto place = std::ranges::find(operands, ptx::InstructionOperand::Kind::kAddress,
                                       &ptx::InstructionOperand::kind);
  if (place == operands.end() || operation.sources.empty()) return Value::varies();
  return moved(follower.of(operation.sources[0]), place->offset);
}

Value mbarrier_parity(const Operation& operation, const Follower& follower) {
  return operation.sources.size() < 2 ? Value::varies() : follower.of(operation.sources[1]);
}

std::optional<BarrierUse> barrier_use(const Operation& operation) {
  if (operation.instruction == nullptr) return std::nullopt;
  const ptx::Instruction& i = *operation.instruction;
  const Form* const form = ptx::form_of(i);
  if (form == nullptr || operation.sources.empty()) return std::nullopt;
  const bool arrives = form->kind == Form::Kind::kBlockArrival;
  if (!arrives && form->kind != Form::Kind::kBlockBarrier) return std::nullopt;
  BarrierUse use;
  use.waits = !arrives;
  use.is_aligned = i.opcode == "bar" || i.has("aligned");
  use.id = operation.sources[0];
  // bar.red has the predicate after them.
  const std::size_t others = i.has("red") ? 2 : 1;
  if (operation.sources.size() > others) use.count = operation.sources[1];
  return use;
}

}  // namespace baton::overlap
