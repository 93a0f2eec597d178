#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "baton/dtype.h"
#include "baton/launch_plan.h"

namespace baton::peer {

// What the names of the kernels for a dtype end with.
struct KernelSuffix {
  DType dtype;
  std::string_view text;
};
inline constexpr KernelSuffix kKernelSuffixes[] = {
    {DType::kF32, "f32"}, {DType::kF16, "f16"}, {DType::kBF16, "bf16"}, {DType::kI32, "i32"},
    {DType::kU32, "u32"}, {DType::kI64, "i64"}, {DType::kU64, "u64"},
};
// Nothing for a dtype without kernels.
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
