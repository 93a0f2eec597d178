#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <type_traits>

// The functions that fill the simulated driver's table, named as the driver names them, each of the
// type that entries.inc gives it. They may throw Refusal, Error or std::bad_alloc; the table's
// entries turn that into a result.
namespace baton::sim::api {

#define BATON_DRIVER_ENTRY(name, version, need) \
  std::remove_pointer_t<PFN_cu##name##_v##version> name;
#include "driver/entries.inc"

}  // namespace baton::sim::api
