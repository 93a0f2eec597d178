#pragma once

// How a thread in a loop can tell before the turn's end that the turn is its last: it does what
// decides that twice, the first time into registers of its own.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/flat.h"

namespace baton::overlap {

struct LastTurn {
  std::uint32_t at = 0;                 // the instruction that a thread is to know it in front of
  std::uint32_t branch = 0;             // what leaves the loop,
  bool leaves_where_taken = false;      // or stays in it, where it is taken
  std::vector<std::uint32_t> repeated;  // what decides it, between the two, in order
};

// The instructions that decide a guarded branch, out of `path`, a straight line of the body up to
// it. Nothing where they cannot be repeated before instruction `at`, or are too many to be worth it.
std::optional<std::vector<std::uint32_t>> deciding(const ptx::FlatFunction& body,
                                                   std::span<const std::uint32_t> path,
                                                   std::uint32_t branch, std::uint32_t at);

// What is repeated and then `instruction`, for the threads whose last turn it is: text of one line
// that stands for as many instructions as are repeated, and one more.
std::string in_last_turn(const ptx::FlatFunction& body, const LastTurn& turn,
                         std::string_view instruction);

}  // namespace baton::overlap
