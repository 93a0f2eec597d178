#pragma once

// Chains of launches that a generator wrote, what is said of their edges, and what the simulated
// GPU finds when they run.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/check.h"
#include "baton/edge.h"
#include "baton/schedule.h"
#include "metamorphosis.h"

namespace baton::verdicts {

// The buffers of every chain, each of kElements u32. x, y and z are read and written, w is a weight
// (0, 1, 2, ...), and t holds the addresses of w, x, y and z in turn, as u64.
inline constexpr std::uint32_t kElements = 1024;

// How a launch gives its buffers: by their addresses, as views from there to the end, or all
// arguments as one struct.
enum class Passing : std::uint8_t { kAddresses, kViews, kStruct };

// A kernel k(u64 p0, u64 p1, u64 p2, u64 p3, u32 p4), or of a struct of these, and its arguments.
// The kernel knows %a, %b, %c and %e, the first four parameters as global addresses, and %n, the
// last one. %tid, %ntid and %cta count threads and blocks over all dimensions. It has 1024 bytes of
// shared memory, `shared`, and 256 of local memory, `spill`.
struct GeneratedLaunch {
  std::string declarations;  // of further registers
  std::string body;
  std::string buffers;                        // a letter for each of the first four parameters
  std::array<std::uint32_t, 4> offsets = {};  // of each address, in elements of its buffer
  std::uint32_t number = 0;
  Passing passing = Passing::kAddresses;
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  std::uint32_t cluster = 1;  // blocks along x
};

struct GeneratedChain {
  std::uint64_t seed = 0;
  std::optional<Metamorphosis> metamorphosis = std::nullopt;  // of all kernels
  std::vector<GeneratedLaunch> launches;                      // each but the first is early
};

// The text of the kernel of a launch, without its module.
std::string kernel_text(const GeneratedLaunch& launch, const std::string& name);
// The module of the chains' kernels, and the name of a kernel in it.
std::string module_text(std::span<const GeneratedChain> chains);
std::string kernel_name(std::size_t chain, std::size_t launch);

struct ChainOutcome {
  EdgeVerdict verdict = EdgeVerdict::kProven;  // the worst of all edges
  std::string reason;                          // of that edge
  unsigned found = 0;                          // schedules under which a race was found
  std::string finding;                         // the first race
  // What the chain did that no generator means to do: a fault, or a text that does not load. Then
  // nothing above is known.
  std::string broken;
};

// What is said of the edges of the chains, as launches of one program.
std::vector<EdgeReport> edges_of(std::span<const GeneratedChain> chains);

// Judges the chains and runs them under each schedule. Chains share programs, so that hundreds a
// second are held. Not thread-safe.
std::vector<ChainOutcome> outcomes_of(std::span<const GeneratedChain> chains,
                                      std::span<const Schedule> schedules);

}  // namespace baton::verdicts
