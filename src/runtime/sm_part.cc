#include "baton/sm_part.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "runtime/context.h"
#include "runtime/green_part.h"
#include "runtime/release.h"

namespace baton {
namespace {

// The device in the smallest parts that the driver makes.
std::vector<CUdevResource> smallest_parts(const Device& device) {
  require_green_contexts(device);
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  CUdevResource all{};
  BATON_DRIVER_CALL(driver, cuDeviceGetDevResource, device.native(), &all, CU_DEV_RESOURCE_TYPE_SM);
  constexpr unsigned kLeast = 1;  // SMs; the driver rounds up
  unsigned count = 0;
  BATON_DRIVER_CALL(driver, cuDevSmResourceSplitByCount, nullptr, &count, &all, nullptr, 0, kLeast);
  std::vector<CUdevResource> parts(count);
  if (count == 0) return parts;
  BATON_DRIVER_CALL(driver, cuDevSmResourceSplitByCount, parts.data(), &count, &all, nullptr, 0,
                    kLeast);
  parts.resize(count);
  return parts;
}

SmUnits units_of(const std::vector<CUdevResource>& parts) {
  if (parts.empty()) return {};
  return {parts.front().sm.smCount, static_cast<std::uint32_t>(parts.size())};
}

std::shared_ptr<const GreenPart> make_part(const Device& device, Span<CUdevResource> resources,
                                           std::uint32_t asked) {
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  CUdevResourceDesc descriptor = nullptr;
  BATON_DRIVER_CALL(driver, cuDevResourceGenerateDesc, &descriptor, resources.data(),
                    static_cast<unsigned>(resources.size()));
  CUgreenCtx green = nullptr;
  BATON_DRIVER_CALL(driver, cuGreenCtxCreate, &green, descriptor, device.native(),
                    CU_GREEN_CTX_DEFAULT_STREAM);
  return std::make_shared<const GreenPart>(device, green, asked);
}

}  // namespace

void require_green_contexts(const Device& device) {
  const driver::Driver& driver = device.driver();
  const char* const missing =
      driver.cuDeviceGetDevResource == nullptr        ? "cuDeviceGetDevResource"
      : driver.cuDevSmResourceSplitByCount == nullptr ? "cuDevSmResourceSplitByCount"
      : driver.cuDevResourceGenerateDesc == nullptr   ? "cuDevResourceGenerateDesc"
      : driver.cuGreenCtxCreate == nullptr            ? "cuGreenCtxCreate"
      : driver.cuGreenCtxDestroy == nullptr           ? "cuGreenCtxDestroy"
      : driver.cuGreenCtxGetDevResource == nullptr    ? "cuGreenCtxGetDevResource"
      : driver.cuGreenCtxStreamCreate == nullptr      ? "cuGreenCtxStreamCreate"
      : driver.cuCtxFromGreenCtx == nullptr           ? "cuCtxFromGreenCtx"
                                                      : nullptr;
  if (missing == nullptr) return;
  throw error(ErrorCode::kUnsupported,
              "parts of the SMs need green contexts, which came with CUDA 12.5; {} {}.{} has no {}",
              driver.name, driver.version / 1000, driver.version % 1000 / 10, missing);
}

std::uint32_t sms_of(const driver::Driver& driver, CUgreenCtx green) {
  CUdevResource resource{};
  BATON_DRIVER_CALL(driver, cuGreenCtxGetDevResource, green, &resource, CU_DEV_RESOURCE_TYPE_SM);
  return resource.sm.smCount;
}

GreenPart::GreenPart(const Device& device, CUgreenCtx green, std::uint32_t asked)
    : device_(device), green_(green), asked_(asked) {
  try {
    BATON_DRIVER_CALL(device_.driver(), cuCtxFromGreenCtx, &context_, green_);
    sms_ = sms_of(device_.driver(), green_);
  } catch (...) {
    end();
    throw;
  }
}

// The driver does not say what becomes of work in a context that ends.
GreenPart::~GreenPart() {
  CUcontext current = nullptr;
  if (device_.driver().cuCtxGetCurrent(&current) == CUDA_ERROR_DEINITIALIZED) return;
  if (!await_release(device_.driver(), device_.native_context())) return;
  try {
    with_current([this] { BATON_RELEASE(device_.driver(), cuCtxSynchronize); });
  } catch (const std::exception&) {
    // The context is lost to a fault, and its work with it.
  }
  end();
}

void GreenPart::end() noexcept {
  BATON_RELEASE(device_.driver(), cuGreenCtxDestroy, green_);
}

void GreenPart::push() const {
  BATON_DRIVER_CALL(device_.driver(), cuCtxPushCurrent, context_);
}

void GreenPart::pop() const noexcept {
  CUcontext popped = nullptr;
  BATON_RELEASE(device_.driver(), cuCtxPopCurrent, &popped);
}

const Device& SmPart::device() const {
  return green_->device();
}
std::uint32_t SmPart::asked() const {
  return green_->asked();
}
std::uint32_t SmPart::sms() const {
  return green_->sms();
}
NativeContext SmPart::native() const {
  return green_->context();
}

SmUnits sm_units(const Device& device) {
  return units_of(smallest_parts(device));
}

std::vector<SmPart> split_sms(const Device& device, Span<const std::uint32_t> counts) {
  std::vector<CUdevResource> smallest = smallest_parts(device);
  const SmUnits units = units_of(smallest);
  std::vector<std::uint64_t> sizes;  // in units
  for (const std::uint32_t count : counts) {
    if (count == 0) {
      throw error(ErrorCode::kInvalidInput, "a part of 0 SMs was asked for; the least is 1");
    }
    sizes.push_back(units.unit == 0 ? 1 : (std::uint64_t{count} + units.unit - 1) / units.unit);
  }
  const std::uint64_t wanted = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  if (wanted > units.count) {
    const std::uint64_t asked = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const std::string larger = units.unit == 0 ? ""
                                               : fmt::format(", {} in parts of multiples of {}",
                                                             wanted * units.unit, units.unit);
    throw error(ErrorCode::kLimit,
                "{} part{} of {} SMs together {} asked for{}; {} has {}, of which parts can have "
                "{}: ask for fewer",
                counts.size(), counts.size() == 1 ? "" : "s", asked,
                counts.size() == 1 ? "was" : "were", larger, device.spec(),
                device.limits().multiprocessors, std::uint64_t{units.unit} * units.count);
  }
  std::vector<SmPart> parts;
  std::size_t first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    parts.emplace_back(make_part(device, {smallest.data() + first, sizes[i]}, counts[i]));
    first += sizes[i];
  }
  return parts;
}

}  // namespace baton
