#pragma once

// Chains of launches that a generator wrote, what is said of their edges, and what the simulated
// GPU finds when they run.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baton/edge.h"
#include "baton/schedule.h"

namespace baton::verdicts {

// The buffers of every chain, each of kElements u32. x, y and z are read and written, w is a weight
// (0, 1, 2, ...), and t holds the addresses of w, x, y and z in turn, as u64.
inline constexpr std::uint32_t kElements = 1024;

// A kernel k(u64 p0, u64 p1, u64 p2, u64 p3, u32 p4) and its arguments. The kernel knows %a, %b, %c
// and %e, the first four parameters as global addresses, and %n, the last one. %tid, %ntid and %cta
// count threads and blocks over all dimensions. It has 1024 bytes of shared memory, `shared`, and 256 of local memory, `spill`.
struct GeneratedLaunch {
  std::string declarations;  // of further registers
  std::string body;
  std::string buffers;  // a letter for each of the first four parameters
  std::array<std::uint32_t, 4> offsets = {};  // of these, in elements of the buffer
  std::uint32_t number = 0;
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
};

struct GeneratedChain {
  std::uint64_t seed = 0;
  std::vector<GeneratedLaunch> launches;  // each but the first is early
};

// The text of the kernel of a launch, without its module.
std::string kernel_text(const GeneratedLaunch& launch, const std::string& name);

struct ChainOutcome {
  EdgeVerdict verdict = EdgeVerdict::kProven;  // the worst of all edges
  std::string reason;                          // of that edge
  unsigned found = 0;                          // schedules under which a race was found
  std::string finding;                         // the first race
  // What the chain did that no generator means to do: a fault, or a text that does not load. Then
  // nothing above is known.
  std::string broken;
};

// Judges the chains and runs them under each schedule. Chains share programs, so that hundreds a
// second are held. Not thread-safe.
std::vector<ChainOutcome> outcomes_of(std::span<const GeneratedChain> chains,
                                      std::span<const Schedule> schedules);

// How many programs a test makes, and the seed of the first: BATON_GENERATED_PROGRAMS or
// `otherwise`, and BATON_GENERATED_SEED or 1.
struct GeneratedRange {
  std::uint64_t count = 0, first = 1;
};
GeneratedRange generated_range(std::uint64_t otherwise);

// Holds the chains of a family to the promises of verdicts: no schedule finds a race in a chain
// that is proven, and one finds a race in a chain that is unsafe. Fails with the seed and the text.
struct FamilyCount {
  std::uint64_t proven = 0, unsafe = 0, unknown = 0;
  std::uint64_t unknown_races = 0;  // unknown, and a race was found
  // Unsafe, and no race was found. The simulated GPU misses a race with an access that a thread
  // behind its wait has repeated: it keeps the last access of each place. So a few are allowed.
  std::uint64_t unconfirmed = 0;
  std::uint64_t broken = 0;
};
FamilyCount hold_family(const GeneratedRange& range,
                        const std::function<GeneratedChain(std::uint64_t seed)>& generate);

}  // namespace baton::verdicts
