// Contexts that callers create, their settings, and facts of devices that Baton does not ask for.

#include <cstdio>
#include <cstring>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/graph/capture_rules.h"

namespace baton::sim::api {
namespace {

constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

SimDevice& context_device(CUcontext context) {
  enter();
  SimDevice* device =
      context != nullptr ? find_context(context).device : ContextStack::of_thread().top();
  require(device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return *device;
}

// What a caller creates is the primary context under another name: one more that retains it.
CUresult create_context(CUcontext* context, unsigned flags, CUdevice ordinal) {
  enter();
  require(context != nullptr && (flags & ~kContextFlags) == 0, CUDA_ERROR_INVALID_VALUE);
  SimDevice& device = device_of(ordinal);
  ContextStack::of_thread().push({&device});
  device.retain();
  device.change_settings([&](ContextSettings& settings) { settings.flags = flags; });
  *context = device.handle();
  return CUDA_SUCCESS;
}

// The text of a bus id that the profile's numbers make: "0000:06:00.0".
std::string bus_id(const Profile& profile) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0",
                static_cast<unsigned>(profile.at(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)),
                static_cast<unsigned>(profile.at(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)),
                static_cast<unsigned>(profile.at(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)));
  return text;
}

}  // namespace

CUresult CtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create_context(context, flags, device);
}

