#include "pdl/thread.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pdl/value.h"
#include "ptx/dataflow.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kMostBarriersCounted = 8;  // more are not counted

// How often a range may grow, as in a loop, before it is given up.
constexpr std::uint32_t kMaxGrowth = 4;

constexpr std::uint32_t kBegin[] = {0};

// Sparse propagation of constants and ranges: operations and branches count once they can be
// reached. What an operation reads has by then been written on the way there, or is unset, which
// may hold anything.
class Follower {
 public:
  using Solver = ptx::SparseSolver<Follower>;
  using Value = overlap::Value;

  Follower(const Code& code, const KnownThread& thread, Meeting meeting = Meeting::kBlock)
      : code_(code), thread_(thread), meeting_(meeting), values_(code.values()) {
    for (std::uint32_t id = 0; id < code.registers; ++id) {
      if (code.unset[id]) values_[id] = Value::varies();
    }
    give_up_parts();
    Solver solver(*this, code.order, code.users, values_);
    solver.reach(0);
    solver.run();
    reached_ = solver.reached();
  }

  void evaluate(std::uint32_t at, Solver& solver) const {
    const Operation& operation = code_.operations[at];
    define(operation, solver);
    if (operation.kind == Kind::kTrap && guard(operation) == Guard::kTrue) return;
    for (const std::uint32_t to : followers(operation)) solver.reach(to);
  }

  // Ranges grow to their hull, a few times.
  static bool widen(Value& old, const Value& value, std::uint32_t changes) {
    if (value.state == Value::State::kNothing || old.state == Value::State::kVaries) return false;
    if (!old.is_range() || !value.is_range()) {
      old = value;
      return true;
    }
    const Value hull = Value::range(std::min(old.bits, value.bits), std::max(old.most, value.most));
    if (hull.bits == old.bits && hull.most == old.most) return false;
    old = changes > kMaxGrowth ? Value::varies() : hull;
    return true;
  }

