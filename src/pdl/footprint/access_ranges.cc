#include "pdl/footprint/access_ranges.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "pdl/footprint/followed_compute.h"
#include "pdl/footprint/footprint.h"
#include "pdl/value/parameter_value.h"
#include "pdl/value/value.h"
#include "ptx/traversal.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;

constexpr unsigned kMaxNesting = 256;   // of values that are computed from each other
constexpr unsigned kMaxPredicates = 4;  // between a comparison and a branch

// The only address among the operands; null: there are several, or none.
const ptx::InstructionOperand* only_address(const ptx::Instruction& instruction) {
  const ptx::InstructionOperand* found = nullptr;
  for (const ptx::InstructionOperand& operand : instruction.operands) {
    if (operand.kind != ptx::InstructionOperand::Kind::kAddress) continue;
    if (found != nullptr) return nullptr;
    found = &operand;
  }
  return found;
}

// Of a plain load, store or atomic operation; 0: of something else.
std::uint64_t bytes_of(const Operation& operation) {
  const std::string_view name = operation.instruction->opcode;
  const bool is_element =
      name == "ld" || name == "ldu" || name == "st" || name == "atom" || name == "red";
  const bool is_bulk = operation.instruction->has("bulk") || operation.instruction->has("async");
  if (!is_element || is_bulk || operation.width == 0) return 0;
  std::uint64_t elements = 1;
  for (const unsigned count : {2u, 4u, 8u}) {
    if (operation.instruction->has(count == 2 ? "v2" : count == 4 ? "v4" : "v8")) elements = count;
  }
  return std::max<std::uint64_t>(operation.width / 8, 1) * elements;
}

}  // namespace

AccessRanges::AccessRanges(const Footprint& footprint, const DefinitionGraph& graph,
                           std::span<const GivenArgument> arguments, const LaunchExtents& extents,
                           const VariableNumber& variable, std::vector<bool> executed)
    : code_(*footprint.code),
      graph_(graph),
      arguments_(arguments),
      extents_(extents),
      variable_(variable),
      executed_(std::move(executed)) {}

bool AccessRanges::executes(Place at) const {
  return executed_.empty() || executed_[at];
}

bool AccessRanges::leads_to(std::span<const Place> roots, Place to, Place without, Place branch,
                            bool without_first) {
  const std::size_t count = code_.operations.size();
  std::vector<bool> seen(count);
  std::uint64_t visited = 0;
  ptx::mark_reachable(seen, roots, [&](Place at, const auto& go) {
    ++visited;
    if (at == without || at == to) return;
    const std::vector<Place>& next = code_.operations[at].next;
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (at == branch && without_first == (k == 0)) continue;
      go(next[k]);
    }
  });
  const std::uint64_t spent = visited + count / 64;
  steps_ -= std::min(steps_, spent);
  return steps_ == 0 || seen[to];
}

bool AccessRanges::always_passes(Place from, Place user, Place at) {
  return !leads_to(code_.operations[from].next, at, user, kNoOperation, false);
}

bool AccessRanges::is_current(Register id, Place user, Place at) {
  if (user == at) return true;
  const std::span<const Place> definitions = graph_.definitions(id);
  if (graph_.is_single(id) && graph_.dominates(definitions[0], user) &&
      graph_.dominates(user, at)) {
    return true;
  }
  return std::ranges::all_of(definitions,
                             [&](Place definition) { return always_passes(definition, user, at); });
}

std::optional<ReachedBytes> AccessRanges::of(const AccessGroup& group) {
  std::optional<ReachedBytes> all;
  for (const Place at : group.operations) {
    if (!executes(at)) continue;
    const std::optional<ReachedBytes> found = reached(at);
    if (!found || (all && all->memory != found->memory)) return std::nullopt;
    if (!all) all = found;
    all->begin = std::min(all->begin, found->begin);
    all->end = std::max(all->end, found->end);
  }
  return all;
}

