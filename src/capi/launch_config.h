#pragma once

#include "capi/call.h"

namespace baton::capi {

// The config that a caller gave for a launch of a kernel.
class GivenConfig {
 public:
  // Throws kInvalidInput for a member that no launch takes.
  GivenConfig(const Call& call, const baton_launch_config* given, const Kernel& kernel);

  const LaunchConfig& config() const { return config_; }
  // Where the launch runs.
  const Device& device() const { return *device_; }
  // Null for the default stream.
  const baton_stream* stream() const { return stream_; }

 private:
  LaunchConfig config_;
  const Device* device_ = nullptr;
  const baton_stream* stream_ = nullptr;
};

}  // namespace baton::capi
