#include "peer/own_launch.h"

namespace baton::peer {

std::optional<std::string_view> suffix_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI32:
      return "i32";
    case DType::kU32:
      return "u32";
    case DType::kI64:
      return "i64";
    case DType::kU64:
      return "u64";
    default:
      return std::nullopt;
  }
}

void enqueue(const OwnLaunch& launch, const Stream& stream) {
  launch.plan->set_stream(stream);
  const NativeResult result = launch.plan->try_launch(launch.arguments);
  if (result != 0) throw launch.plan->kernel().diagnose(launch.plan->config(), result);
}

}  // namespace baton::peer