std::optional<ReachedBytes> AccessRanges::reached(Place at) {
  const Operation& operation = code_.operations[at];
  const std::uint64_t bytes = operation.instruction == nullptr ? 0 : bytes_of(operation);
  if (bytes == 0 || operation.space == Operation::Space::kTensorMap) return std::nullopt;
  const ptx::InstructionOperand* const place = only_address(*operation.instruction);
  if (place == nullptr) return std::nullopt;
  const Found address = source_at(operation.address, at, at);
  if (!address || !address->memory) return std::nullopt;
  const WideInteger begin = address->range.least + place->offset;
  const WideInteger end = address->range.most + place->offset + bytes;
  if (begin < -kMaxOffset || end > kMaxOffset) return std::nullopt;
  return ReachedBytes{*address->memory, begin, end};
}

// --- Values ------------------------------------------------------------------------------------

AccessRanges::Found AccessRanges::value_at(Register id, Place at) {
  if (id >= code_.registers || code_.unset[id]) return std::nullopt;
  // While it is computed it may be anything: so it is where it depends on itself.
  const auto [entry, is_new] = known_.try_emplace({id, at}, std::nullopt);
  if (!is_new || nesting_ >= kMaxNesting || steps_ == 0) return entry->second;
  ++nesting_;
  Found all;
  bool is_first = true;
  for (const Place definition : graph_.definitions(id)) {
    if (!executes(definition)) continue;
    const bool is_there = graph_.is_single(id) && graph_.dominates(definition, at);
    Found found = result_of(definition, is_there ? at : definition);
    if (!found) found = value_of(id);
    found = between_strides(id, restricted_from(id, definition, at, found));
    all = std::exchange(is_first, false) ? found : joined(all, found);
    if (!all) break;
  }
  if (all && all->range.is_empty()) all.reset();  // the thread never comes there
  --nesting_;
  return known_[{id, at}] = all;
}

AccessRanges::Found AccessRanges::value_of(Register id) {
  if (id >= code_.registers || code_.unset[id] || graph_.definitions(id).empty())
    return std::nullopt;
  const auto [entry, is_new] = known_always_.try_emplace(id, std::nullopt);
  if (!is_new || nesting_ >= kMaxNesting || steps_ == 0) return entry->second;
  ++nesting_;
  Found found = graph_.is_single(id) ? std::nullopt : counted(id);
  if (!found) found = joined_definitions(id);
  --nesting_;
  return known_always_[id] = found;
}

AccessRanges::Found AccessRanges::joined(const Found& a, const Found& b) {
  if (a && a->range.is_empty()) return b;
  if (b && b->range.is_empty()) return a;
  if (!a || !b || a->memory != b->memory) return std::nullopt;
  return Located{a->memory, hull(a->range, b->range)};
}

AccessRanges::Found AccessRanges::joined_definitions(Register id) {
  Found all;
  bool is_first = true;
  for (const Place definition : graph_.definitions(id)) {
    if (!executes(definition)) continue;
    const Found found = result_of(definition, definition);
    all = std::exchange(is_first, false) ? found : joined(all, found);
    if (!all) return std::nullopt;
  }
  return all;
}

AccessRanges::Found AccessRanges::result_of(Place definition, Place at) {
  const Operation& operation = code_.operations[definition];
  if (operation.instruction == nullptr || operation.defines.size() != 1) return std::nullopt;
  Found found;
  if (operation.kind == Kind::kLoad) {
    found = loaded(operation);
  } else if (const auto chosen = chosen_operand(operation)) {
    found = source_at(operation.sources[*chosen], definition, at);
  } else if (const auto rest = rest_of_power(operation, definition)) {
    found = rest;
  } else if (operation.kind == Kind::kCompute) {
    std::vector<Found> from;
    for (const ValueSource& source : operation.sources) {
      from.push_back(source_at(source, definition, at));
    }
    found = computed(operation, from);
  }
  if (operation.guard == kNone) return found;
  if (operation.kept.size() != 1) return std::nullopt;
  // The guard, which was false then, says nothing of what stays.
  return joined(found, value_of(operation.kept[0]));
}

