#include "driver/capture_mode.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/dynamic_library.h"

namespace baton::driver {
namespace {

using Exchange = PFN_cuThreadExchangeStreamCaptureMode_v10010;

Exchange find_exchange(const Driver& driver) {
  const void* table = nullptr;
  if (driver.cuGetExportTable(&table, &kCaptureModeUuid) == CUDA_SUCCESS && table != nullptr) {
    return static_cast<const CaptureModeTable*>(table)->exchange;
  }
  if (driver.path.empty()) return nullptr;
  const std::string names[] = {driver.path};
  std::optional<DynamicLibrary> library = DynamicLibrary::open(names);
  if (!library) return nullptr;
  library->leak();  // the driver stays loaded anyway
  return reinterpret_cast<Exchange>(library->symbol("cuThreadExchangeStreamCaptureMode"));
}

// Looked up once for each driver.
Exchange exchange_of(const Driver& driver) {
  using Known = std::vector<std::pair<decltype(driver.cuGetExportTable), Exchange>>;
  static std::mutex& mutex = *new std::mutex;  // never destroyed: releases may come late
  static Known& known = *new Known;
  const std::lock_guard lock(mutex);
  for (const auto& [key, exchange] : known) {
    if (key == driver.cuGetExportTable) return exchange;
  }
  const Exchange found = find_exchange(driver);
  known.emplace_back(driver.cuGetExportTable, found);
  return found;
}

Exchange exchange_or_null(const Driver& driver) noexcept {
  try {
    return exchange_of(driver);
  } catch (...) {
    return nullptr;  // no memory: the driver refuses then what a capture forbids
  }
}

}  // namespace

RelaxedCapture::RelaxedCapture(const Driver& driver) noexcept
    : exchange_(exchange_or_null(driver)) {
  if (exchange_ != nullptr && exchange_(&mode_) != CUDA_SUCCESS) exchange_ = nullptr;
}

RelaxedCapture::~RelaxedCapture() {
  if (exchange_ != nullptr) exchange_(&mode_);
}

}  // namespace baton::driver
