#include "pdl/path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ptx/isa.h"
#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kMaxPathWork = std::uint64_t{1}
                                       << 22;  // operations looked at, of all searches
constexpr std::size_t kMaxForks = 4096;        // of one search

// Gives equal numbers to registers that are computed alike from equal registers.
class ValueNumbering {
 public:
  explicit ValueNumbering(const Code& code) : result_(code.registers) {
    std::vector<std::uint32_t> definitions(code.registers, 0);
    for (const Operation& operation : code.operations) {
      for (std::uint32_t id : operation.defines) ++definitions[id];
    }
    for (std::uint32_t id = 0; id < code.registers; ++id) result_[id] = {fresh(), false};
    for (const Operation& operation : code.operations) {
      if (operation.defines.size() == 1 && definitions[operation.defines[0]] == 1) {
        number(operation);
      }
    }
  }

  std::vector<Predicate> take() { return std::move(result_); }

 private:
  using Key = std::vector<std::uint64_t>;

  std::uint32_t fresh() { return next_++; }

  std::uint64_t word(std::string_view text) {
    return words_.try_emplace(text, words_.size()).first->second;
  }

  static bool is_pure(const Operation& operation) {
    if (operation.kind != Kind::kCompute || operation.guard != kNone ||
        operation.instruction == nullptr) {
      return false;
    }
    const ptx::Form* form = ptx::form_of(*operation.instruction);
    return form != nullptr && form->kind == ptx::Form::Kind::kPure;
  }

  bool append(const ValueSource& source, Key& key) const {
    switch (source.kind) {
      case ValueSource::Kind::kRegister:
        key.push_back(1);
        key.push_back(result_[source.id].number * std::uint64_t{2} + result_[source.id].inverted);
        return true;
      case ValueSource::Kind::kConstant:
        key.push_back(2);
        key.push_back(source.bits);
        return true;
      case ValueSource::Kind::kSpecial:
        key.push_back(3);
        key.push_back(source.id);
        return true;
      default:
        return false;
    }
  }

  void number(const Operation& operation) {
    Key key;
    bool inverted = false;
    if (operation.kind == Kind::kLoad && operation.address.kind == ValueSource::Kind::kParam &&
        operation.guard == kNone) {
      key = {0, operation.address.id,
             static_cast<std::uint64_t>(operation.instruction->operands[1].offset),
             operation.width};
    } else if (is_pure(operation)) {
      const ptx::Instruction& i = *operation.instruction;
      if (i.opcode == "not" && i.has("pred") && operation.sources.size() == 1 &&
          operation.sources[0].kind == ValueSource::Kind::kRegister) {
        const Predicate of = result_[operation.sources[0].id];
        result_[operation.defines[0]] = {of.number, !of.inverted};
        return;
      }
      key.push_back(4);
      key.push_back(word(i.opcode));
      for (std::string_view modifier : i.modifiers) {
        key.push_back(word(positive(i, modifier, inverted)));
      }
      key.push_back(UINT64_MAX);
      for (const ptx::InstructionOperand& operand : i.operands) {
        if (operand.negated && operand.kind == ptx::InstructionOperand::Kind::kIdentifier) return;
      }
      for (const ValueSource& source : operation.sources) {
        if (!append(source, key)) return;
      }
    } else {
      return;
    }
    const auto [entry, is_new] = numbers_.try_emplace(std::move(key), next_);
    if (is_new) ++next_;
    result_[operation.defines[0]] = {entry->second, inverted};
  }

  // Of a comparison of integers and its opposite, one of the two.
  static std::string_view positive(const ptx::Instruction& i, std::string_view modifier,
                                   bool& inverted) {
    if (i.opcode != "setp" || i.modifiers.size() != 2 || i.modifiers[1].starts_with('f')) {
      return modifier;
    }
    constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
        {"ne", "eq"}, {"ge", "lt"}, {"gt", "le"}, {"hs", "lo"}, {"hi", "ls"}};
    for (const auto& [from, to] : kOpposites) {
      if (modifier != from) continue;
      inverted = true;
      return to;
    }
    return modifier;
  }

  std::vector<Predicate> result_;
  std::unordered_map<std::string_view, std::uint64_t> words_;
  std::map<Key, std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
};

