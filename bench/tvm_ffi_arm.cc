#include "tvm_ffi_arm.h"

#ifdef BATON_BENCH_TVM_FFI
#define TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API 1
#include <tvm/ffi/extra/cuda/cubin_launcher.h>
#endif

namespace baton::bench {

#ifdef BATON_BENCH_TVM_FFI
namespace {

class Arm : public TvmFfiArm {
 public:
  Arm(const std::string& image, const char* kernel)
      : module_(tvm::ffi::Bytes(image.data(), image.size() + 1)), kernel_(module_[kernel]) {}

  CUresult launch(void** args, CUstream stream) override {
    return kernel_.Launch(args, tvm::ffi::dim3(1, 1, 1), tvm::ffi::dim3(32, 1, 1), stream);
  }
  CUresult launch_ex(void** args, const CUlaunchConfig& config) override {
    return kernel_.LaunchEx(args, config);
  }

 private:
  tvm::ffi::CubinModule module_;
  tvm::ffi::CubinKernel kernel_;
};

}  // namespace

std::unique_ptr<TvmFfiArm> make_tvm_ffi_arm(const std::string& image, const char* kernel) {
  return std::make_unique<Arm>(image, kernel);
}
#else
std::unique_ptr<TvmFfiArm> make_tvm_ffi_arm(const std::string&, const char*) {
  return nullptr;
}
#endif

}  // namespace baton::bench
