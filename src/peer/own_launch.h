#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "baton/dtype.h"
#include "baton/launch_plan.h"

namespace baton::peer {

// What the name of a kernel for the dtype ends with; nothing for a dtype without kernels.
std::optional<std::string_view> suffix_of(DType dtype);

// A kernel's launch, and the addresses of its arguments, which hold until the next one.
struct OwnLaunch {
  LaunchPlan* plan = nullptr;
  void* const* arguments = nullptr;
};
// On a stream that is captured it becomes a node. Throws the diagnosis of a launch that the driver
// rejects.
void enqueue(const OwnLaunch& launch, const Stream& stream);

}  // namespace baton::peer
