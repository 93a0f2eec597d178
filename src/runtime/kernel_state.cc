#include "runtime/kernel_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "runtime/context.h"
#include "runtime/exception_result.h"
#include "runtime/release.h"

namespace baton {
namespace {

ArgumentClass class_of(const ParamFacts& param) {
  switch (param.kind) {
    case ParamKind::kPointer:
      return ArgumentClass::kPointer;
    case ParamKind::kInteger:
      return param.size == 8 ? ArgumentClass::kIntegerOrPointer : ArgumentClass::kInteger;
    case ParamKind::kScalar:
      if (!param.dtype) return ArgumentClass::kAny;
      // Narrow floats travel in host types of anyone's making, 16-bit integers among them.
      if (*param.dtype == DType::kF32 || *param.dtype == DType::kF64) return ArgumentClass::kFloat;
      return is_float(*param.dtype) ? ArgumentClass::kAny : ArgumentClass::kInteger;
    default:
      return ArgumentClass::kAny;
  }
}

std::uint32_t count_of(int value) {
  return static_cast<std::uint32_t>(std::max(value, 0));
}

std::size_t device_count(const driver::Driver& driver) {
  int count = 0;
  BATON_DRIVER_CALL(driver, cuDeviceGetCount, &count);
  return count_of(count);
}

}  // namespace

ResolvedKernel::ResolvedKernel(const Device& device, CUfunction function, const KernelFacts& facts)
    : device_(device), driver_(device_.driver()), facts_(facts), function_(function) {
  max_threads_ = count_of(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  registers_ = count_of(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
  static_shared_ = count_of(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  shared_allowed_ = count_of(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  const std::uint32_t limit = device_.limits().shared_per_block_optin;
  max_dynamic_shared_ = limit > static_shared_ ? limit - static_shared_ : 0;
  required_block_ = facts.required_block.value_or(std::array<std::uint32_t, 3>{});
  required_cluster_ = facts.required_cluster.value_or(std::array<std::uint32_t, 3>{});
  compiled_cluster_ = facts.required_cluster ? *facts.required_cluster : cluster_of_driver();
  grid_in_clusters_ = facts.grid_in_clusters.value_or(false) && required_cluster_[0] != 0;
  // The barrier of a cooperative grid polls, and ends with the grid's own blocks.
  is_noted_ = device_.state()->loads_lazily() && facts.polls.value_or(false) &&
              !facts.grid_sync.value_or(false);
  is_special_ = is_noted_ || facts.traced;
  read_params();
}

std::array<std::uint32_t, 3> ResolvedKernel::cluster_of_driver() const {
  const std::uint32_t width = count_of(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH));
  if (width == 0) return {};
  return {width, count_of(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)),
          count_of(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH))};
}

int ResolvedKernel::attribute(CUfunction_attribute id) const {
  int value = 0;
  BATON_DRIVER_CALL(device_.driver(), cuFuncGetAttribute, &value, id, function_);
  return value;
}

// The driver's layout decides. The image's adds the kinds; where the two disagree in number or
// sizes, which no image that a compiler made should bring about, its kinds are not used. Offsets
// may differ: PTX says how a parameter is aligned, and where it then lies is up to the
// architecture.
void ResolvedKernel::read_params() {
  const driver::Driver& driver = device_.driver();
  if (facts_.params) params_.reserve(facts_.params->size() + 1);  // a traced kernel has one more
  for (;;) {
    std::size_t offset = 0, size = 0;
    const CUresult result = driver.cuFuncGetParamInfo(function_, params_.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) break;
    driver::check(driver, result, "cuFuncGetParamInfo");
    params_.push_back({static_cast<std::uint32_t>(size)});
  }
  if (facts_.traced && !params_.empty()) params_.pop_back();
  if (!facts_.params) return;
  const bool agree =
      std::equal(params_.begin(), params_.end(), facts_.params->begin(), facts_.params->end(),
                 [](const auto& slot, const auto& param) { return slot.size == param.size; });
  if (!agree) {
    log(LogLevel::kWarning,
        "kernel {}: the driver's parameter layout differs from the image's; the driver's is used",
        facts_.name);
    return;
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const ParamFacts& param = (*facts_.params)[i];
    params_[i].takes = class_of(param);
    if (param.kind == ParamKind::kPointer) params_[i].element = param.dtype;
  }
}

CUresult ResolvedKernel::set(CUfunction_attribute id, int value) const {
  ContextGuard guard(device_);
  return device_.driver().cuFuncSetAttribute(function_, id, value);
}

CUresult ResolvedKernel::raise_shared(std::uint32_t bytes) const noexcept try {
  std::lock_guard lock(raising_);
  if (bytes <= shared_allowed_.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  if (bytes > max_dynamic_shared_) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result =
      set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(max_dynamic_shared_));
  if (result == CUDA_SUCCESS) {
    shared_allowed_.store(max_dynamic_shared_, std::memory_order_release);
  }
  return result;
} catch (...) {
  return result_of_exception();
}

CUresult ResolvedKernel::raise_cluster() const noexcept try {
  std::lock_guard lock(raising_);
  const CUresult result = set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (result == CUDA_SUCCESS) large_clusters_allowed_.store(true, std::memory_order_release);
  return result;
} catch (...) {
  return result_of_exception();
}

void ResolvedKernel::set_attribute(CUfunction_attribute id, int value) const {
  if (id == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
      count_of(value) > max_dynamic_shared_) {
    throw error(
        ErrorCode::kLimit,
        "function attribute {} cannot be {}: {} allows a block {} bytes of shared memory, "
        "of which the kernel's static variables take {}, so its dynamic shared memory is at "
        "most {}",
        static_cast<int>(id), value, device_.spec(), device_.limits().shared_per_block_optin,
        static_shared_, max_dynamic_shared_);
  }
  std::lock_guard lock(raising_);
  try {
    driver::check(device_.driver(), set(id, value), "cuFuncSetAttribute");
  } catch (Error& failure) {
    failure.note(fmt::format("function attribute {} was to be {} on {}", static_cast<int>(id),
                             value, device_.spec()));
    throw;
  }
  // What launches go by has to follow: the value is the caller's own word, up or down.
  if (id == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    shared_allowed_.store(count_of(value), std::memory_order_release);
  } else if (id == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
    large_clusters_allowed_.store(value != 0, std::memory_order_release);
  }
}

KernelState::KernelState(ModuleState* module, const Device& home)
    : module_(module),
      home_(home),
      count_(device_count(home.driver())),
      owned_(new std::unique_ptr<const ResolvedKernel>[count_]),
      published_(new std::atomic<const ResolvedKernel*>[count_]()) {}

KernelState::KernelState(ModuleState& module, const Device& home, CUkernel handle,
                         const KernelFacts& facts)
    : KernelState(&module, home) {
  handle_ = handle;
  facts_ = &facts;
}

KernelState::KernelState(const Device& home, CUkernel handle, KernelFacts facts)
    : KernelState(nullptr, home) {
  handle_ = handle;
  own_facts_ = std::move(facts);
  facts_ = &own_facts_;
}

KernelState::KernelState(const Device& home, CUfunction function, KernelFacts facts)
    : KernelState(nullptr, home) {
  foreign_ = function;
  own_facts_ = std::move(facts);
  facts_ = &own_facts_;
}

CUfunction KernelState::function_on(const Device& device) const {
  if (&device.driver() != &home_.driver() || (foreign_ != nullptr && !(device == home_))) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {} is loaded on {}, the stream belongs to {}; load it on the stream's "
                "device",
                facts_->name, home_.spec(), device.spec());
  }
  if (foreign_ != nullptr) return foreign_;
  CUfunction function = nullptr;
  try {
    BATON_DRIVER_CALL(device.driver(), cuKernelGetFunction, &function, handle_);
  } catch (Error& failure) {
    if (device == home_) throw;
    failure.note(fmt::format(
        "kernel {} is of an image loaded on {} (sm_{}), and is launched on {} "
        "(sm_{})",
        facts_->name, home_.spec(), home_.architecture(), device.spec(), device.architecture()));
    throw;
  }
  return function;
}

const ResolvedKernel& KernelState::resolve(const Device& device) const try {
  std::lock_guard lock(resolving_);
  ContextGuard guard(device);
  // Told before the call that may not return.
  device.state()->polling().warn_before_load(facts_->name);
  const CUfunction function = function_on(device);
  const auto ordinal = static_cast<std::size_t>(device.state()->ordinal());
  if (ordinal >= count_) {
    throw error(ErrorCode::kUnsupported,
                "the image of kernel {} was loaded before {} was first opened; load it again",
                facts_->name, device.spec());
  }
  std::unique_ptr<const ResolvedKernel>& owned = owned_[ordinal];
  if (owned == nullptr) {
    owned = std::make_unique<const ResolvedKernel>(device, function, *facts_);
    published_[ordinal].store(owned.get(), std::memory_order_release);
  }
  return *owned;
} catch (Error& failure) {
  if (is_sticky(static_cast<CUresult>(failure.driver_result()))) {
    failure.note(not_launched(facts_->name));
  }
  throw;
}

}  // namespace baton
