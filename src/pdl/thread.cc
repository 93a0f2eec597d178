#include "pdl/thread.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kManyBarriers = 8;  // more are not counted

// What a register holds, over all times that the thread may have it.
struct Value {
  enum class State : std::uint8_t { kUndefined, kConstant, kVaries };
  State state = State::kUndefined;
  std::uint64_t bits = 0;

  static Value constant(std::uint64_t bits) { return {State::kConstant, bits}; }
  static Value varies() { return {State::kVaries, 0}; }
  bool is_constant() const { return state == State::kConstant; }
};

std::uint64_t mask(std::uint64_t bits, unsigned width) {
  return width >= 64 || width == 0 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

std::int64_t extended(std::uint64_t bits, unsigned width) {
  if (width == 0 || width >= 64) return static_cast<std::int64_t>(bits);
  const unsigned shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

// Sparse constant propagation: operations and branches count once they can be reached.
class Follower {
 public:
  Follower(const Code& code, const KnownThread& thread)
      : code_(code),
        thread_(thread),
        values_(code.registers),
        users_(code.registers),
        reached_(code.operations.size()) {
    for (std::uint32_t at = 0; at < code.operations.size(); ++at) {
      const Operation& operation = code.operations[at];
      for (const Source& source : operation.sources) note_user(source, at);
      if (operation.guard != kNone) users_[operation.guard].push_back(at);
    }
    reach(0);
    do {
      while (!queue_.empty()) {
        const std::uint32_t at = queue_.back();
        queue_.pop_back();
        evaluate(at);
      }
    } while (give_up_on_undefined());
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

  std::vector<bool> unwaited() const {
    std::vector<bool> seen(code_.operations.size());
    std::vector<std::uint32_t> queue = {0};
    seen[0] = true;
    while (!queue.empty()) {
      const Operation& operation = code_.operations[queue.back()];
      queue.pop_back();
      const bool ends = operation.kind == Kind::kTrap || operation.kind == Kind::kWait;
      if (ends && guard(operation) == Guard::kTrue) continue;
      for (std::uint32_t to : followers(operation)) {
        if (!seen[to]) queue.push_back(to);
        seen[to] = true;
      }
    }
    return seen;
  }

 private:
  enum class Guard : std::uint8_t { kTrue, kFalse, kEither };

  void note_user(const Source& source, std::uint32_t at) {
    if (source.kind == Source::Kind::kRegister) users_[source.id].push_back(at);
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
    if (is_undefined(operation)) return;  // the guard's definition will bring this here again
    if (guard(operation) != Guard::kFalse) define(operation);
    if (operation.kind == Kind::kTrap && guard(operation) == Guard::kTrue) return;
    for (std::uint32_t to : followers(operation)) reach(to);
  }

  bool is_undefined(const Operation& operation) const {
    return operation.guard != kNone && values_[operation.guard].state == Value::State::kUndefined;
  }

  // Guards that nothing defines on the way there may hold anything.
  bool give_up_on_undefined() {
    for (std::uint32_t at = 0; at < reached_.size(); ++at) {
      const Operation& operation = code_.operations[at];
      if (reached_[at] && is_undefined(operation)) join(operation.guard, Value::varies());
    }
    return !queue_.empty();
  }

  void define(const Operation& operation) {
    if (operation.defines.empty()) return;
    const Value value = operation.defines.size() == 1 || is_shuffle(operation) ? result(operation)
                                                                               : Value::varies();
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      join(operation.defines[k], k == 0 ? value : Value::varies());
    }
  }

  void join(std::uint32_t id, const Value& value) {
    Value& old = values_[id];
    if (value.state == Value::State::kUndefined || old.state == Value::State::kVaries) return;
    if (old.is_constant() && value.is_constant() && old.bits == value.bits) return;
    old = old.state == Value::State::kUndefined ? value : Value::varies();
    for (std::uint32_t user : users_[id]) {
      if (reached_[user]) queue_.push_back(user);
    }
  }

  Value of(const Source& source) const {
    switch (source.kind) {
      case Source::Kind::kRegister:
        return values_[source.id];
      case Source::Kind::kConstant:
        return Value::constant(source.bits);
      case Source::Kind::kSpecial:
        return special(static_cast<Special>(source.id));
      default:
        return Value::varies();
    }
  }

  Value special(Special name) const {
    const auto index = static_cast<std::size_t>(name);
    const auto known = [](const auto& extents, std::size_t k) {
      return extents ? Value::constant((*extents)[k]) : Value::varies();
    };
    if (name <= Special::kTidZ) return known(thread_.tid, index);
    if (name <= Special::kNtidZ) return known(thread_.block, index - 3);
    if (name <= Special::kCtaidZ) {
      return thread_.in_first_block ? Value::constant(0) : Value::varies();
    }
    if (name <= Special::kNctaidZ) return known(thread_.grid, index - 9);
    if (name == Special::kLaneId) return lane();
    return Value::varies();  // %warpid may change
  }

  Value lane() const {
    const auto& tid = thread_.tid;
    if (!tid || (*tid)[1] != 0 || (*tid)[2] != 0) return Value::varies();
    return Value::constant((*tid)[0] % 32);
  }

  static bool is_shuffle(const Operation& operation) {
    return operation.instruction != nullptr && operation.instruction->opcode == "shfl";
  }

  Value result(const Operation& operation) const {
    if (operation.kind == Kind::kPass) return join_all(operation.sources);
    if (operation.kind == Kind::kLoad) return loaded(operation);
    if (operation.kind != Kind::kCompute || operation.instruction == nullptr) {
      return Value::varies();
    }
    return computed(operation);
  }

  Value join_all(const std::vector<Source>& sources) const {
    return sources.size() == 1 ? of(sources[0]) : Value::varies();
  }

  Value loaded(const Operation& operation) const {
    const bool whole = operation.address.kind == Source::Kind::kParam &&
                       operation.address.id < thread_.params.size() &&
                       operation.instruction->operands[1].offset == 0;
    if (!whole || !thread_.params[operation.address.id]) return Value::varies();
    const std::uint64_t bits = *thread_.params[operation.address.id];
    const bool is_signed = operation.instruction->modifiers.back().starts_with('s');
    return Value::constant(is_signed ? static_cast<std::uint64_t>(extended(bits, operation.width))
                                     : mask(bits, operation.width));
  }

  Value computed(const Operation& operation) const {
    const ptx::Instruction& i = *operation.instruction;
    const std::string_view name = i.opcode;
    std::vector<Value> from;
    bool constant = true;
    for (const Source& source : operation.sources) {
      from.push_back(of(source));
      if (from.back().state == Value::State::kUndefined) return {};
      constant = constant && from.back().is_constant();
    }
    // Written "-x" or "!p" the operand is another value.
    for (const ptx::Operand& operand : i.operands) {
      if (operand.negated && operand.kind == ptx::Operand::Kind::kIdentifier) {
        return Value::varies();
      }
    }
    if (name == "shfl") return shuffled(i, from);
    if (name == "setp") return compared(operation, from);
    if (name == "selp" && from.size() == 3) return selected(from);
    if (!constant) return absorbed(operation, from);
    const unsigned width = operation.width;
    const bool is_signed = !i.modifiers.empty() && i.modifiers.back().starts_with('s');
    // Of operands: half as wide as the result of a ".wide".
    const unsigned taken = i.has("wide") ? width / 2 : width;
    const auto value = [&](std::size_t k) {
      return is_signed ? static_cast<std::uint64_t>(extended(from[k].bits, taken))
                       : mask(from[k].bits, taken);
    };
    const auto give = [&](std::uint64_t bits) { return Value::constant(mask(bits, width)); };
    if (i.modifiers.empty() || i.modifiers.back().starts_with('f')) return Value::varies();
    if (from.size() == 1) {
      if (name == "mov" || name == "cvta") return give(from[0].bits);
      if (name == "cvt") return converted(i, from[0].bits);
      if (name == "not") return give(~from[0].bits);
      if (name == "neg") return give(0 - from[0].bits);
    }
    if (from.size() == 2) {
      if (i.has("hi") || i.has("cc") || i.has("sat")) return Value::varies();
      if (name == "add") return give(value(0) + value(1));
      if (name == "sub") return give(value(0) - value(1));
      if (name == "mul") return give(value(0) * value(1));
      if (name == "and") return give(from[0].bits & from[1].bits);
      if (name == "or") return give(from[0].bits | from[1].bits);
      if (name == "xor") return give(from[0].bits ^ from[1].bits);
      if (name == "shl") return give(from[1].bits >= width ? 0 : from[0].bits << from[1].bits);
      if (name == "shr" && !is_signed) {
        return give(from[1].bits >= width ? 0 : mask(from[0].bits, width) >> from[1].bits);
      }
      if (name == "shr") {
        const auto by = static_cast<unsigned>(std::min<std::uint64_t>(from[1].bits, 63));
        return give(static_cast<std::uint64_t>(extended(from[0].bits, width) >> by));
      }
      if (!is_signed && mask(from[1].bits, width) != 0) {
        if (name == "div") return give(value(0) / value(1));
        if (name == "rem") return give(value(0) % value(1));
      }
    }
    if (from.size() == 3 && name == "mad" && !i.has("hi") && !i.has("cc")) {
      return give(value(0) * value(1) + from[2].bits);
    }
    return Value::varies();
  }

  // A product or an intersection with 0 is 0, whatever the other is.
  static Value absorbed(const Operation& operation, const std::vector<Value>& from) {
    const std::string_view name = operation.instruction->opcode;
    const auto is_zero = [&](std::size_t k) { return from[k].is_constant() && from[k].bits == 0; };
    const bool is_float = !operation.instruction->modifiers.empty() &&
                          operation.instruction->modifiers.back().starts_with('f');
    if (is_float || from.size() < 2) return Value::varies();
    const bool gone = is_zero(0) || is_zero(1);
    if ((name == "mul" || name == "and") && gone) return Value::constant(0);
    if (name == "mad" && from.size() == 3 && gone && from[2].is_constant()) return from[2];
    return Value::varies();
  }

  static Value converted(const ptx::Instruction& i, std::uint64_t bits) {
    if (i.modifiers.size() != 2) return Value::varies();
    const auto bits_of = [](std::string_view type) -> unsigned {
      return type == "u32" || type == "s32"   ? 32
             : type == "u64" || type == "s64" ? 64
             : type == "u16" || type == "s16" ? 16
                                              : 0;
    };
    const unsigned to = bits_of(i.modifiers[0]);
    const unsigned from = bits_of(i.modifiers[1]);
    if (to == 0 || from == 0) return Value::varies();
    const std::uint64_t value = i.modifiers[1].starts_with('s')
                                    ? static_cast<std::uint64_t>(extended(bits, from))
                                    : mask(bits, from);
    return Value::constant(mask(value, to));
  }

  // shfl.sync.idx from the thread's own lane.
  Value shuffled(const ptx::Instruction& i, const std::vector<Value>& from) const {
    const Value own = lane();
    if (!i.has("idx") || from.size() < 2 || !from[1].is_constant() || !own.is_constant() ||
        from[1].bits != own.bits) {
      return Value::varies();
    }
    return from[0];
  }

  static Value selected(const std::vector<Value>& from) {
    if (from[2].is_constant()) return from[(from[2].bits & 1) != 0 ? 0 : 1];
    const bool same =
        from[0].is_constant() && from[1].is_constant() && from[0].bits == from[1].bits;
    return same ? from[0] : Value::varies();
  }

  static Value compared(const Operation& operation, const std::vector<Value>& from) {
    const ptx::Instruction& i = *operation.instruction;
    const unsigned width = operation.width;
    // setp.CmpOp.type: no second predicate is mixed in.
    if (from.size() != 2 || i.modifiers.size() != 2 || width == 0) return Value::varies();
    const std::string_view type = i.modifiers[1];
    if (type.starts_with('f')) return Value::varies();
    const std::string_view name = i.modifiers[0];
    // Nothing unsigned is below 0.
    const bool is_unsigned = type.starts_with('u');
    if (from[1].is_constant() && from[1].bits == 0 && is_unsigned) {
      if (name == "lt" || name == "lo") return Value::constant(0);
      if (name == "ge" || name == "hs") return Value::constant(1);
    }
    if (!from[0].is_constant() || !from[1].is_constant()) return Value::varies();
    const std::uint64_t a = mask(from[0].bits, width), b = mask(from[1].bits, width);
    const std::int64_t x = extended(a, width), y = extended(b, width);
    const bool is_signed = type.starts_with('s');
    const auto give = [](bool holds) { return Value::constant(holds ? 1 : 0); };
    if (name == "eq") return give(a == b);
    if (name == "ne") return give(a != b);
    if (name == "lo" || (name == "lt" && !is_signed)) return give(a < b);
    if (name == "ls" || (name == "le" && !is_signed)) return give(a <= b);
    if (name == "hi" || (name == "gt" && !is_signed)) return give(a > b);
    if (name == "hs" || (name == "ge" && !is_signed)) return give(a >= b);
    if (name == "lt") return give(x < y);
    if (name == "le") return give(x <= y);
    if (name == "gt") return give(x > y);
    if (name == "ge") return give(x >= y);
    return Value::varies();
  }

  const Code& code_;
  const KnownThread& thread_;
  std::vector<Value> values_;
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<bool> reached_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

ThreadFacts follow_thread(const Code& code, const KnownThread& thread) {
  return Follower(code, thread).facts();
}

std::vector<bool> find_unwaited(const Code& code, const KnownThread& thread) {
  return Follower(code, thread).unwaited();
}

}  // namespace baton::overlap
