#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/log.h"
#include "baton/error.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/driver.h"
#include "sim/api/entry.h"

namespace baton::sim {
namespace {

void stop_at_exit() {
  if (is_forked()) return;
  deinitialize();
  for (SimDevice& device : SimDevice::all()) device.abandon();
}

driver::Driver* make() {
  SimDevice::all();
  auto* table = new driver::Driver;
  table->name = "simulated GPU";
#define BATON_DRIVER_ENTRY(name, version, need) table->cu##name = &Entry<&api::name>::call;
#include "driver/entries.inc"
  table->cuInit(0);
  table->cuDriverGetVersion(&table->version);
  const void* simulator = nullptr;
  table->cuGetExportTable(&simulator, &driver::kSimulatorUuid);
  table->simulator = static_cast<driver::Simulator*>(const_cast<void*>(simulator));
  std::atexit(stop_at_exit);
  refuse_after_fork();
  return table;
}

}  // namespace

CUresult result_of(const Error& failure) noexcept {
  log(LogLevel::kWarning, "the simulated driver rejects a call: {}", failure.what());
  switch (failure.code()) {
    case ErrorCode::kOutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case ErrorCode::kUnsupported:
      return CUDA_ERROR_NOT_SUPPORTED;
    case ErrorCode::kNotFound:
      return CUDA_ERROR_NOT_FOUND;
    case ErrorCode::kInvalidInput:
      return CUDA_ERROR_INVALID_PTX;
    default:
      return CUDA_ERROR_UNKNOWN;
  }
}

CUresult result_of(const std::exception& failure) noexcept {
  log(LogLevel::kError, "the simulated driver failed: {}", failure.what());
  return CUDA_ERROR_UNKNOWN;
}

const driver::Driver& simulated_driver() {
  static const driver::Driver& table = *make();
  return table;
}

std::span<const std::string_view> simulated_profiles() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string_view>;
    for (const Profile& profile : profiles()) all->push_back(profile.name());
    return all;
  }();
  return names;
}

std::optional<int> simulated_ordinal(std::string_view profile) {
  const auto names = simulated_profiles();
  const auto found = std::find(names.begin(), names.end(), profile);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

}  // namespace baton::sim
