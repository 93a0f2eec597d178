#pragma once

#include <mutex>
#include <unordered_map>

#include "sim/engine/isa/insn.h"
#include "sim/engine/lower/function.h"

namespace baton::sim {

// Which loads of a kernel that was compiled for a debugger read what no program wrote, because the
// compiler copies it along (lower/copied_value.h). Found when a load is first asked for.
// Thread-safe.
class CopiedReads {
 public:
  bool has(const DecodedKernel& kernel, const DecodedFunction& function, const Insn* load);

 private:
  std::mutex mutex_;
  std::unordered_map<const Insn*, bool> known_;
};

}  // namespace baton::sim
