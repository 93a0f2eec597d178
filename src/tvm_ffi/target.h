#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tvm_ffi/handle.h"
#include "tvm_ffi/values.h"

namespace baton::tvm_ffi {

// Where a call runs, by the tensors that it is given: on their GPU, or, for tensors in host memory,
// on the simulated GPU.
struct Target {
  std::string spec;  // as baton_device_open takes it; empty: the device that it chooses
  std::optional<std::int32_t> cuda = {};  // the id of the tensors' GPU

  // Throws Failure for tensors of several devices.
  static Target of(std::span<const Any> arguments);
};

// An opened device, with the streams of the caller that were used on it. Thread-safe.
class OpenDevice {
 public:
  // Throws Failure.
  explicit OpenDevice(const Target& target);

  const baton_device* get() const { return device_.get(); }
  // Whether a call waits, and its tensors are in host memory. Tensors of CUDA never are: a program
  // under `baton exec` has them on the simulated GPU, too.
  bool is_on_host(const Target& target) const { return !target.cuda && info_.is_simulated != 0; }
  std::int32_t ordinal() const { return info_.ordinal; }

  // The stream that tvm-ffi has as the current one of this thread for the GPU. Valid as long as the
  // device: streams that are destroyed keep their place here.
  const baton_stream* current_stream();

 private:
  DeviceHandle device_;
  baton_device_info info_ = BATON_DEVICE_INFO_INIT;
  std::mutex mutex_;
  std::vector<std::pair<void*, StreamHandle>> streams_;
};

}  // namespace baton::tvm_ffi
