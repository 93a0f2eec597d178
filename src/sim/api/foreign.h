#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include <type_traits>

// The functions of foreign_entries.inc, as api.h declares those of driver/entries.inc. cuda.h has
// no macros for these names: they are without its "cu".
namespace baton::sim::api {

#define BATON_FOREIGN_ENTRY(function, name, version) \
  std::remove_pointer_t<PFN_cu##name##_v##version> function;
#include "sim/api/foreign_entries.inc"

}  // namespace baton::sim::api
