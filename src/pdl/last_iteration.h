#pragma once

// How a thread in a loop can tell before the end of an iteration that the iteration is its last: it
// does what decides that twice, the first time into registers of its own.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/flat.h"

namespace baton::overlap {

struct LastIteration {
  std::uint32_t at = 0;                 // the instruction that a thread is to know it in front of
  std::uint32_t branch = 0;             // what leaves the loop,
  bool leaves_where_taken = false;      // or stays in it, where it is taken
  std::vector<std::uint32_t> repeated;  // what decides it, between the two, in order
};

// The instructions that decide a guarded branch, out of `path`, a straight line of the body up to
// it. Nothing where they cannot be repeated before instruction `at`, or are too many to be worth
// it.
std::optional<std::vector<std::uint32_t>> deciding(const ptx::FlatFunction& body,
                                                   std::span<const std::uint32_t> path,
                                                   std::uint32_t branch, std::uint32_t at);

// What is repeated and then `instruction`, for the threads whose last iteration it is: text of one
// line that stands for as many instructions as are repeated, and one more.
std::string emit_in_last_iteration(const ptx::FlatFunction& body, const LastIteration& iteration,
                                   std::string_view instruction);

}  // namespace baton::overlap
