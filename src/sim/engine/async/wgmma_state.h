#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/engine/isa/insn.h"

namespace baton::sim {

struct DecodedFunction;

inline constexpr std::uint32_t kWarpsOfGroup = 4;

// A register of a function, by its number there.
struct FunctionRegister {
  const DecodedFunction* function = nullptr;
  std::uint32_t number = 0;
  bool operator==(const FunctionRegister&) const = default;
};

// What the warps of a block do by wgmma.
struct WgmmaWarp {
  // That an operation that is not over reads or writes.
  struct Busy {
    FunctionRegister reg;
    const Insn* insn = nullptr;
    std::uint64_t group = 0;
    bool is_accumulator = false;
  };
  // That another instruction wrote since the last wgmma.fence.
  struct Written {
    FunctionRegister reg;
    const Insn* insn = nullptr;
  };
  std::uint64_t issued = 0;     // operations
  std::uint64_t committed = 0;  // groups
  std::vector<Busy> busy;
  std::vector<Written> written;
};

// The operations that some warp of a warpgroup issued, and another one still has to.
struct Warpgroup {
  struct Operation {
    const Insn* insn = nullptr;
    std::uint64_t left = 0, right = 0;  // descriptors
    bool adds = false;
    std::uint32_t warp = 0;  // that issued it first
  };
  std::deque<Operation> operations;
  std::uint64_t first = 0;  // the number of the oldest
};

struct WgmmaState {
  std::vector<WgmmaWarp> warps;  // empty while nothing was multiplied
  std::vector<Warpgroup> groups;

  void clear() {
    warps.clear();
    groups.clear();
  }
};

}  // namespace baton::sim
