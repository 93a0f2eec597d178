#include "tvm_ffi/kernel_call.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tvm_ffi/failure.h"
#include "tvm_ffi/host_tensors.h"

namespace baton::tvm_ffi {
namespace {

constexpr std::size_t kLaunchValues = 2;  // grid and block; shared memory may follow

std::string parameters_of(const baton_kernel* kernel, std::int64_t count) {
  std::vector<std::string> types;
  for (std::int64_t i = 0; i < count; ++i) {
    baton_param param = BATON_PARAM_INIT;
    check(baton_kernel_param(kernel, static_cast<std::size_t>(i), &param));
    types.emplace_back(param.type);
  }
  types.insert(types.end(), {"grid", "block", "shared = 0"});
  return fmt::format("{}", fmt::join(types, ", "));
}

// One launch: the given values as those of baton.h.
class KernelCall {
 public:
  KernelCall(const baton_kernel* kernel, const std::string& name, std::span<const Any> values)
      : kernel_(kernel), name_(name) {
    check(baton_kernel_get_info(kernel, &info_));
    const std::size_t arguments = argument_count(values.size());
    for (std::size_t i = 0; i < arguments; ++i) {
      arguments_.push_back(value_of(values[i], fmt::format("argument {}", i)));
    }
    const auto grid = extents_of(values[arguments], "grid");
    const auto block = extents_of(values[arguments + 1], "block");
    std::copy(grid.begin(), grid.end(), config_.grid);
    std::copy(block.begin(), block.end(), config_.block);
    if (values.size() == arguments + kLaunchValues) return;
    const std::int64_t shared = int_of(values[arguments + kLaunchValues], "shared");
    if (shared < 0 || shared > std::numeric_limits<std::uint32_t>::max()) {
      fail("ValueError", "shared is {}; it takes bytes from 0 to {}", shared,
           std::numeric_limits<std::uint32_t>::max());
    }
    config_.shared = static_cast<std::uint32_t>(shared);
  }

  void launch(const baton_stream* stream) {
    config_.stream = stream;
    check(baton_kernel_launch(kernel_, &config_, arguments_.data(), arguments_.size()));
  }

  void launch_on_host(const OpenDevice& device) {
    StreamHandle stream;
    check(baton_stream_create(device.get(), 0, stream.out()));
    HostTensors host;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].type != BATON_TYPE_TENSOR) continue;
      host.add(*arguments_[i].as.tensor, fmt::format("argument {}", i), is_written(i));
    }
    host.upload(device, stream.get());
    std::vector<baton_tensor> tensors;
    tensors.reserve(arguments_.size());
    for (baton_value& argument : arguments_) {
      if (argument.type != BATON_TYPE_TENSOR) continue;
      tensors.push_back(host.on_device(tensors.size()));
      argument = baton_value_tensor(&tensors.back());
    }
    try {
      launch(stream.get());
      check(baton_stream_synchronize(stream.get()));
      host.download(stream.get());
      check(baton_stream_synchronize(stream.get()));
    } catch (const Failure& failure) {
      if (failure.code == BATON_ERROR_FAULT) check(baton_device_recover(device.get()));
      throw;
    }
  }

 private:
  std::size_t argument_count(std::size_t values) const {
    if (info_.param_count < 0) {
      if (values >= kLaunchValues) return values - kLaunchValues;
      fail("TypeError",
           "kernel {}: {} values were given; it takes its arguments, then grid and block", name_,
           values);
    }
    const auto count = static_cast<std::size_t>(info_.param_count);
    if (values == count + kLaunchValues || values == count + kLaunchValues + 1) return count;
    fail("TypeError", "kernel {} takes {} or {} values ({}); {} were given", name_,
         count + kLaunchValues, count + kLaunchValues + 1,
         parameters_of(kernel_, info_.param_count), values);
  }

  bool is_written(std::size_t index) const {
    if (info_.param_count < 0) return true;
    baton_param param = BATON_PARAM_INIT;
    check(baton_kernel_param(kernel_, index, &param));
    return param.is_read_only == 0;
  }

  const baton_kernel* kernel_;
  const std::string& name_;
  baton_kernel_info info_ = BATON_KERNEL_INFO_INIT;
  baton_launch_config config_ = BATON_LAUNCH_CONFIG_INIT;
  std::vector<baton_value> arguments_;
};

}  // namespace

void call_kernel(const baton_kernel* kernel, const std::string& name, OpenDevice& device,
                 const Target& target, std::span<const Any> values) {
  KernelCall call(kernel, name, values);
  if (device.is_on_host(target)) return call.launch_on_host(device);
  call.launch(device.current_stream());
}

}  // namespace baton::tvm_ffi
