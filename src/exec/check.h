#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/error.h"
#include "baton/executable.h"
#include "exec/footprints.h"
#include "exec/plan.h"
#include "exec/spread.h"

namespace baton::exec {

// A run of more steps than this is refused: it would not end, and checking it would not either.
inline constexpr std::uint64_t kMaxRunSteps = std::uint64_t{1} << 24;

// What one run of a program comes to.
struct RunExtent {
  std::uint64_t steps = 0;    // launches, copies and fills, repeats unrolled, skipped ones included
  std::vector<bool> written;  // by buffer: whether a step that is executed may write it
  std::vector<LaunchReport> launches;  // by number, without limits
  std::vector<EdgeReport> edges;       // by the later launch
  std::vector<bool> early;             // by launch: sent so that it may start early
  std::vector<Spreading> spreading;    // by launch: what is sent beside what its step says
  std::vector<bool> waits;             // by launch: its end is the end of what it waits for
  std::optional<Error> refusal;        // an edge that the program insists on cannot be
  std::optional<Error> unsafe;         // an edge that is not switched off is unsafe
};

// Goes through every step of a run, repeats unrolled, and throws what would go wrong:
// kInvalidInput, kUnsupported or kLimit, at the step's place. Takes no memory for the iterations,
// and goes through a group at most three times where no step in it depends on the index.
RunExtent check_run(Plan& plan, const std::vector<std::int64_t>& symbols,
                    const BufferTable& buffers, const Stream& stream, Footprints& footprints,
                    bool has_pdl);

}  // namespace baton::exec
