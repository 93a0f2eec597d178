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
