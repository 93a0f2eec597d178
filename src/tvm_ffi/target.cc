#include "tvm_ffi/target.h"

#include <cstdlib>
#include <string_view>

#include "tvm_ffi/device_types.h"
#include "tvm_ffi/failure.h"
#include "tvm_ffi/runtime.h"

namespace baton::tvm_ffi {
namespace {

// The simulated GPU that BATON_DEVICE names, or the usual one.
std::string simulated_device() {
  const char* const chosen = std::getenv("BATON_DEVICE");
  const bool is_simulated =
      chosen != nullptr && std::string_view(chosen).substr(0, 3) == std::string_view("sim");
  return is_simulated ? chosen : "sim";
}

}  // namespace

Target Target::of(std::span<const Any> arguments) {
  std::optional<std::int32_t> cuda;
  std::size_t cuda_argument = 0;
  std::optional<std::size_t> host_argument;
  bool for_any_gpu = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const baton_tensor* const tensor = tensor_of(arguments[i]);
    if (tensor == nullptr) continue;
    switch (tensor->device.device_type) {
      case kHost:
        if (!host_argument) host_argument = i;
        break;
      case kCuda:
        if (cuda && *cuda != tensor->device.device_id) {
          fail("ValueError",
               "argument {} is on the CUDA device {}, argument {} on the CUDA device {}; a call "
               "takes tensors of one device",
               cuda_argument, *cuda, i, tensor->device.device_id);
        }
        cuda = tensor->device.device_id;
        cuda_argument = i;
        break;
      case kCudaHost:
      case kCudaManaged:
        for_any_gpu = true;
        break;
      default:
        fail("ValueError",
             "argument {} is a tensor of DLPack's device type {}; Baton takes those of CUDA, and "
             "of the CPU for the simulated GPU",
             i, tensor->device.device_type);
    }
  }
  // Every GPU reads such memory, whose id says nothing.
  if (for_any_gpu && !cuda && !host_argument) cuda = 0;
  if (cuda && host_argument) {
    fail("ValueError",
         "argument {} is in host memory, argument {} on the CUDA device {}; a call takes tensors "
         "of one device",
         *host_argument, cuda_argument, *cuda);
  }
  if (cuda) return {fmt::format("cuda:{}", *cuda), cuda};
  if (host_argument) return {simulated_device()};
  return {};
}

OpenDevice::OpenDevice(const Target& target) {
  check(baton_device_open(target.spec.empty() ? nullptr : target.spec.c_str(), nullptr,
                          device_.out()));
  check(baton_device_get_info(device_.get(), &info_));
}

const baton_stream* OpenDevice::current_stream() {
  void* const native = runtime().EnvGetStream(kCuda, info_.ordinal);
  const std::lock_guard lock(mutex_);
  for (const auto& [known, stream] : streams_) {
    if (known == native) return stream.get();
  }
  StreamHandle stream;
  check(baton_stream_adopt(get(), native, stream.out()));
  return streams_.emplace_back(native, std::move(stream)).second.get();
}

}  // namespace baton::tvm_ffi