CUresult CtxCreateWithAffinity(CUcontext* context, CUexecAffinityParam*, int count, unsigned flags,
                               CUdevice device) {
  require(count == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  return create_context(context, flags, device);
}

CUresult CtxCreateWithParams(CUcontext* context, CUctxCreateParams* params, unsigned flags,
                             CUdevice device) {
  if (params != nullptr) {
    require(params->numExecAffinityParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    require(params->cigParams == nullptr, CUDA_ERROR_NOT_SUPPORTED);
  }
  return create_context(context, flags, device);
}

CUresult CtxDestroy(CUcontext context) {
  enter();
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  SimDevice& device = context_device(context);
  ContextStack& stack = ContextStack::of_thread();
  if (stack.top() == &device) stack.pop();
  require(device.release(), CUDA_ERROR_INVALID_CONTEXT);
  return CUDA_SUCCESS;
}

CUresult CtxAttach(CUcontext* context, unsigned flags) {
  require(context != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  SimDevice& device = context_device(nullptr);
  device.retain();
  *context = device.handle();
  return CUDA_SUCCESS;
}

CUresult CtxDetach(CUcontext context) {
  return CtxDestroy(context);
}

CUresult CtxGetFlags(unsigned* flags) {
  require(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = context_device(nullptr).settings().flags;
  return CUDA_SUCCESS;
}

CUresult CtxSetFlags(unsigned flags) {
  require((flags & ~kContextFlags) == 0, CUDA_ERROR_INVALID_VALUE);
  context_device(nullptr).change_settings(
      [&](ContextSettings& settings) { settings.flags = flags; });
  return CUDA_SUCCESS;
}

CUresult CtxGetApiVersion(CUcontext context, unsigned* version) {
  require(version != nullptr, CUDA_ERROR_INVALID_VALUE);
  context_device(context);
  *version = 3020;  // cuCtxCreate_v2 and all later ones
  return CUDA_SUCCESS;
}

// A device has one context at a time, and each retained anew is another.
CUresult CtxGetId(CUcontext context, unsigned long long* id) {
  require(id != nullptr, CUDA_ERROR_INVALID_VALUE);
  *id = context_device(context).context_number();
  return CUDA_SUCCESS;
}

CUresult CtxGetLimit(size_t* value, CUlimit limit) {
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  const ContextSettings settings = context_device(nullptr).settings();
  const auto index = static_cast<std::size_t>(limit);
  require(index < settings.limits.size(), CUDA_ERROR_UNSUPPORTED_LIMIT);
  *value = settings.limits[index];
  return CUDA_SUCCESS;
}

// The heap's is kept to. The others are only given back: the simulated GPU has stacks of any depth.
CUresult CtxSetLimit(CUlimit limit, size_t value) {
  SimDevice& device = context_device(nullptr);
  const auto index = static_cast<std::size_t>(limit);
  require(index < CU_LIMIT_SHMEM_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT);
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
    require(device.set_heap_limit(value), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
  }
  device.change_settings([&](ContextSettings& settings) { settings.limits[index] = value; });
  return CUDA_SUCCESS;
}

CUresult CtxGetCacheConfig(CUfunc_cache* config) {
  require(config != nullptr, CUDA_ERROR_INVALID_VALUE);
  *config = context_device(nullptr).settings().cache;
  return CUDA_SUCCESS;
}

CUresult CtxSetCacheConfig(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
          CUDA_ERROR_INVALID_VALUE);
  context_device(nullptr).change_settings(
      [&](ContextSettings& settings) { settings.cache = config; });
  return CUDA_SUCCESS;
}

CUresult CtxGetSharedMemConfig(CUsharedconfig* config) {
  require(config != nullptr, CUDA_ERROR_INVALID_VALUE);
  context_device(nullptr);
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;  // the only one since compute capability 5.0
  return CUDA_SUCCESS;
}

CUresult CtxSetSharedMemConfig(CUsharedconfig) {
  context_device(nullptr);
  return CUDA_SUCCESS;
}

CUresult CtxResetPersistingL2Cache() {
  usable_context();
  return CUDA_SUCCESS;
}

CUresult CtxSynchronizeOf(CUcontext handle) {
  const std::shared_ptr<Context> context = context_device(handle).context();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  refuse_beside_captures_of(*context);
  context->queue().drain();
  return context->error();
}

CUresult CtxGetDeviceOf(CUdevice* device, CUcontext context) {
  require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
  *device = context_device(context).ordinal();
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  enter();
  require(flags != nullptr && active != nullptr, CUDA_ERROR_INVALID_VALUE);
  const SimDevice& device = device_of(ordinal);
  *flags = device.settings().flags;
  *active = device.context() != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags) {
  enter();
  require((flags & ~kContextFlags) == 0, CUDA_ERROR_INVALID_VALUE);
  device_of(ordinal).change_settings([&](ContextSettings& settings) { settings.flags = flags; });
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxReset(CUdevice ordinal) {
  enter();
  device_of(ordinal).reset();
  return CUDA_SUCCESS;
}

CUresult DeviceGetUuidOld(CUuuid* uuid, CUdevice device) {
  return DeviceGetUuid(uuid, device);
}

CUresult DeviceComputeCapability(int* major, int* minor, CUdevice device) {
  require(major != nullptr && minor != nullptr, CUDA_ERROR_INVALID_VALUE);
  const int architecture = device_of(device).profile().architecture();
  *major = architecture / 10;
  *minor = architecture % 10;
  return CUDA_SUCCESS;
}

CUresult DeviceGetPCIBusId(char* text, int length, CUdevice device) {
  require(text != nullptr && length > 0, CUDA_ERROR_INVALID_VALUE);
  const std::string id = bus_id(device_of(device).profile());
  require(id.size() < static_cast<std::size_t>(length), CUDA_ERROR_INVALID_VALUE);
  std::memcpy(text, id.c_str(), id.size() + 1);
  return CUDA_SUCCESS;
}

CUresult DeviceGetByPCIBusId(CUdevice* device, const char* text) {
  require(device != nullptr && text != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const SimDevice* const each : SimDevice::all()) {
    if (bus_id(each->profile()) != text) continue;
    *device = each->ordinal();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  require(supported != nullptr, CUDA_ERROR_INVALID_VALUE);
  device_of(device);
  *supported = 0;
  return CUDA_SUCCESS;
}

CUresult ProfilerStart() {
  return CUDA_SUCCESS;
}

CUresult ProfilerStop() {
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