// What a path decided so far: lists that share their tails.
struct Decision {
  std::uint32_t number;
  bool holds;
  std::uint32_t before;  // index of the decision before, or kNone
};

}  // namespace

PathSearch::PathSearch(const Code& code)
    : code_(code), predicates_(ValueNumbering(code).take()), before_(code.operations.size()) {
  for (std::uint32_t at = 0; at < code.operations.size(); ++at) {
    for (std::uint32_t to : code.operations[at].next) before_[to].push_back(at);
  }
}

bool PathSearch::reaches(std::uint32_t target, const std::vector<bool>& stops) const {
  // Only what can lead to the target is searched.
  const auto visit = [&](std::uint32_t at, const auto& go) {
    ++work_;
    for (const std::uint32_t from : before_[at]) {
      if (!stops[from] || code_.operations[from].guard != kNone) go(from);
    }
  };
  const std::vector<bool> leads =
      ptx::reachable(code_.operations.size(), std::span(&target, 1), visit);
  if (!leads[0]) return false;

  // A search over paths, each with its own decisions. Joined where paths meet, as in a dataflow
  // analysis, the decisions would be lost.
  std::vector<Decision> decisions;
  const auto decided = [&](std::uint32_t last, std::uint32_t number) -> std::optional<bool> {
    for (; last != kNone; last = decisions[last].before) {
      ++work_;
      if (decisions[last].number == number) return decisions[last].holds;
    }
    return std::nullopt;
  };
  struct State {
    std::uint32_t at;
    std::uint32_t last;  // decision
    std::uint64_t hash;  // of all its decisions, whatever their order
  };
  std::vector<State> states = {{0, kNone, 0}};
  std::unordered_set<std::uint64_t> seen;
  std::size_t forks = 0;
  while (!states.empty()) {
    State state = states.back();
    states.pop_back();
    while (leads[state.at]) {
      if (++work_ > kMaxPathWork) return false;
      const Operation& operation = code_.operations[state.at];
      const bool is_target = state.at == target;
      const bool is_closed = !is_target && stops[state.at];
      const bool forks_here =
          operation.guard != kNone && (is_target || is_closed || operation.next.size() > 1);
      if (!forks_here) {
        if (is_target) return true;
        if (operation.next.empty()) break;
        if (operation.next.size() == 1) {
          // A loop without a fork ends here too.
          const std::uint64_t mark = (state.hash * 31 + operation.next[0]) * 2 + 1;
          if (before_[operation.next[0]].size() > 1 && !seen.insert(mark).second) break;
          state.at = operation.next[0];
          continue;
        }
        if (++forks > kMaxForks) return false;
        for (std::uint32_t to : operation.next) {
          if (leads[to] && seen.insert((state.hash * 31 + to) * 2).second) {
            states.push_back({to, state.last, state.hash});
          }
        }
        break;
      }
      if (++forks > kMaxForks) return false;
      const Predicate predicate = predicates_[operation.guard];
      const std::optional<bool> known = decided(state.last, predicate.number);
      for (const bool taken : {true, false}) {
        if (is_target && !taken) continue;
        if (is_closed && taken) continue;
        const bool inverted = operation.guard_negated != predicate.inverted;
        const bool holds = taken != inverted;
        if (known && *known != holds) continue;
        if (is_target) return true;
        State next = state;
        if (!known) {
          decisions.push_back({predicate.number, holds, state.last});
          next.last = static_cast<std::uint32_t>(decisions.size() - 1);
          next.hash += (std::uint64_t{predicate.number} * 2 + holds + 1) * 0x9E3779B97F4A7C15u;
        }
        const bool is_branch = operation.next.size() > 1;
        const std::size_t first = is_branch && taken ? 1 : 0;
        const std::size_t last = is_branch && taken ? operation.next.size() : 1;
        for (std::size_t k = first; k < last && k < operation.next.size(); ++k) {
          next.at = operation.next[k];
          if (leads[next.at] && seen.insert((next.hash * 31 + next.at) * 2).second) {
            states.push_back(next);
          }
        }
      }
      break;
    }
  }
  return false;
}

}  // namespace baton::overlap