AccessRanges::Found AccessRanges::register_at(Register id, Place user, Place at) {
  return is_current(id, user, at) ? value_at(id, at) : value_of(id);
}

AccessRanges::Found AccessRanges::source_at(const ValueSource& source, Place user, Place at) {
  switch (source.kind) {
    case ValueSource::Kind::kRegister:
      return register_at(source.id, user, at);
    case ValueSource::Kind::kConstant:
      return Located{std::nullopt, NumberRange::constant(static_cast<std::int64_t>(source.bits))};
    case ValueSource::Kind::kSpecial:
      return special(static_cast<SpecialRegister>(source.id));
    case ValueSource::Kind::kVariable:
    case ValueSource::Kind::kConst:
      return Located{
          variable_(code_.variables[source.id], source.kind == ValueSource::Kind::kConst),
          NumberRange::constant(static_cast<std::int64_t>(source.bits))};
    case ValueSource::Kind::kParam:
    case ValueSource::Kind::kShared:
    case ValueSource::Kind::kLocal:
    case ValueSource::Kind::kAnything:
    case ValueSource::Kind::kOther:
      return std::nullopt;
  }
  return std::nullopt;
}

AccessRanges::Found AccessRanges::special(SpecialRegister name) const {
  const auto index = static_cast<std::size_t>(name);
  const auto extent = [](const std::array<std::uint32_t, 3>& extents, std::size_t k) -> Found {
    if (extents[k] == 0) return std::nullopt;
    return Located{std::nullopt, NumberRange::constant(extents[k])};
  };
  const auto below = [](const std::array<std::uint32_t, 3>& extents, std::size_t k) -> Found {
    if (extents[k] == 0) return std::nullopt;
    return Located{std::nullopt, {0, WideInteger{extents[k]} - 1}};
  };
  switch (name) {
    case SpecialRegister::kTidX:
    case SpecialRegister::kTidY:
    case SpecialRegister::kTidZ:
      return below(extents_.block, index);
    case SpecialRegister::kNtidX:
    case SpecialRegister::kNtidY:
    case SpecialRegister::kNtidZ:
      return extent(extents_.block, index - 3);
    case SpecialRegister::kCtaidX:
    case SpecialRegister::kCtaidY:
    case SpecialRegister::kCtaidZ:
      return below(extents_.grid, index - 6);
    case SpecialRegister::kNctaidX:
    case SpecialRegister::kNctaidY:
    case SpecialRegister::kNctaidZ:
      return extent(extents_.grid, index - 9);
    case SpecialRegister::kLaneId:
      return Located{std::nullopt, {0, 31}};
    case SpecialRegister::kWarpId:
      return std::nullopt;
  }
  return std::nullopt;
}

// An argument of the launch, or a field of one.
AccessRanges::Found AccessRanges::loaded(const Operation& operation) const {
  const auto found = parameter_value(code_, operation, 0, arguments_);
  if (!found) return std::nullopt;
  return Located{found->memory, NumberRange::constant(static_cast<std::int64_t>(found->bits))};
}

AccessRanges::Found AccessRanges::computed(const Operation& operation,
                                           std::span<const Found> from) const {
  const auto is_address = [](const Found& found) { return found && found->memory; };
  const auto addresses = std::ranges::count_if(from, is_address);
  std::vector<std::optional<NumberRange>> numbers;
  for (const Found& found : from) {
    numbers.push_back(found ? std::optional(found->range) : std::nullopt);
  }
  if (addresses == 0) {
    const std::optional<NumberRange> range = range_of(operation, numbers);
    return range ? Found(Located{std::nullopt, *range}) : std::nullopt;
  }
  // An address plus or minus a number, as 64 bits; its offset is computed as a number is.
  const ptx::Instruction& i = *operation.instruction;
  const std::string_view name = i.opcode;
  const bool keeps =
      operation.width == 64 && addresses == 1 && !i.has("wide") &&
      ((from.size() == 1 && (name == "mov" || name == "cvta")) ||
       (from.size() == 2 && (name == "add" || (name == "sub" && is_address(from[0])))));
  const bool is_sum = operation.width == 64 && addresses == 1 && name == "mad" &&
                      from.size() == 3 && is_address(from[2]);
  if (!keeps && !is_sum) return std::nullopt;
  const std::optional<NumberRange> range = range_of(operation, numbers);
  if (!range) return std::nullopt;
  return Located{(*std::ranges::find_if(from, is_address))->memory, *range};
}

