#include "peer/own_launch.h"

namespace baton::peer {

std::optional<std::string_view> suffix_of(DType dtype) {
  for (const KernelSuffix& suffix : kKernelSuffixes) {
    if (suffix.dtype == dtype) return suffix.text;
  }
  return std::nullopt;
}

void enqueue(const OwnLaunch& launch, const Stream& stream) {
  launch.plan->set_stream(stream);
  const NativeResult result = launch.plan->try_launch(launch.arguments);
  if (result != 0) throw launch.plan->kernel().diagnose(launch.plan->config(), result);
}

}  // namespace baton::peer
