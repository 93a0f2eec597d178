#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "baton/error.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/driver.h"
#include "sim/api/entry.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {
namespace {

void stop_at_exit() {
  if (is_forked()) return;
  deinitialize();
  for (SimDevice* const device : SimDevice::all()) device->abandon();
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

std::optional<int> simulated_ordinal(std::string_view name) {
  const std::size_t colon = name.find(':');
  const auto found = std::ranges::find(profiles(), name.substr(0, colon), &Profile::name);
  if (found == profiles().end()) return std::nullopt;
  if (colon == std::string_view::npos) return static_cast<int>(found - profiles().begin());
  const std::string_view text = name.substr(colon + 1);
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  const SimDevice* const device = SimDevice::further(*found, number);
  if (device == nullptr) {
    throw error(
        ErrorCode::kInvalidInput,
        "there is no room for the device sim:{}: a process has at most {} simulated devices, "
        "of which {} are the first ones of their kinds; name fewer of them",
        name, kMaxOrdinal, profiles().size());
  }
  return device->ordinal();
}

std::string simulated_name(int ordinal) {
  const SimDevice* const device = SimDevice::find(CUdevice{ordinal});
  if (device == nullptr) return std::to_string(ordinal);
  std::string name(device->profile().name());
  if (device->number() != 0) name += ":" + std::to_string(device->number());
  return name;
}

}  // namespace baton::sim
