#include "pdl/order/equalities.h"

#include <algorithm>
#include <vector>

namespace baton::overlap {
namespace {

// How far behind the definition the comparison may come.
constexpr std::uint32_t kMostBetween = 16;

// The operation has no guard. An address is never a predicate.
bool reads(const Operation& operation, std::uint32_t predicate) {
  return std::ranges::any_of(operation.sources, [predicate](const ValueSource& source) {
    return source.kind == ValueSource::Kind::kRegister && source.id == predicate;
  });
}

// Whether each execution of `first` is followed by `last`, after operations that do not read the
// predicate.
bool always_leads_to(const Code& code, std::size_t first, std::uint32_t last,
                     std::uint32_t predicate) {
  std::size_t at = first;
  for (unsigned k = 0; k < kMostBetween && at != last; ++k) {
    const Operation& operation = code.operations[at];
    if (operation.guard != kNone || operation.next.size() != 1 || reads(operation, predicate))
      return false;
    at = operation.next[0];
  }
  return at == last;
}

}  // namespace

std::unordered_map<std::uint32_t, Equality> find_equalities(const Code& code) {
  // By register: the operation that writes it; SIZE_MAX: several do.
  std::unordered_map<std::uint32_t, std::size_t> writers;
  for (std::size_t at = 0; at < code.operations.size(); ++at) {
    for (const std::uint32_t id : code.operations[at].defines) {
      const auto [entry, is_new] = writers.try_emplace(id, at);
      if (!is_new) entry->second = SIZE_MAX;
    }
  }
  std::unordered_map<std::uint32_t, Equality> result;
  for (std::uint32_t at = 0; at < code.operations.size(); ++at) {
    const Operation& setp = code.operations[at];
    const bool is_certain = setp.instruction != nullptr && setp.guard == kNone;
    if (!is_certain || setp.instruction->opcode != "setp") continue;
    const std::vector<std::string_view>& modifiers = setp.instruction->modifiers;
    const bool compares = modifiers.size() == 2 && (modifiers[0] == "eq" || modifiers[0] == "ne") &&
                          (modifiers[1].ends_with("32") || modifiers[1].ends_with("64")) &&
                          !modifiers[1].starts_with('f') && setp.sources.size() == 2 &&
                          setp.defines.size() == 1 && writers.at(setp.defines[0]) == at;
    if (!compares || setp.sources[0].kind != ValueSource::Kind::kRegister ||
        setp.sources[1].kind != ValueSource::Kind::kConstant) {
      continue;
    }
    const auto writer = writers.find(setp.sources[0].id);
    // Between the two the predicate tells of the value before.
    const bool follows = writer != writers.end() && writer->second != SIZE_MAX &&
                         writer->second != at &&
                         always_leads_to(code, writer->second, at, setp.defines[0]);
    if (!follows) continue;
    result.emplace(setp.defines[0],
                   Equality{setp.sources[0].id, setp.sources[1].bits, modifiers[0] == "eq"});
  }
  return result;
}

}  // namespace baton::overlap
