#pragma once

#include <cuda.h>

namespace baton::shim {

// cuGetExportTable as the library exports it: Baton's own table alone. NVIDIA's CUDA runtime asks
// for tables of NVIDIA's driver and starts with no other: the object that holds it is told, with
// the flag that links the runtime as a library, which is then Baton's.
CUresult get_export_table(const void** table, const CUuuid* id);

}  // namespace baton::shim
