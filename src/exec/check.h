#pragma once

#include <cstdint>
#include <vector>

#include "exec/plan.h"

namespace baton::exec {

// A run of more steps than this is refused: it would not end, and checking it would not either.
inline constexpr std::uint64_t kMaxRunSteps = std::uint64_t{1} << 24;

// What one run of a program comes to.
struct RunExtent {
  std::uint64_t steps = 0;    // launches, copies and fills, repeats unrolled, skipped ones included
  std::vector<bool> written;  // by buffer: whether a step that is executed may write it
};

// Goes through every step of a run, repeats unrolled, and throws what would go wrong: kInvalidInput
// or kLimit, at the step's place. Takes no memory for the iterations, and goes through a group once
// where no step in it depends on the index.
RunExtent check_run(Plan& plan, const std::vector<std::int64_t>& symbols,
                    const BufferTable& buffers);

}  // namespace baton::exec
