// The part of AccessRanges that knows registers which loops add to.

#include <algorithm>
#include <string_view>
#include <utility>

#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/followed_compute.h"

namespace baton::overlap {
namespace {

constexpr unsigned kMaxAdditions = 64;  // in one iteration of a loop

}  // namespace

// A register that a loop only adds to, up or down. An interval holds all of its values if it holds
// the first ones, and if each addition to a value in it, where conditions let the addition happen,
// gives one in it. Proof: by induction over the additions.
AccessRanges::Found AccessRanges::counted(Register id) {
  Counter counter;
  for (const Place definition : graph_.definitions(id)) {
    if (!executes(definition)) continue;
    if (const std::optional<NumberRange> added = growth(id, definition, definition, 0)) {
      counter.width = std::min<unsigned>(counter.width, code_.operations[definition].width);
      counter.additions.push_back({definition, *added});
      continue;
    }
    const Found found = result_of(definition, definition);
    counter.first = counter.begins.empty() ? found : joined(counter.first, found);
    if (!counter.first) return std::nullopt;
    counter.begins.push_back(definition);
  }
  if (!counter.first || counter.additions.empty() || counter.width < 32) return std::nullopt;
  // An address does not wrap in between.
  const bool is_address = counter.first->memory.has_value();
  const NumberRange all =
      is_address ? NumberRange{-kMaxOffset, kMaxOffset} : all_signed(counter.width);
  NumberRange& first = counter.first->range;
  if (!is_address) first = as_signed(first, counter.width);
  if (first == all || first.least < all.least || first.most > all.most) return std::nullopt;
  const auto grows = [](const Addition& addition) { return addition.added.least >= 0; };
  const auto shrinks = [](const Addition& addition) { return addition.added.most <= 0; };
  std::vector<NumberRange> candidates;
  if (std::ranges::all_of(counter.additions, grows)) {
    candidates.push_back({first.least, all.most});
  } else if (std::ranges::all_of(counter.additions, shrinks)) {
    if (first.least >= 0) candidates.push_back({0, first.most});
    candidates.push_back({all.least, first.most});
  } else {
    return std::nullopt;
  }
  const bool is_down = !grows(counter.additions[0]);
  for (const WideInteger end : ends_of(id, counter)) {
    candidates.push_back(is_down ? NumberRange{std::min(end, first.least), first.most}
                                 : NumberRange{first.least, std::max(end, first.most)});
  }
  for (const NumberRange& candidate : candidates) {
    const std::optional<NumberRange> held = stays_in(id, counter, candidate);
    if (!held) continue;
    if (const auto stride = stride_of(counter)) {
      progressions_[id] = {*held, first.least, *stride < 0 ? -*stride : *stride};
    }
    return Located{counter.first->memory, *held};
  }
  return std::nullopt;
}

// What the register is compared with for equality, which may end the loop.
std::vector<WideInteger> AccessRanges::ends_of(Register id, const Counter& counter) {
  constexpr std::size_t kMostEnds = 4;
  std::vector<WideInteger> ends;
  Place last = kNoOperation;
  for (const Place user : code_.users.of(id)) {
    if (std::exchange(last, user) == user || ends.size() == kMostEnds) continue;
    const Operation& setp = code_.operations[user];
    const bool compares = is_plain_compute(setp) && setp.instruction->opcode == "setp" &&
                          setp.sources.size() == 2 &&
                          (setp.instruction->has("ne") || setp.instruction->has("eq"));
    if (!compares) continue;
    for (const ValueSource& source : setp.sources) {
      if (source.kind == ValueSource::Kind::kRegister && source.id == id) continue;
      const Found end = source_at(source, user, user);
      if (end && end->memory == counter.first->memory && end->range.is_constant()) {
        ends.push_back(end->range.least);
      }
    }
  }
  return ends;
}

// The values that the register has, if the candidate holds all of them.
std::optional<NumberRange> AccessRanges::stays_in(Register id, const Counter& counter,
                                                  const NumberRange& candidate) {
  const NumberRange& first = counter.first->range;
  const std::optional<WideInteger> stride = stride_of(counter);
  NumberRange held = first;
  for (const Addition& addition : counter.additions) {
    const auto add = [&](Place definition, const NumberRange& before, bool is_first) {
      const Found bounded =
          restricted_from(id, definition, addition.at, Located{counter.first->memory, before});
      if (bounded && bounded->range.is_empty()) return true;
      if (!bounded || bounded->memory != counter.first->memory) return false;
      NumberRange values = bounded->range;
      // It meets the end if it is a number of strides away: so it was one stride before it.
      if (!is_first && stride && *stride > 0 && values.most == candidate.most - 1 &&
          (candidate.most - first.least) % *stride == 0) {
        values.most = candidate.most - *stride;
      }
      if (!is_first && stride && *stride < 0 && values.least == candidate.least + 1 &&
          (first.least - candidate.least) % *stride == 0) {
        values.least = candidate.least - *stride;
      }
      const NumberRange after{values.least + addition.added.least,
                              values.most + addition.added.most};
      held = hull(held, after);
      return candidate.least <= after.least && after.most <= candidate.most;
    };
    for (const Place begin : counter.begins) {
      if (!add(begin, first, true)) return std::nullopt;
    }
    for (const Addition& other : counter.additions) {
      if (!add(other.at, candidate, false)) return std::nullopt;
    }
  }
  return held;
}

AccessRanges::Found AccessRanges::between_strides(Register id, const Found& found) const {
  const auto known = progressions_.find(id);
  if (!found || known == progressions_.end()) return found;
  const auto& [held, first, stride] = known->second;
  const auto above = [first = known->second.first,
                      stride = known->second.stride](WideInteger value) {
    const WideInteger rest = (value - first) % stride;
    return rest < 0 ? rest + stride : rest;
  };
  NumberRange range = found->range;
  if (range.least < held.least || range.most > held.most) return found;
  if (above(range.least) != 0) range.least += stride - above(range.least);
  range.most -= above(range.most);
  return Located{found->memory, range};
}

// The number that each addition adds. There is none if the additions differ, or if the register may
// begin with several numbers.
std::optional<WideInteger> AccessRanges::stride_of(const Counter& counter) {
  const NumberRange& added = counter.additions[0].added;
  const bool is_one = std::ranges::all_of(
      counter.additions, [&](const Addition& each) { return each.added == added; });
  if (!is_one || !added.is_constant() || added.least == 0) return std::nullopt;
  if (!counter.first->range.is_constant()) return std::nullopt;
  return added.least;
}

// What is added to the register's own value on the way to the definition. `at`: an operation on
// that way, which computes its result from the register.
std::optional<NumberRange> AccessRanges::growth(Register id, Place definition, Place at,
                                                unsigned depth) {
  const Operation& operation = code_.operations[at];
  if (!is_plain_compute(operation) || depth > kMaxAdditions || has_negated_operand(operation)) {
    return std::nullopt;
  }
  const std::string_view name = operation.instruction->opcode;
  const bool is_copy = name == "mov" && operation.sources.size() == 1;
  const bool is_difference = name == "sub";
  const bool is_addition = (name == "add" || is_difference) && operation.sources.size() == 2 &&
                           is_of_integers(operation) && operation.width >= 32;
  if (!is_copy && !is_addition) return std::nullopt;
  for (std::size_t k = 0; k < operation.sources.size(); ++k) {
    const ValueSource& source = operation.sources[k];
    if (source.kind != ValueSource::Kind::kRegister) continue;
    if (!is_current(source.id, at, definition)) continue;
    std::optional<NumberRange> before;
    if (source.id == id) {
      before = NumberRange::constant(0);
    } else if (!code_.unset[source.id] && graph_.is_single(source.id)) {
      before = growth(id, definition, graph_.definitions(source.id)[0], depth + 1);
    }
    if (!before) continue;
    if (is_copy) return before;
    if (is_difference && k == 1) return std::nullopt;
    const Found added = source_at(operation.sources[1 - k], at, definition);
    if (!added || added->memory) return std::nullopt;
    if (is_difference) {
      return NumberRange{before->least - added->range.most, before->most - added->range.least};
    }
    return NumberRange{before->least + added->range.least, before->most + added->range.most};
  }
  return std::nullopt;
}

}  // namespace baton::overlap