// --- Conditions --------------------------------------------------------------------------------

AccessRanges::Found AccessRanges::restricted_from(Register id, Place definition, Place at,
                                                  Found found) {
  Place last = kNoOperation;
  for (const Place user : code_.users.of(id)) {
    if (std::exchange(last, user) == user || user == at) continue;
    const Operation& setp = code_.operations[user];
    const bool compares = is_plain_compute(setp) && setp.instruction->opcode == "setp" &&
                          setp.sources.size() == 2 && !has_negated_operand(setp);
    if (!compares) continue;
    const auto is_it = [&](const ValueSource& source) {
      return source.kind == ValueSource::Kind::kRegister && source.id == id;
    };
    const bool swapped = is_it(setp.sources[1]);
    if (swapped == is_it(setp.sources[0])) continue;
    if (!always_passes(definition, user, at)) continue;
    const std::optional<bool> holds = decided(user, at, 0);
    if (!holds) continue;
    const Found bound = source_at(setp.sources[swapped ? 0 : 1], user, user);
    if (!bound) continue;
    const std::optional<MemoryId> memory = found ? found->memory : std::nullopt;
    if (memory != bound->memory) continue;
    const auto is_small = [](const NumberRange& range) {
      return range.least >= 0 && range.most <= kMaxOffset;
    };
    // Two addresses of one memory have the order of their offsets, as long as none wraps.
    if (memory && !(is_small(found->range) && is_small(bound->range) && setp.width == 64)) continue;
    const auto range = found ? std::optional(found->range) : std::nullopt;
    const auto less = restricted(setp, *holds, swapped, range, bound->range);
    if (less) found = Located{memory, *less};
    if (less && less->is_empty()) return found;
  }
  return found;
}

std::optional<bool> AccessRanges::decided(Place comparison, Place at, unsigned depth) {
  const Register predicate = code_.operations[comparison].defines[0];
  const bool is_known = graph_.is_single(predicate) && !code_.unset[predicate];
  if (!is_known || depth > kMaxPredicates || comparison == at) return std::nullopt;
  const std::vector<Place>& next = code_.operations[comparison].next;
  for (const Place user : code_.users.of(predicate)) {
    const Operation& operation = code_.operations[user];
    if (operation.guard == predicate) {
      if (user == at) return !operation.guard_negated;
      const bool parts = operation.kind == Kind::kBranch || operation.kind == Kind::kEnd ||
                         operation.kind == Kind::kTrap;
      if (!parts || (operation.kind == Kind::kBranch && operation.next.size() < 2)) continue;
      // Where only the way past a branch leads on, the guard was false; else it was true.
      if (!leads_to(next, at, comparison, user, true)) return operation.guard_negated;
      if (operation.kind == Kind::kBranch && !leads_to(next, at, comparison, user, false)) {
        return !operation.guard_negated;
      }
      continue;
    }
    const bool combines = is_plain_compute(operation) && !has_negated_operand(operation) &&
                          operation.instruction->has("pred") && user != at;
    if (!combines) continue;
    const std::string_view name = operation.instruction->opcode;
    if (name != "or" && name != "and" && name != "not") continue;
    if (!always_passes(comparison, user, at)) continue;
    const std::optional<bool> holds = decided(user, at, depth + 1);
    if (!holds) continue;
    if (name == "not") return !*holds;
    if (*holds == (name == "and")) return *holds;
  }
  return std::nullopt;
}

}  // namespace baton::overlap
