#pragma once

// Detects a thread's last iteration of a loop early, by computing the exit condition a second time
// into scratch registers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/flat.h"

namespace baton::overlap {

struct LastIteration {
  std::uint32_t at = 0;                 // the instruction before which the thread has to know
  std::uint32_t branch = 0;             // the branch that ends or continues the loop
  bool leaves_where_taken = false;      // whether the branch ends the loop where it is taken
  std::vector<std::uint32_t> repeated;  // what decides the branch, between the two, in order
};

// The instructions of `path`, a straight line of the body up to a guarded branch, that decide the
// branch. Nothing if they cannot be repeated before instruction `at`, or are too many to be worth
// it.
std::optional<std::vector<std::uint32_t>> deciding(const ptx::FlatFunction& body,
                                                   std::span<const std::uint32_t> path,
                                                   std::uint32_t branch, std::uint32_t at);

// One line of text: the repeated instructions, and then `instruction` for the threads whose last
// iteration it is.
std::string emit_in_last_iteration(const ptx::FlatFunction& body, const LastIteration& iteration,
                                   std::string_view instruction);

}  // namespace baton::overlap
