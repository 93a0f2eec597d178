#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "baton/buffer.h"
#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/module.h"
#include "peer/epilogue.h"
#include "peer/own_launch.h"

namespace baton::peer {

// Epilogues of reductions that something else has executed: NCCL, the host, or one rank alone. They
// get the bits of the kernels that reduce between peers. One thread at a time.
//
// It must outlive its launches and the graphs that have them.
class EpilogueKernels {
 public:
  // `results`: the reduction, in place.
  struct Step {
    DeviceAddress results = 0;
    std::uint64_t count = 0;    // elements, more than 0
    DType dtype = DType::kF32;  // one that has kernels
    Epilogue epilogue = {};
  };

  explicit EpilogueKernels(const Device& device);
  EpilogueKernels(const EpilogueKernels&) = delete;
  EpilogueKernels& operator=(const EpilogueKernels&) = delete;
  ~EpilogueKernels();

  OwnLaunch launch_of(const Step& step);

 private:
  struct Arguments;
  LaunchPlan& plan_of(DType dtype);

  const Device device_;
  const Module module_;
  std::unique_ptr<Arguments> arguments_;
  std::map<DType, LaunchPlan> plans_;
};

}  // namespace baton::peer
