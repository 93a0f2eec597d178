// libnvidia-ml.so.1: the simulated device as NVML tells of devices, for programs that look there
// what CUDA will find. What is not part of a simulated device (temperatures, clocks) has no
// function here, as in a library of an older version. Links and processes have those that torch
// demands. A process may ask and be forked before it uses CUDA: only what needs a context starts
// the simulated GPU.

#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>
#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "shim/nvml/api.h"

namespace {

std::atomic<unsigned> g_users{0};

// Handles count devices from 1 on.
nvmlDevice_t handle_of(CUdevice device) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(device) + 1);
}

CUdevice device_of(nvmlDevice_t handle) {
  return static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

int device_count() {
  int count = 0;
  cuDeviceGetCount(&count);
  return count;
}

// CUDA_SUCCESS's likes to NVML's.
nvmlReturn_t answer(CUresult result) {
  return result == CUDA_SUCCESS ? kNvmlSuccess : kNvmlUnknown;
}

// Why a call about the device cannot be answered, if so.
std::optional<nvmlReturn_t> flaw_of(nvmlDevice_t device, const void* result) {
  if (g_users == 0) return kNvmlUninitialized;
  const bool is_known =
      device != nullptr && device_of(device) >= 0 && device_of(device) < device_count();
  if (!is_known || result == nullptr) return kNvmlInvalidArgument;
  return std::nullopt;
}

nvmlReturn_t give(std::string_view text, char* to, unsigned length) {
  if (to == nullptr) return kNvmlInvalidArgument;
  if (text.size() + 1 > length) return kNvmlInsufficientSize;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return kNvmlSuccess;
}

std::string uuid_of(CUdevice device) {
  CUuuid id{};
  cuDeviceGetUuid(&id, device);
  std::string text = "GPU";
  for (std::size_t k = 0; k < sizeof id.bytes; ++k) {
    const bool begins = k == 0 || k == 4 || k == 6 || k == 8 || k == 10;
    text += fmt::format("{}{:02x}", begins ? "-" : "", static_cast<unsigned char>(id.bytes[k]));
  }
  return text;
}

// The first device for which `is_it` holds.
template <typename Predicate>
nvmlReturn_t find(nvmlDevice_t* result, Predicate is_it) {
  for (CUdevice device = 0; device < device_count(); ++device) {
    if (!is_it(device)) continue;
    *result = handle_of(device);
    return kNvmlSuccess;
  }
  return kNvmlNotFound;
}

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
  bool operator==(const PciAddress&) const = default;
};

// "[domain:]bus:device[.0]" in hexadecimal digits of any case and number.
std::optional<PciAddress> read_address(std::string_view text) {
  if (text.ends_with(".0")) text.remove_suffix(2);
  std::vector<unsigned> numbers;
  for (bool goes_on = true; goes_on;) {
    const std::size_t colon = text.find(':');
    const std::string_view digits = text.substr(0, colon);
    const char* const end = digits.data() + digits.size();
    const auto [read, failure] = std::from_chars(digits.data(), end, numbers.emplace_back(), 16);
    if (failure != std::errc{} || read != end) return std::nullopt;
    goes_on = colon != std::string_view::npos;
    if (goes_on) text.remove_prefix(colon + 1);
  }
  if (numbers.size() == 2) numbers.insert(numbers.begin(), 0);
  if (numbers.size() != 3) return std::nullopt;
  return PciAddress{numbers[0], numbers[1], numbers[2]};
}

std::optional<PciAddress> address_of(CUdevice device) {
  char text[32] = {};
  if (cuDeviceGetPCIBusId(text, sizeof text, device) != CUDA_SUCCESS) return std::nullopt;
  return read_address(text);
}

std::string text_of(const PciAddress& address, int digits_of_domain) {
  return fmt::format("{:0{}X}:{:02X}:{:02X}.0", address.domain, digits_of_domain, address.bus,
                     address.device);
}

// What all versions of the structure have.
template <typename Info>
nvmlReturn_t fill(nvmlDevice_t device, int digits_of_domain, Info* info) {
  if (const auto flaw = flaw_of(device, info)) return *flaw;
  const std::optional<PciAddress> address = address_of(device_of(device));
  if (!address) return kNvmlUnknown;
  *info = {};
  info->domain = address->domain;
  info->bus = address->bus;
  info->device = address->device;
  return give(text_of(*address, digits_of_domain), info->busId, sizeof info->busId);
}

struct DeviceBytes {
  std::size_t total = 0, free = 0;
};

