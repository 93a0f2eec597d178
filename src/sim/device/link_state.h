#pragma once

#include <string>
#include <vector>

#include "sim/device/jit_log.h"

namespace baton::sim {

// What cuLinkCreate makes: the PTX of the inputs so far, and the joined module once it is complete.
struct LinkState {
  explicit LinkState(JitLog jit_log) : log(jit_log) {}

  struct Input {
    std::string name;
    std::string ptx;
  };
  const JitLog log;  // the caller's buffers
  std::vector<Input> inputs;
  std::string result;
};

}  // namespace baton::sim
