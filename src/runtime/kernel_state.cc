#include "runtime/kernel_state.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "runtime/context.h"

namespace baton {
namespace {

ArgumentClass class_of(const ParamFacts& param) {
  switch (param.kind) {
    case ParamKind::kPointer:
      return ArgumentClass::kPointer;
    case ParamKind::kInteger:
      return ArgumentClass::kInteger;
    case ParamKind::kScalar:
      if (!param.dtype) return ArgumentClass::kAny;
      // Narrow floats travel in host types of anyone's making, 16-bit integers among them.
      if (*param.dtype == DType::kF32 || *param.dtype == DType::kF64) return ArgumentClass::kFloat;
      return is_float(*param.dtype) ? ArgumentClass::kAny : ArgumentClass::kInteger;
    default:
      return ArgumentClass::kAny;
  }
}

}  // namespace

ResolvedKernel::ResolvedKernel(const Device& device, CUkernel kernel, const KernelFacts& facts)
    : device_(device) {
  BATON_DRIVER_CALL(device_.driver(), cuKernelGetFunction, &function_, kernel);
  max_threads_ = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  registers_ = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  static_shared_ = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  shared_allowed_ = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  const std::uint32_t limit = device_.limits().shared_per_block_optin;
  max_dynamic_shared_ = limit > static_shared_ ? limit - static_shared_ : 0;
  required_block_ = facts.required_block.value_or(std::array<std::uint32_t, 3>{});
  required_cluster_ = facts.required_cluster.value_or(std::array<std::uint32_t, 3>{});
  read_params(kernel, facts);
}

std::uint32_t ResolvedKernel::attribute(CUfunction_attribute id) const {
  int value = 0;
  BATON_DRIVER_CALL(device_.driver(), cuFuncGetAttribute, &value, id, function_);
  return static_cast<std::uint32_t>(std::max(value, 0));
}

// The driver's layout decides. The image's adds the kinds; where the two disagree, which no image
// that a compiler made should bring about, its kinds are not used.
void ResolvedKernel::read_params(CUkernel kernel, const KernelFacts& facts) {
  const driver::Driver& driver = device_.driver();
  for (;;) {
    std::size_t offset = 0, size = 0;
    const CUresult result = driver.cuKernelGetParamInfo(kernel, params_.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) break;
    driver::check(driver, result, "cuKernelGetParamInfo");
    params_.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size),
                       ArgumentClass::kAny});
  }
  if (!facts.params) return;
  const bool agree = std::equal(params_.begin(), params_.end(), facts.params->begin(),
                                facts.params->end(), [](const auto& slot, const auto& param) {
                                  return slot.offset == param.offset && slot.size == param.size;
                                });
  if (!agree) {
    log(LogLevel::kWarning,
        "kernel {}: the driver's parameter layout differs from the image's; the driver's is used",
        facts.name);
    return;
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    params_[i].takes = class_of((*facts.params)[i]);
  }
}

void ResolvedKernel::raise_shared(std::uint32_t bytes) const {
  std::lock_guard lock(raising_);
  if (bytes <= shared_allowed_.load(std::memory_order_relaxed)) return;
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuFuncSetAttribute, function_,
                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
  shared_allowed_.store(bytes, std::memory_order_release);
}

KernelState::KernelState(const Device& on, const Library& library, const KernelFacts& of)
    : device(on), facts(of) {
  ContextGuard guard(device);
  BATON_DRIVER_CALL(device.driver(), cuLibraryGetKernel, &handle, library.handle(),
                    facts.name.c_str());
}

const ResolvedKernel& KernelState::resolve() const {
  std::lock_guard lock(resolving_);
  if (owned_ == nullptr) {
    ContextGuard guard(device);
    owned_ = std::make_unique<const ResolvedKernel>(device, handle, facts);
    published_.store(owned_.get(), std::memory_order_release);
  }
  return *owned_;
}

}  // namespace baton