// What this process has of the device; others have a device of their own.
nvmlReturn_t memory_of(CUdevice device, DeviceBytes* memory) {
  if (const CUresult result = cuDeviceTotalMem(&memory->total, device)) return answer(result);
  memory->free = memory->total;
  unsigned flags = 0;
  int is_active = 0;
  cuDevicePrimaryCtxGetState(device, &flags, &is_active);
  if (is_active == 0) return kNvmlSuccess;
  CUcontext context = nullptr;
  if (const CUresult result = cuDevicePrimaryCtxRetain(&context, device)) return answer(result);
  CUresult result = cuCtxPushCurrent(context);
  if (result == CUDA_SUCCESS) {
    result = cuMemGetInfo(&memory->free, &memory->total);
    cuCtxPopCurrent(&context);
  }
  cuDevicePrimaryCtxRelease(device);
  return answer(result);
}

}  // namespace

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  ++g_users;
  return kNvmlSuccess;
}

nvmlReturn_t nvmlInit_v2() {
  return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit() {
  return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown() {
  unsigned users = g_users;
  while (users != 0 && !g_users.compare_exchange_weak(users, users - 1)) {
  }
  return users == 0 ? kNvmlUninitialized : kNvmlSuccess;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case kNvmlSuccess:
      return "The operation was successful";
    case kNvmlUninitialized:
      return "NVML was not initialized";
    case kNvmlInvalidArgument:
      return "An argument is invalid";
    case kNvmlNotSupported:
      return "The simulated device does not have this";
    case kNvmlNotFound:
      return "There is no such device";
    case kNvmlInsufficientSize:
      return "The buffer is too small";
    default:
      return "Unknown error";
  }
}

// The driver's branch that came with the CUDA version.
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  if (g_users == 0) return kNvmlUninitialized;
  return give("580.0", version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  if (g_users == 0) return kNvmlUninitialized;
  int cuda = 0;
  cuDriverGetVersion(&cuda);
  return give(fmt::format("{}.580.0", cuda / 1000), version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return kNvmlInvalidArgument;
  return answer(cuDriverGetVersion(version));
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  if (g_users == 0) return kNvmlUninitialized;
  if (count == nullptr) return kNvmlInvalidArgument;
  *count = static_cast<unsigned>(device_count());
  return kNvmlSuccess;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (g_users == 0) return kNvmlUninitialized;
  if (device == nullptr || index >= static_cast<unsigned>(device_count())) {
    return kNvmlInvalidArgument;
  }
  *device = handle_of(static_cast<CUdevice>(index));
  return kNvmlSuccess;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (g_users == 0) return kNvmlUninitialized;
  if (uuid == nullptr || device == nullptr) return kNvmlInvalidArgument;
  return find(device, [&](CUdevice each) { return uuid_of(each) == uuid; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvmlDevice_t* device) {
  if (g_users == 0) return kNvmlUninitialized;
  if (bus == nullptr || device == nullptr) return kNvmlInvalidArgument;
  const std::optional<PciAddress> asked = read_address(bus);
  if (!asked) return kNvmlInvalidArgument;
  return find(device, [&](CUdevice each) { return address_of(each) == asked; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus, device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  if (const auto flaw = flaw_of(device, index)) return *flaw;
  *index = static_cast<unsigned>(device_of(device));
  return kNvmlSuccess;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  if (const auto flaw = flaw_of(device, name)) return *flaw;
  char whole[256] = {};
  if (const CUresult result = cuDeviceGetName(whole, sizeof whole, device_of(device))) {
    return answer(result);
  }
  return give(whole, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) {
  if (const auto flaw = flaw_of(device, uuid)) return *flaw;
  return give(uuid_of(device_of(device)), uuid, length);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  if (const nvmlReturn_t error = fill(device, 8, info)) return error;
  const PciAddress address{info->domain, info->bus, info->device};
  return give(text_of(address, 4), info->busIdLegacy, sizeof info->busIdLegacy);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t* info) {
  return fill(device, 4, info);
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t* info) {
  return nvmlDeviceGetPciInfo_v2(device, info);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  if (const auto flaw = flaw_of(device, memory)) return *flaw;
  DeviceBytes now;
  if (const nvmlReturn_t error = memory_of(device_of(device), &now)) return error;
  *memory = {now.total, now.free, now.total - now.free};
  return kNvmlSuccess;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  if (const auto flaw = flaw_of(device, memory)) return *flaw;
  DeviceBytes now;
  if (const nvmlReturn_t error = memory_of(device_of(device), &now)) return error;
  *memory = {memory->version, now.total, 0, now.free, now.total - now.free};
  return kNvmlSuccess;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  if (const auto flaw = flaw_of(device, major)) return *flaw;
  if (minor == nullptr) return kNvmlInvalidArgument;
  return answer(cuDeviceComputeCapability(major, minor, device_of(device)));
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned,
                                                 nvmlIntNvLinkDeviceType_t* type) {
  return flaw_of(device, type).value_or(kNvmlNotSupported);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned,
                                                 nvmlPciInfo_t* info) {
  return flaw_of(device, info).value_or(kNvmlNotSupported);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned* count,
                                                  nvmlProcessInfo_t*) {
  if (const auto flaw = flaw_of(device, count)) return *flaw;
  *count = 0;
  return kNvmlSuccess;
}
