#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/async/tensor_map.h"
#include "sim/engine/isa/insn.h"

namespace baton::sim {

struct Exec;

// Tensor maps in global memory as a block acquired them. A copy reads its map through a proxy of
// its own, which may keep an old one: each block needs fence.proxy.tensormap::generic.acquire
// before it uses a map that was written, and again where the map was written since (CUDA C++
// Programming Guide, "Using TMA to transfer multi-dimensional arrays"; PTX ISA 9.0,
// "membar/fence"). Parameters and constants need none.
class AcquiredMaps {
 public:
  enum class State : std::uint8_t { kNever, kChanged, kCurrent };

  void acquire(std::uint64_t address, const TensorMapBytes& bytes);
  // How a map that has these bytes now was acquired.
  State state_of(std::uint64_t address, const TensorMapBytes& bytes) const;
  void clear() { maps_.clear(); }

 private:
  struct Map {
    std::uint64_t address;
    TensorMapBytes bytes;
  };
  std::vector<Map> maps_;  // few: a block uses a map for each operand
};

// Whether a map at this generic address needs the fence.
bool needs_acquire(std::uint64_t address);
// Reports the use of a map, by the thread in `lane`, that the block did not acquire as it is.
void check_acquired(Exec* x, const Insn* i, int lane, std::uint64_t address,
                    const TensorMapBytes& bytes);
// fence.proxy.tensormap::generic.acquire: r[0] the generic address of the map. It is a fence
// between threads as well.
const Insn* op_acquire_tensor_map(Exec* x, const Insn* i);

}  // namespace baton::sim
