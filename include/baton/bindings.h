#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/array.h"
#include "baton/dtype.h"
#include "baton/export.h"
#include "baton/native.h"

namespace baton {

// A dense array in C order in device memory of the caller's, at a multiple of its elements' size. A
// plain value that owns nothing.
struct DeviceArray {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape = {};
  DeviceAddress address = 0;
};

// What a program's symbols and buffers hold at the start of a run. A symbol's value comes from
// here, else from the shapes of `inputs` and `memory`, else from the program.
struct Bindings {
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
  std::vector<std::pair<std::string, Array>> inputs = {};  // for input, weight and inout buffers
  std::uint64_t seed = 0;                                  // of init = "random"
  // Memory for buffers of any role in place of the executable's own: nothing is copied into it or
  // out of it, and a run begins with what it holds. The caller keeps it allocated until the next
  // `bind` or the executable's end, touches it in no other way while a run is under way, and orders
  // what was enqueued elsewhere (a run does not wait for other streams; it returns when its work is
  // done). Two of these may overlap each other, which the verdicts on edges take into account, but
  // nothing else that the program uses.
  std::vector<std::pair<std::string, DeviceArray>> memory = {};
};

// A symbol's value, and where it came from.
struct BoundSymbol {
  std::string name;
  std::int64_t value = 0;
  std::string source;  // "--set", "the shape of input x", "the program"
};

}  // namespace baton
