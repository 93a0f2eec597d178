#pragma once

// Where a wait for the launch before (griddepcontrol.wait), and the trigger of the launch behind
// (griddepcontrol.launch_dependents), go in a kernel that lacks them, and which of its loads have
// to become others for the wait to order them.

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/code.h"
#include "pdl/footprint.h"
#include "pdl/last_iteration.h"

namespace baton::overlap {

// What a parameter is given at every launch of the kernel.
enum class EarlyArgument : std::uint8_t {
  kAny,
  kConstantMemory,  // the address of memory that no launch writes, which may be read early
  kScalar,          // no address
};

// What a kernel may do before it has waited.
struct EarlyWork {
  std::vector<EarlyArgument> params;  // by index; those left out may be anything
  bool constant_memory = false;       // no launch writes variables in constant memory
};

enum class TriggerPlace : std::uint8_t {
  kNowhere,
  kBehindLoads,  // behind the last load of global memory, also in a loop's last iteration, and the
                 // wait
  kAtExits,      // wherever the kernel ends
  kAtTop,        // as its first instruction
};

// What stands for the place in front of all instructions and labels of a body.
inline constexpr std::uint32_t kTop = kNone;

struct Placement {
  std::string
      obstacle;  // why there is no place for a wait, or why its own is not enough, else empty
  // "its own wait, at norm.cu:12, and its own trigger, at norm.cu:30": what the kernel has and
  // keeps. Empty where it gets a wait.
  std::string own;
  std::uint32_t wait = kTop;  // the instruction of the kernel's own body that it stands before
  std::string because;        // why it stands there
  std::vector<std::uint32_t> triggers;
  std::vector<LastIteration>
      last_iterations;  // triggers of the threads whose last iteration of a loop it is
  std::vector<std::uint32_t> incoherent;  // non-coherent loads that have to become plain ones
};

// Whether the access may come before the wait: it reads, in no way that others may answer to, what
// no launch writes.
bool may_be_early(const Code& code, std::uint32_t operation, const AccessGroup& access,
                  const EarlyWork& early);

// The wait stands at the latest place that every thread comes by, once, before anything that may
// not be early. A kernel that waits itself gets none, and a trigger only where it has none either;
// what may not be early has to be behind its wait as it is. `footprint` has code.
Placement place(const Footprint& footprint, const EarlyWork& early, TriggerPlace trigger);

}  // namespace baton::overlap
