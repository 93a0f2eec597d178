#include "sim/api/entry_points.h"

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/entry.h"
#include "sim/api/foreign.h"
#include "sim/device/settings.h"

namespace baton::sim {
namespace {

template <typename... Arguments>
CUresult told(CUresult (*function)(Arguments...) noexcept, CUresult result) noexcept {
  if (result != CUDA_SUCCESS && settings().call_failed != nullptr) {
    settings().call_failed(reinterpret_cast<const void*>(function), result);
  }
  return result;
}

template <auto kFunction>
struct ExportedEntry;
template <typename... Arguments, CUresult (*kFunction)(Arguments...)>
struct ExportedEntry<kFunction> {
  static CUresult call(Arguments... arguments) noexcept {
    return told(&call, Entry<kFunction>::call(arguments...));
  }
};

template <auto kFunction>
struct ThreadEntry;
template <typename... Arguments, CUresult (*kFunction)(Arguments...)>
struct ThreadEntry<kFunction> {
  static CUresult call(Arguments... arguments) noexcept {
    const ThreadDefaultStream own;
    return told(&call, Entry<kFunction>::call(arguments...));
  }
};

template <auto kFunction>
constexpr EntryPoint entry_point(std::string_view name, int version) {
  return {name, version, reinterpret_cast<void*>(&ExportedEntry<kFunction>::call),
          reinterpret_cast<void*>(&ThreadEntry<kFunction>::call)};
}

}  // namespace

std::span<const EntryPoint> entry_points() {
  static const EntryPoint points[] = {
#define BATON_DRIVER_ENTRY(name, version, need) entry_point<&api::name>("cu" #name, version),
#include "driver/entries.inc"
#define BATON_FOREIGN_ENTRY(function, name, version) \
  entry_point<&api::function>("cu" #name, version),
#include "sim/api/foreign_entries.inc"
  };
  return points;
}

}  // namespace baton::sim
