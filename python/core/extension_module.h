#pragma once

#include "baton/export.h"
#include "core/python.h"

namespace baton::python {

// What PyInit__core returns. Without an exception, null means that the process loaded libbaton when
// it had no interpreter (BATON_PYTHON_OPTIONAL). Exported by a libbaton that has the extension
// inside (BATON_WHEEL).
BATON_API PyObject* extension_module();

}  // namespace baton::python
