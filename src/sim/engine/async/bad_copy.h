#pragma once

#include <string>

#include "sim/engine/run/warp.h"

namespace baton::sim {

// The fault of a copy that a device refuses.
inline const Insn* bad_copy(Exec* x, const Insn* i, int lane, const std::string& message) {
  return fault(x, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, driver::FindingKind::kBadCopy, message);
}

}  // namespace baton::sim
