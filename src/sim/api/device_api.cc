// Initialisation, errors, devices and contexts.

#include <algorithm>
#include <cstring>

#include "driver/capture_mode.h"
#include "driver/simulator.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/entry.h"
#include "sim/api/error_names.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/api/simulator.h"
#include "sim/graph/capture_rules.h"

namespace baton::sim::api {
namespace {

// The version of the driver interface that is simulated.
constexpr int kVersion = 13000;

}  // namespace

CUresult Init(unsigned flags) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE);
  initialize();
  return CUDA_SUCCESS;
}

CUresult DriverGetVersion(int* version) {
  require(version != nullptr, CUDA_ERROR_INVALID_VALUE);
  *version = kVersion;
  return CUDA_SUCCESS;
}

CUresult GetErrorName(CUresult error, const char** text) {
  require(text != nullptr, CUDA_ERROR_INVALID_VALUE);
  *text = error_name(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GetErrorString(CUresult error, const char** text) {
  require(text != nullptr, CUDA_ERROR_INVALID_VALUE);
  *text = error_text(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GetExportTable(const void** table, const CUuuid* id) {
  require(table != nullptr && id != nullptr, CUDA_ERROR_INVALID_VALUE);
  *table = nullptr;
  if (std::memcmp(id, &driver::kCaptureModeUuid, sizeof *id) == 0) {
    static constexpr driver::CaptureModeTable kCaptureMode{
        &Entry<&ThreadExchangeStreamCaptureMode>::call};
    *table = &kCaptureMode;
    return CUDA_SUCCESS;
  }
  require(std::memcmp(id, &driver::kSimulatorUuid, sizeof *id) == 0, CUDA_ERROR_INVALID_VALUE);
  *table = simulator();
  return CUDA_SUCCESS;
}

CUresult DeviceGet(CUdevice* device, int ordinal) {
  require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
  *device = device_of(ordinal).ordinal();
  return CUDA_SUCCESS;
}

CUresult DeviceGetCount(int* count) {
  require(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  *count = static_cast<int>(SimDevice::all().size());
  return CUDA_SUCCESS;
}

CUresult DeviceGetName(char* name, int length, CUdevice device) {
  require(name != nullptr && length > 0, CUDA_ERROR_INVALID_VALUE);
  const std::string_view title = device_of(device).profile().title();
  const std::size_t kept = std::min(title.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(name, title.data(), kept);
  name[kept] = '\0';
  return CUDA_SUCCESS;
}

CUresult DeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::optional<int> known = device_of(device).profile().attribute(attribute);
  require(known.has_value(), CUDA_ERROR_INVALID_VALUE);
  *value = *known;
  return CUDA_SUCCESS;
}

CUresult DeviceTotalMem(size_t* bytes, CUdevice device) {
  require(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
  *bytes = device_of(device).profile().memory_bytes();
  return CUDA_SUCCESS;
}

CUresult DeviceGetUuid(CUuuid* uuid, CUdevice device) {
  require(uuid != nullptr, CUDA_ERROR_INVALID_VALUE);
  // The simulator's own, with the device's ordinal in its last byte.
  const int ordinal = device_of(device).ordinal();
  *uuid = driver::kSimulatorUuid;
  uuid->bytes[sizeof uuid->bytes - 1] = static_cast<char>(0x80 + ordinal);
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  enter();
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  SimDevice& owner = device_of(device);
  owner.retain();
  *context = owner.handle();
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRelease(CUdevice device) {
  enter();
  require(device_of(device).release(), CUDA_ERROR_INVALID_CONTEXT);
  return CUDA_SUCCESS;
}

CUresult CtxPushCurrent(CUcontext context) {
  enter();
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CurrentContext found = find_context(context);
  require(found.device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  ContextStack::of_thread().push(found);
  return CUDA_SUCCESS;
}

CUresult CtxPopCurrent(CUcontext* context) {
  enter();
  const CurrentContext popped = ContextStack::of_thread().pop();
  require(popped.device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (context != nullptr) *context = popped.handle();
  return CUDA_SUCCESS;
}

CUresult CtxGetCurrent(CUcontext* context) {
  enter();
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  *context = ContextStack::of_thread().current().handle();
  return CUDA_SUCCESS;
}

// Replaces the top of the stack; null takes it off.
CUresult CtxSetCurrent(CUcontext context) {
  enter();
  const CurrentContext found = find_context(context);
  require(context == nullptr || found.device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  ContextStack& stack = ContextStack::of_thread();
  stack.pop();
  if (found.device != nullptr) stack.push(found);
  return CUDA_SUCCESS;
}

CUresult CtxGetDevice(CUdevice* device) {
  enter();
  const SimDevice* current = ContextStack::of_thread().top();
  require(current != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
  *device = current->ordinal();
  return CUDA_SUCCESS;
}

CUresult CtxSynchronize() {
  const std::shared_ptr<Context> context = usable_context();
  refuse_beside_captures_of(*context);
  context->queue().drain();
  return context->error();
}

CUresult CtxGetStreamPriorityRange(int* least, int* greatest) {
  usable_context();
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
