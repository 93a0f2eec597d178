#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <string>

namespace baton::bench {

// apache-tvm-ffi's cubin launcher (driver mode) as an arm of the comparison: built where its
// headers are found, in a file of its own because they define much.
class TvmFfiArm {
 public:
  virtual ~TvmFfiArm() = default;
  // `Launch`, which takes no attributes.
  virtual CUresult launch(void** args, CUstream stream) = 0;
  // `LaunchEx` with a config made once.
  virtual CUresult launch_ex(void** args, const CUlaunchConfig& config) = 0;
};

// Null where it was not built in.
std::unique_ptr<TvmFfiArm> make_tvm_ffi_arm(const std::string& image, const char* kernel);

}  // namespace baton::bench