  ThreadFacts facts() const {
    BarriersBeforeWait barriers{*this};
    ptx::DataflowSolver<BarriersBeforeWait> solver(barriers, code_.order);
    solver.seed(0, 0);
    solver.run();
    ThreadFacts facts{.always_waits = true, .barriers_before_wait = 0};
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!solver.is_reached(at)) continue;
      if (code_.operations[at].kind == Kind::kEnd) facts.always_waits = false;
      facts.barriers_before_wait =
          std::max(facts.barriers_before_wait, barriers.after(at, solver.state(at)));
    }
    if (facts.barriers_before_wait >= kMostBarriersCounted) facts.barriers_before_wait = kNone;
    facts.meets_others = facts.always_waits && facts.barriers_before_wait != kNone &&
                         fewest_barriers() > facts.barriers_before_wait;
    return facts;
  }

  const std::vector<Value>& values() const { return values_; }

  std::vector<bool> reachable_unordered(const std::vector<bool>& stops) const {
    return flood(kBegin, [&](const Operation& operation, std::uint32_t at) {
      const bool ends = operation.kind == Kind::kTrap || stops[at];
      return !ends || guard(operation) != Guard::kTrue;
    });
  }

 private:
  std::uint32_t fewest_barriers() const {
    BarriersPassed barriers{*this};
    ptx::DataflowSolver<BarriersPassed> solver(barriers, code_.order);
    solver.seed(0, {0});
    solver.run();
    std::uint32_t fewest = kNone;
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (code_.operations[at].kind != Kind::kEnd || !solver.is_reached(at)) continue;
      fewest = std::min(fewest, solver.state(at).fewest);
    }
    return fewest;
  }

  enum class Guard : std::uint8_t { kTrue, kFalse, kEither };

  // The most barriers that a path without a wait comes to.
  struct BarriersBeforeWait {
    using State = std::uint32_t;
    const Follower& follower;

    static bool join(State& into, State from) {
      if (from <= into) return false;
      into = from;
      return true;
    }
    template <typename Emit>
    void flow(std::uint32_t at, State passed, const Emit& emit) const {
      if (follower.stops(at)) return;
      const State behind = after(at, passed);
      for (const std::uint32_t to : follower.followers(follower.code_.operations[at])) {
        emit(to, behind);
      }
    }
    State after(std::uint32_t at, State passed) const {
      if (follower.stops(at)) return passed;
      const Operation& operation = follower.code_.operations[at];
      const bool arrives = arrives_at(follower.meeting_, operation) || operation.disturbs;
      return std::min(passed + (arrives ? 1 : 0), kMostBarriersCounted);
    }
  };

  // The fewest barriers that any path passes.
  struct BarriersPassed {
    struct State {
      std::uint32_t fewest = kNone;
    };
    const Follower& follower;

    static bool join(State& into, State from) {
      if (from.fewest >= into.fewest) return false;
      into = from;
      return true;
    }
    template <typename Emit>
    void flow(std::uint32_t at, State passed, const Emit& emit) const {
      const Operation& operation = follower.code_.operations[at];
      const bool is_certain = follower.guard(operation) == Guard::kTrue;
      if (operation.kind == Kind::kTrap && is_certain) return;
      if (arrives_at(follower.meeting_, operation) && is_certain) {
        passed.fewest = std::min(passed.fewest + 1, kMostBarriersCounted);
      }
      for (const std::uint32_t to : follower.followers(operation)) emit(to, passed);
    }
  };

  // Whether no path without a wait goes on from there.
  bool stops(std::uint32_t at) const {
    const Operation& operation = code_.operations[at];
    return (operation.kind == Kind::kTrap || operation.kind == Kind::kWait) &&
           guard(operation) == Guard::kTrue;
  }

  // Returns, by operation, whether a path from `roots` over passed operations reaches it.
  template <typename Passes>
  std::vector<bool> flood(std::span<const std::uint32_t> roots, Passes passes) const {
    return ptx::reachable(code_.operations.size(), roots, [&](std::uint32_t at, const auto& go) {
      const Operation& operation = code_.operations[at];
      if (!passes(operation, at)) return;
      for (const std::uint32_t to : followers(operation)) go(to);
    });
  }

  // What calls pass in several parts, or take as other parts than they were given.
  void give_up_parts() {
    std::unordered_map<std::uint32_t, std::pair<std::int64_t, unsigned>> parts;  // by register
    for (const Operation& operation : code_.operations) {
      if (operation.kind != Kind::kPass) continue;
      const bool takes = operation.instruction->opcode == "ld";
      const std::uint32_t passed = takes ? operation.sources.back().id : operation.defines.back();
      const std::pair part(operation.instruction->operands[takes ? 1 : 0].offset,
                           unsigned{operation.width});
      const auto known = parts.try_emplace(passed, part).first;
      if (known->second != part) values_[passed] = Value::varies();
    }
  }

  Guard guard(const Operation& operation) const {
    if (operation.guard == kNone) return Guard::kTrue;
    const Value& value = values_[operation.guard];
    if (!value.is_constant()) return Guard::kEither;
    return ((value.bits & 1) != 0) != operation.guard_negated ? Guard::kTrue : Guard::kFalse;
  }

  // Where the thread may go on.
  std::span<const std::uint32_t> followers(const Operation& operation) const {
    const std::span<const std::uint32_t> next = operation.next;
    if (operation.guard == kNone || next.size() < 2) return next;
    switch (guard(operation)) {
      case Guard::kTrue:
        return next.subspan(1);
      case Guard::kFalse:
        return next.first(1);
      case Guard::kEither:
        return next;
    }
    return next;
  }

  void define(const Operation& operation, Solver& solver) const {
    if (operation.defines.empty()) return;
    const Guard passes = guard(operation);
    if (passes != Guard::kTrue) {
      for (std::size_t k = 0; k < operation.kept.size(); ++k) {
        solver.define(operation.defines[k], Value(values_[operation.kept[k]]));
      }
    }
    if (passes == Guard::kFalse) return;
    const Value value = operation.defines.size() == 1 || gives_first(operation) ? result(operation)
                                                                                : Value::varies();
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      solver.define(operation.defines[k], k == 0 ? value : Value::varies());
    }
  }

  Value of(const ValueSource& source) const {
    switch (source.kind) {
      case ValueSource::Kind::kRegister:
        return values_[source.id];
      case ValueSource::Kind::kConstant:
        return Value::constant(source.bits);
      case ValueSource::Kind::kSpecial:
        return special(static_cast<SpecialRegister>(source.id));
      default:
        return Value::varies();
    }
  }

  Value special(SpecialRegister name) const {
    const auto index = static_cast<std::size_t>(name);
    const auto known = [](const auto& extents, std::size_t k) {
      return extents ? Value::constant((*extents)[k]) : Value::varies();
    };
    // An index that may be any below the extent.
    const auto below = [](const auto& extents, std::size_t k) {
      return extents && (*extents)[k] != 0 ? Value::range(0, (*extents)[k] - 1) : Value::varies();
    };
    if (name <= SpecialRegister::kTidZ) {
      return thread_.tid ? known(thread_.tid, index) : below(thread_.block, index);
    }
    if (name <= SpecialRegister::kNtidZ) return known(thread_.block, index - 3);
    if (name <= SpecialRegister::kCtaidZ) {
      return thread_.index ? known(thread_.index, index - 6) : below(thread_.grid, index - 6);
    }
    if (name <= SpecialRegister::kNctaidZ) return known(thread_.grid, index - 9);
    if (name == SpecialRegister::kLaneId) return lane();
    return Value::varies();  // %warpid may change
  }

  Value lane() const {
    const auto& tid = thread_.tid;
    if (!tid || (*tid)[1] != 0 || (*tid)[2] != 0) return Value::range(0, 31);
    return Value::constant((*tid)[0] % 32);
  }

  // Of two destinations the first is what is computed.
  static bool gives_first(const Operation& operation) {
    return operation.instruction != nullptr &&
           (operation.instruction->opcode == "shfl" || operation.instruction->opcode == "setp");
  }

  Value result(const Operation& operation) const {
    if (operation.kind == Kind::kPass) return passed(operation);
    if (operation.kind == Kind::kLoad) return loaded(operation);
    if (operation.kind != Kind::kCompute || operation.instruction == nullptr) {
      return Value::varies();
    }
    std::vector<Value> from;
    for (const ValueSource& source : operation.sources) from.push_back(of(source));
    return result_of(operation, from, lane());
  }

  Value passed(const Operation& operation) const {
    if (operation.sources.size() != 1 || operation.width == 0) return Value::varies();
    const Value value = of(operation.sources[0]);
    if (!value.is_range()) return value;
    const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
    const std::uint64_t bits = loaded_bits(value.bits, operation.width, is_signed);
    if (value.is_constant()) return Value::constant(bits);
    // Of a range neither end may change, nor what lies between.
    const bool stays = bits == value.bits &&
                       loaded_bits(value.most, operation.width, is_signed) == value.most &&
                       static_cast<std::int64_t>(value.most) >= 0;
    return stays ? value : Value::varies();
  }

  Value loaded(const Operation& operation) const {
    const bool whole = operation.address.kind == ValueSource::Kind::kParam &&
                       operation.address.id < thread_.params.size() &&
                       operation.instruction->operands[1].offset == 0;
    if (!whole || !thread_.params[operation.address.id]) return Value::varies();
    const std::uint64_t bits = *thread_.params[operation.address.id];
    const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
    return Value::constant(loaded_bits(bits, operation.width, is_signed));
  }

  const Code& code_;
  const KnownThread& thread_;
  const Meeting meeting_;
  std::vector<Value> values_;  // by register
  std::vector<bool> reached_;  // by operation
};

}  // namespace

bool arrives_at(Meeting meeting, const Operation& operation) {
  if (meeting == Meeting::kBlock) return operation.kind == Kind::kBarrier;
  return operation.instruction != nullptr && operation.instruction->opcode == "barrier" &&
         operation.instruction->has("cluster") && operation.instruction->has("arrive");
}

bool passes(Meeting meeting, const Operation& operation) {
  if (meeting == Meeting::kBlock) return operation.kind == Kind::kBarrier;
  return operation.instruction != nullptr && operation.instruction->opcode == "barrier" &&
         operation.instruction->has("cluster") && operation.instruction->has("wait");
}

ThreadFacts follow_thread(const Code& code, const KnownThread& thread, Meeting meeting) {
  return Follower(code, thread, meeting).facts();
}

std::vector<Value> find_values(const Code& code, const KnownThread& thread) {
  return Follower(code, thread).values();
}

std::vector<bool> find_reachable_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops) {
  return Follower(code, thread).reachable_unordered(stops);
}

}  // namespace baton::overlap
