#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace baton {

// An error or warning that the simulated GPU found in a kernel or copy. Equal findings (same kind,
// kernel and place) are one, with a count. docs/simulator.md lists the kinds. A plain value.
struct FindingReport {
  bool error = true;                                  // else a warning
  std::string kind;                                   // "out_of_bounds"
  std::string kernel;                                 // as the image names it; empty for a copy
  std::array<std::uint32_t, 3> block = {{0, 0, 0}};   // index of the first occurrence
  std::array<std::uint32_t, 3> thread = {{0, 0, 0}};  // likewise
  std::string where;                                  // "norm.cu:12:7"
  std::string message;
  std::uint64_t count = 1;
  // In an Executable's run: the launch of the first occurrence, with the indexes of the groups
  // around it: "launch 14 (topk), layer = 2, at decode.toml:40:1". Otherwise empty.
  std::string launch;
};

// The treatment of findings in work that a program enqueues itself. It applies when the program
// waits: `synchronize` of a Device, a Stream or an Event, `done` if it returns true, and uploads
// and downloads that wait. The findings of an Executable's run are in its RunReport under every
// policy.
enum class FindingPolicy {
  kThrow,    // throws errors as one Error(kFault), and logs warnings
  kLog,      // logs errors and warnings
  kCollect,  // keeps all of them for `Device::findings`
};

}  // namespace baton
