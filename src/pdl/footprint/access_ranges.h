#pragma once

// How far the accesses of a launch reach into the memory that it is given.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/code/definition_graph.h"
#include "pdl/footprint/address_binder.h"
#include "pdl/value/number_range.h"
#include "pdl/verdict/certain_walk.h"

namespace baton::overlap {

// Bytes of one memory; an access may lie anywhere between the two.
struct ReachedBytes {
  MemoryId memory = 0;
  WideInteger begin = 0, end = 0;
};

// Follows the addresses of a kernel's accesses back to an argument or a variable, as an interval of
// offsets over all threads of the launch. A condition that a thread has passed on every way to the
// access restricts the interval. Refers to all that it is made from. Not thread-safe.
class AccessRanges {
 public:
  // `graph`: of the footprint's code, which must not be null. `executed`: which of its operations
  // the launch may execute; empty: all.
  AccessRanges(const Footprint& footprint, const DefinitionGraph& graph,
               std::span<const GivenArgument> arguments, const LaunchExtents& extents,
               const VariableNumber& variable, std::vector<bool> executed = {});

  // Of all accesses of a group; nothing: not known, or to more than one memory.
  std::optional<ReachedBytes> of(const AccessGroup& group);

 private:
  // A number, or an address: a memory and an offset in it.
  struct Located {
    std::optional<MemoryId> memory;
    NumberRange range;
  };
  using Found = std::optional<Located>;  // nothing: it may be anything
  using Register = std::uint32_t;
  using Place = std::uint32_t;  // an operation
  struct Addition {
    Place at = 0;
    NumberRange added;
  };
  // A register that a loop adds to.
  struct Counter {
    std::vector<Place> begins;  // definitions that give it a first value
    Found first;                // any of those
    std::vector<Addition> additions;
    unsigned width = 64;
  };

  // Whether a path leads from one of `roots` to `to` that does not pass `without`. From `branch` it
  // does not take the first way on, or none of the others.
  bool leads_to(std::span<const Place> roots, Place to, Place without, Place branch,
                bool without_first);
  // Whether each way from `from` to `at` passes `user`.
  bool always_passes(Place from, Place user, Place at);
  // Whether the value that `user` read of the register, when the thread came there last, is still
  // in it at `at`.
  bool is_current(Register id, Place user, Place at);

  bool executes(Place at) const;
  std::optional<ReachedBytes> reached(Place at);
  // When the thread comes to `at`, or at any time.
  Found value_at(Register id, Place at);
  Found value_of(Register id);
  static Found joined(const Found& a, const Found& b);
  Found joined_definitions(Register id);
  // What a definition has given its register, with the values that its operands have at `at` if
  // they are still the same.
  Found result_of(Place definition, Place at);
  Found register_at(Register id, Place user, Place at);
  Found source_at(const ValueSource& source, Place user, Place at);
  Found special(SpecialRegister name) const;
  Found loaded(const Operation& operation) const;
  Found computed(const Operation& operation, std::span<const Found> from) const;

  std::optional<std::size_t> chosen_operand(const Operation& operation);
  Found rest_of_power(const Operation& operation, Place at);

  Found counted(Register id);
  std::vector<WideInteger> ends_of(Register id, const Counter& counter);
  std::optional<NumberRange> stays_in(Register id, const Counter& counter,
                                      const NumberRange& candidate);
  static std::optional<WideInteger> stride_of(const Counter& counter);
  // `found`, of a value that the register has, without what lies between two strides.
  Found between_strides(Register id, const Found& found) const;
  std::optional<NumberRange> growth(Register id, Place definition, Place at, unsigned depth);

  // `found`, which the definition gave the register, with what conditions on each way from there
  // to `at` say of it.
  Found restricted_from(Register id, Place definition, Place at, Found found);
  // The value of the predicate that `comparison` defines, if it is the same on each way from there
  // to `at`.
  std::optional<bool> decided(Place comparison, Place at, unsigned depth);

  const Code& code_;
  const DefinitionGraph& graph_;
  std::span<const GivenArgument> arguments_;
  const LaunchExtents& extents_;
  const VariableNumber& variable_;
  const std::vector<bool> executed_;
  std::map<std::pair<Register, Place>, Found> known_;
  std::map<Register, Found> known_always_;
  // Registers that move from one number on by a stride.
  struct Progression {
    NumberRange held;
    WideInteger first = 0, stride = 1;
  };
  std::map<Register, Progression> progressions_;
  std::uint64_t steps_ = std::uint64_t{1} << 22;  // that may yet be spent on paths
  unsigned nesting_ = 0;
};

}  // namespace baton::overlap
