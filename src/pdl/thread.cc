#include "pdl/thread.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pdl/value.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kManyBarriers = 8;  // more are not counted

// How often a range may grow, as in a loop, before it is given up.
constexpr std::uint8_t kMaxGrowth = 4;

// Sparse propagation of constants and ranges: operations and branches count once they can be
// reached. What an operation reads has by then been written on the way there, or is unset, which
// may hold anything.
class Follower {
 public:
  Follower(const Code& code, const KnownThread& thread)
      : code_(code),
        thread_(thread),
        values_(code.registers),
        growth_(code.registers),
        users_(code.registers),
        reached_(code.operations.size()) {
    for (std::uint32_t id = 0; id < code.registers; ++id) {
      if (code.unset[id]) values_[id] = Value::varies();
    }
    give_up_parts();
    for (std::uint32_t at = 0; at < code.operations.size(); ++at) {
      const Operation& operation = code.operations[at];
      for (const ValueSource& source : operation.sources) note_user(source, at);
      if (operation.guard != kNone) users_[operation.guard].push_back(at);
      for (std::uint32_t id : operation.kept) users_[id].push_back(at);
    }
    reach(0);
    while (!queue_.empty()) {
      const std::uint32_t at = queue_.back();
      queue_.pop_back();
      evaluate(at);
    }
  }

  ThreadFacts facts() const {
    // The most barriers passed on a path without a wait; kNone: no such path.
    std::vector<std::uint32_t> passed(code_.operations.size(), kNone);
    std::vector<std::uint32_t> queue = {0};
    passed[0] = 0;
    ThreadFacts facts{.always_waits = true, .barriers_before_wait = 0};
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      const Operation& operation = code_.operations[at];
      if (operation.kind == Kind::kEnd) facts.always_waits = false;
      if (operation.kind == Kind::kTrap && guard(operation) == Guard::kTrue) continue;
      if (operation.kind == Kind::kWait && guard(operation) == Guard::kTrue) continue;
      const bool arrives = operation.kind == Kind::kBarrier || operation.disturbs;
      const std::uint32_t after = std::min(passed[at] + (arrives ? 1 : 0), kManyBarriers);
      facts.barriers_before_wait = std::max(facts.barriers_before_wait, after);
      for (std::uint32_t to : followers(operation)) {
        if (passed[to] != kNone && passed[to] >= after) continue;
        passed[to] = after;
        queue.push_back(to);
      }
    }
    if (facts.barriers_before_wait >= kManyBarriers) facts.barriers_before_wait = kNone;
    return facts;
  }

  std::vector<bool> open(const std::vector<bool>& stops) const {
    return flood({0}, [&](const Operation& operation, std::uint32_t at) {
      const bool ends = operation.kind == Kind::kTrap || stops[at];
      return !ends || guard(operation) != Guard::kTrue;
    });
  }

  std::vector<bool> sure(const std::vector<bool>& stops) const {
    std::vector<bool> result = open(stops);
    const std::vector<bool> decided = flood({0}, [&](const Operation& operation, std::uint32_t at) {
      if (operation.kind == Kind::kTrap || stops[at]) {
        return guard(operation) == Guard::kFalse;
      }
      return operation.next.size() < 2 || guard(operation) != Guard::kEither;
    });
    std::vector<std::uint32_t> behind;
    for (std::uint32_t at = 0; at < stops.size(); ++at) {
      const Operation& operation = code_.operations[at];
      if (!stops[at] || !reached_[at] || guard(operation) == Guard::kFalse) continue;
      const auto next = followers(operation);
      behind.insert(behind.end(), next.begin(), next.end());
    }
    const std::vector<bool> after =
        flood(std::move(behind), [](const Operation&, std::uint32_t) { return true; });
    for (std::size_t at = 0; at < result.size(); ++at) {
      result[at] = result[at] && (decided[at] || !after[at]);
    }
    return result;
  }

 private:
  enum class Guard : std::uint8_t { kTrue, kFalse, kEither };

  // What can be reached from those in the queue over operations that are passed.
  template <typename Passes>
  std::vector<bool> flood(std::vector<std::uint32_t> queue, Passes passes) const {
    std::vector<bool> seen(code_.operations.size());
    for (std::uint32_t at : queue) seen[at] = true;
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      const Operation& operation = code_.operations[at];
      if (!passes(operation, at)) continue;
      for (std::uint32_t to : followers(operation)) {
        if (!seen[to]) queue.push_back(to);
        seen[to] = true;
      }
    }
    return seen;
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

  void note_user(const ValueSource& source, std::uint32_t at) {
    if (source.kind == ValueSource::Kind::kRegister) users_[source.id].push_back(at);
  }

  void reach(std::uint32_t at) {
    if (reached_[at]) return;
    reached_[at] = true;
    queue_.push_back(at);
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

  void evaluate(std::uint32_t at) {
    const Operation& operation = code_.operations[at];
    define(operation);
    if (operation.kind == Kind::kTrap && guard(operation) == Guard::kTrue) return;
    for (std::uint32_t to : followers(operation)) reach(to);
  }

  void define(const Operation& operation) {
    if (operation.defines.empty()) return;
    const Guard passes = guard(operation);
    if (passes != Guard::kTrue) {
      for (std::size_t k = 0; k < operation.kept.size(); ++k) {
        join(operation.defines[k], Value(values_[operation.kept[k]]));
      }
    }
    if (passes == Guard::kFalse) return;
    const Value value = operation.defines.size() == 1 || gives_first(operation) ? result(operation)
                                                                                : Value::varies();
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      join(operation.defines[k], k == 0 ? value : Value::varies());
    }
  }

  void join(std::uint32_t id, const Value& value) {
    Value& old = values_[id];
    if (value.state == Value::State::kNothing || old.state == Value::State::kVaries) return;
    Value joined = value;
    if (old.is_range() && value.is_range()) {
      joined = Value::range(std::min(old.bits, value.bits), std::max(old.most, value.most));
      if (joined.bits == old.bits && joined.most == old.most) return;
      if (++growth_[id] > kMaxGrowth) joined = Value::varies();
    }
    old = joined;
    for (std::uint32_t user : users_[id]) {
      if (reached_[user]) queue_.push_back(user);
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
  std::vector<Value> values_;
  std::vector<std::uint8_t> growth_;  // how often a register's range grew
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<bool> reached_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

ThreadFacts follow_thread(const Code& code, const KnownThread& thread) {
  return Follower(code, thread).facts();
}

std::vector<bool> find_reachable_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops) {
  return Follower(code, thread).open(stops);
}

std::vector<bool> find_certainly_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops) {
  return Follower(code, thread).sure(stops);
}

}  // namespace baton::overlap
