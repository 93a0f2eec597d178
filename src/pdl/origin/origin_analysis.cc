#include "pdl/origin/origin_analysis.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "pdl/code/instruction.h"
#include "pdl/origin/origin_computation.h"
#include "pdl/origin/origin_facts.h"
#include "pdl/origin/origin_memory.h"
#include "pdl/origin/origin_values.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

// The origins of all registers and of local memory: a sparse analysis that takes every operation as
// reached.
class OriginAnalysis {
 public:
  using Value = OriginSet;
  using Solver = ptx::SparseSolver<OriginAnalysis>;

  OriginAnalysis(const Code& code, bool places_are_told, KernelOrigins& out)
      : code_(code),
        pool_(out.pool),
        values_(code, out.pool),
        memory_(code, values_, places_are_told,
                [this](std::uint32_t id, const OriginSet& value) { define(id, value); }) {
    find_parts();
    Solver solver(*this, code.order, code.users, values_.all());
    for (std::uint32_t at = 0; at < code.operations.size(); ++at) solver.reach(at);
    solver.run();
    out.evaluations = solver.evaluations();
    collect_facts(code, values_, out);
  }

  bool join(OriginSet& into, const OriginSet& from) { return pool_.join(into, from); }

  void evaluate(std::uint32_t at, Solver& solver) {
    solver_ = &solver;
    const Operation& operation = code_.operations[at];
    for (std::size_t k = 0; k < operation.kept.size(); ++k) {
      define(operation.defines[k], OriginSet(values_[operation.kept[k]]));
    }
    switch (operation.kind) {
      case Kind::kPass:
        return pass(operation);
      case Kind::kLoad:
        return memory_.load(operation);
      case Kind::kStore:
        return memory_.store(operation);
      case Kind::kAtomic:
        return memory_.update(operation);
      case Kind::kOpen:
        return define_all(operation, {OriginPool::kUnknown});
      case Kind::kCompute:
        return compute(operation);
      case Kind::kWait:
      case Kind::kTrigger:
      case Kind::kBarrier:
      case Kind::kBranch:
      case Kind::kEnd:
      case Kind::kTrap:
      case Kind::kNothing:
        // Barriers that reduce give a number of threads, or whether a predicate holds.
        return define_all(operation, exchanged(operation, values_.mixed_over_lanes(operation)));
    }
  }

 private:
  // A parameter of a call is one register. Elements of different sizes may be written to it and
  // read.
  void find_parts() {
    std::unordered_map<std::uint32_t, unsigned> widths;
    for (const Operation& operation : code_.operations) {
      if (operation.kind != Kind::kPass) continue;
      const std::uint32_t passed = passed_of(operation);
      const auto known = widths.try_emplace(passed, operation.width).first;
      if (known->second != operation.width) in_parts_.insert(passed);
    }
  }
  static bool takes(const Operation& operation) { return operation.instruction->opcode == "ld"; }
  static std::uint32_t passed_of(const Operation& operation) {
    return takes(operation) ? operation.sources.back().id : operation.defines.back();
  }

  void define(std::uint32_t id, const OriginSet& value) { solver_->define(id, value); }
  void define_all(const Operation& operation, const OriginSet& value) {
    for (const std::uint32_t id : operation.defines) define(id, value);
  }

  void pass(const Operation& operation) {
    for (const ValueSource& source : operation.sources) {
      OriginSet value = values_.read(operation, source);
      if (takes(operation) && in_parts_.contains(passed_of(operation)) && !value.empty()) {
        pool_.join(value, pool_.widen(pool_.collapse(value)));
      }
      define_all(operation, value);
    }
  }

  void compute(const Operation& operation) {
    if (operation.defines.empty() || operation.instruction == nullptr) return;
    const ptx::Instruction& i = *operation.instruction;
    if (i.opcode == "call") return define_all(operation, {OriginPool::kUnknown});
    if (unpacks_halves(operation)) return unpack(operation);
    const ptx::Form* const form = ptx::form_of(i);
    OriginSet result =
        exchanged(operation, computed_origins(values_, operation, value_effect(i, form)));
    if (!is_computation(form)) pool_.join(result, values_.loaded(operation));
    if (reads_carry(i)) result = with_carry(result);
    if (writes_carry(i)) define(code_.carry(), values_.mix(result, {OriginPool::kNumber}));
    define_all(operation, result);
  }

  void unpack(const Operation& operation) {
    const OriginSet value = values_.of(operation.sources[0]);
    define(operation.defines[0], values_.each(value, [&](OriginId id) { return pool_.low(id); }));
    define(operation.defines[1], values_.each(value, [&](OriginId id) { return pool_.high(id); }));
  }

  // `own`: what the threads at this operation give. Others may be at another one.
  OriginSet exchanged(const Operation& operation, const OriginSet& own) {
    if (operation.exchange == Exchange::kNone || operation.defines.empty()) return own;
    const std::uint32_t cell = code_.exchanged(operation.exchange);
    define(cell, own);
    return values_.either(own, values_[cell]);
  }

  // The carry tells how two values compare: part of what they are.
  OriginSet with_carry(const OriginSet& sum) {
    return values_.add(sum, values_.mix(values_[code_.carry()], {OriginPool::kNumber}));
  }

  const Code& code_;
  OriginPool& pool_;
  OriginValues values_;
  OriginMemory memory_;
  std::unordered_set<std::uint32_t> in_parts_;  // of what calls pass
  Solver* solver_ = nullptr;                    // that evaluates
};

// Whether numbers, or what is loaded, may tell an address in local memory, or in that of
// parameters.
bool tells_places(const KernelOrigins& origins) {
  const auto tells = [&](OriginId id) {
    return std::ranges::any_of(origins.pool[id].sources, is_place_of_thread);
  };
  return origins.leaves_places || std::ranges::any_of(origins.conditions, tells) ||
         std::ranges::any_of(origins.stored, tells) ||
         std::ranges::any_of(origins.compared, [](const auto& pair) {
           return is_place_of_thread(pair.first) || is_place_of_thread(pair.second);
         });
}

}  // namespace

KernelOrigins find_origins(const Code& code) {
  KernelOrigins result;
  OriginAnalysis(code, false, result);
  if (!tells_places(result)) return result;
  KernelOrigins with_told;
  OriginAnalysis(code, true, with_told);
  return with_told;
}

}  // namespace baton::overlap
