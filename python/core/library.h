#pragma once

#include "core/python.h"

namespace baton::python {

// Adds LibraryFunction, and the function `load_library`.
void add_library_type(PyObject* module);

}  // namespace baton::python
