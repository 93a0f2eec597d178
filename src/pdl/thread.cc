#include "pdl/thread.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kManyBarriers = 8;  // more are not counted

// What a register holds, over all times that the thread may have it: bits between two, both
// included and seen as unsigned numbers.
struct Value {
  enum class State : std::uint8_t { kUndefined, kRange, kVaries };
  State state = State::kUndefined;
  std::uint64_t bits = 0;  // the least
  std::uint64_t most = 0;

  static Value constant(std::uint64_t bits) { return {State::kRange, bits, bits}; }
  static Value range(std::uint64_t least, std::uint64_t most) {
    return {State::kRange, least, most};
  }
  static Value varies() { return {State::kVaries, 0, 0}; }
  bool is_range() const { return state == State::kRange; }
  bool is_constant() const { return is_range() && bits == most; }
};

// How often a range may grow, as in a loop, before it is given up.
constexpr std::uint8_t kMaxGrowth = 4;

std::uint64_t mask(std::uint64_t bits, unsigned width) {
  return width >= 64 || width == 0 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

std::int64_t extended(std::uint64_t bits, unsigned width) {
  if (width == 0 || width >= 64) return static_cast<std::int64_t>(bits);
  const unsigned shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

// Sparse propagation of constants and ranges: operations and branches count once they can be
// reached.
class Follower {
 public:
  Follower(const Code& code, const KnownThread& thread)
      : code_(code),
        thread_(thread),
        values_(code.registers),
        growth_(code.registers),
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

  std::vector<bool> open(const std::vector<bool>& closed) const {
    std::vector<bool> seen(code_.operations.size());
    std::vector<std::uint32_t> queue = {0};
    seen[0] = true;
    while (!queue.empty()) {
      const std::uint32_t at = queue.back();
      queue.pop_back();
      const Operation& operation = code_.operations[at];
      const bool ends = operation.kind == Kind::kTrap || closed[at];
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
    // An index that may be any below the extent.
    const auto below = [](const auto& extents, std::size_t k) {
      return extents && (*extents)[k] != 0 ? Value::range(0, (*extents)[k] - 1) : Value::varies();
    };
    if (name <= Special::kTidZ) {
      return thread_.tid ? known(thread_.tid, index) : below(thread_.block, index);
    }
    if (name <= Special::kNtidZ) return known(thread_.block, index - 3);
    if (name <= Special::kCtaidZ) {
      return thread_.index ? known(thread_.index, index - 6) : below(thread_.grid, index - 6);
    }
    if (name <= Special::kNctaidZ) return known(thread_.grid, index - 9);
    if (name == Special::kLaneId) return lane();
    return Value::varies();  // %warpid may change
  }

  Value lane() const {
    const auto& tid = thread_.tid;
    if (!tid || (*tid)[1] != 0 || (*tid)[2] != 0) return Value::range(0, 31);
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
    if (!constant) {
      const Value found = ranged(operation, from);
      return found.is_range() ? found : absorbed(operation, from);
    }
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
    return ranged(operation, from);
  }

  // Of ranges, as long as nothing wraps around: bits are then what signed and unsigned numbers
  // alike have, but for those below 0.
  static Value ranged(const Operation& operation, const std::vector<Value>& from) {
    const ptx::Instruction& i = *operation.instruction;
    const std::string_view name = i.opcode;
    const bool known =
        std::all_of(from.begin(), from.end(), [](const Value& value) { return value.is_range(); });
    const bool odd = i.modifiers.empty() || i.has("hi") || i.has("cc") || i.has("sat");
    if (!known || odd || from.empty() || i.modifiers.back().starts_with('f')) {
      return Value::varies();
    }
    const unsigned width = operation.width;
    const std::uint64_t all = mask(UINT64_MAX, width);
    // Of operands: half as wide as the result of a ".wide". A sign that may be set counts.
    const unsigned taken = i.has("wide") ? width / 2 : width;
    const bool is_signed = i.modifiers.back().starts_with('s');
    const std::uint64_t bound = mask(UINT64_MAX, taken) >> (is_signed ? 1 : 0);
    const auto fits = [&](std::size_t k) { return from[k].most <= bound; };
    const auto give = [&](bool overflows, std::uint64_t least, std::uint64_t most) {
      return overflows || most > all ? Value::varies() : Value::range(least, most);
    };
    const auto product = [&](std::uint64_t& least, std::uint64_t& most) {
      least = from[0].bits * from[1].bits;
      return __builtin_mul_overflow(from[0].most, from[1].most, &most);
    };
    if (width == 0) return Value::varies();
    if (from.size() == 1 && name == "mov") return give(false, from[0].bits, from[0].most);
    if (from.size() == 1 && name == "cvt") {
      if (i.modifiers.size() != 2 || from[0].most > cvt_bound(i.modifiers[1])) {
        return Value::varies();
      }
      const Value least = converted(i, from[0].bits), most = converted(i, from[0].most);
      // Nothing is cut off and no sign is spread: the two keep what they were.
      const bool same = least.is_constant() && most.is_constant() && least.bits == from[0].bits &&
                        most.bits == from[0].most;
      return same ? Value::range(least.bits, most.bits) : Value::varies();
    }
    if (from.size() == 3 && name == "mad" && fits(0) && fits(1)) {
      std::uint64_t least = 0, most = 0;
      bool overflows = product(least, most);
      overflows |= __builtin_add_overflow(most, from[2].most, &most);
      return give(overflows, least + from[2].bits, most);
    }
    if (from.size() != 2) return Value::varies();
    if (name == "mul" && fits(0) && fits(1)) {
      std::uint64_t least = 0, most = 0;
      const bool overflows = product(least, most);
      return give(overflows, least, most);
    }
    if (name == "add") {
      std::uint64_t most = 0;
      const bool overflows = __builtin_add_overflow(from[0].most, from[1].most, &most);
      return give(overflows, from[0].bits + from[1].bits, most);
    }
    if (name == "sub") {
      const bool wraps = from[0].bits < from[1].most;
      return give(wraps, from[0].bits - from[1].most, from[0].most - from[1].bits);
    }
    if (name == "and") return give(false, 0, std::min(from[0].most, from[1].most));
    if (name == "shl" && from[1].is_constant() && from[1].bits < width) {
      const bool wraps = from[0].most > (all >> from[1].bits);
      return give(wraps, from[0].bits << from[1].bits, from[0].most << from[1].bits);
    }
    if (name == "shr" && from[1].is_constant() && from[1].bits < width && fits(0)) {
      return give(false, from[0].bits >> from[1].bits, from[0].most >> from[1].bits);
    }
    if ((name == "div" || name == "rem") && from[1].is_constant() && from[1].bits != 0 && fits(0) &&
        fits(1)) {
      if (name == "rem") return give(false, 0, std::min(from[0].most, from[1].bits - 1));
      return give(false, from[0].bits / from[1].bits, from[0].most / from[1].bits);
    }
    if ((name == "min" || name == "max") && fits(0) && fits(1)) {
      const bool least = name == "min";
      return give(
          false,
          least ? std::min(from[0].bits, from[1].bits) : std::max(from[0].bits, from[1].bits),
          least ? std::min(from[0].most, from[1].most) : std::max(from[0].most, from[1].most));
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

  static unsigned bits_of(std::string_view type) {
    return type == "u32" || type == "s32"   ? 32
           : type == "u64" || type == "s64" ? 64
           : type == "u16" || type == "s16" ? 16
                                            : 0;
  }

  // The greatest number of a type that is the same with and without a sign.
  static std::uint64_t cvt_bound(std::string_view type) {
    return mask(UINT64_MAX, bits_of(type)) >> (type.starts_with('s') ? 1 : 0);
  }

  static Value converted(const ptx::Instruction& i, std::uint64_t bits) {
    if (i.modifiers.size() != 2) return Value::varies();
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
    if (!from[0].is_range() || !from[1].is_range()) return Value::varies();
    // Compared as unsigned numbers, signed ones have their order where the sign is turned.
    const bool is_signed = type.starts_with('s');
    const std::uint64_t all = mask(UINT64_MAX, width), sign = is_signed ? all / 2 + 1 : 0;
    std::uint64_t least[2], most[2];
    for (std::size_t k = 0; k < 2; ++k) {
      // Of what was cut off, or has signs of both kinds, nothing is known.
      const Value& value = from[k];
      const bool whole = value.most <= all && (value.bits & sign) == (value.most & sign);
      if (!whole && !value.is_constant()) return Value::varies();
      least[k] = mask(value.bits, width) ^ sign;
      most[k] = mask(value.most, width) ^ sign;
    }
    const auto give = [](bool holds, bool fails) {
      return holds || fails ? Value::constant(holds ? 1 : 0) : Value::varies();
    };
    const bool below = most[0]<least[1], above = least[0]> most[1];
    const bool not_above = most[0] <= least[1], not_below = least[0] >= most[1];
    const bool equal = least[0] == most[0] && least[1] == most[1] && least[0] == least[1];
    if (name == "eq") return give(equal, below || above);
    if (name == "ne") return give(below || above, equal);
    if (name == "lt" || name == "lo") return give(below, not_below);
    if (name == "le" || name == "ls") return give(not_above, above);
    if (name == "gt" || name == "hi") return give(above, not_above);
    if (name == "ge" || name == "hs") return give(not_below, below);
    return Value::varies();
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

std::vector<bool> find_open(const Code& code, const KnownThread& thread,
                            const std::vector<bool>& closed) {
  return Follower(code, thread).open(closed);
}

}  // namespace baton::overlap
