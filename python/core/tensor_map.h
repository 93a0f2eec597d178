#pragma once

#include "core/python.h"

namespace baton::python {

// Adds the function `tensor_map`, which encodes the map of a tensor in device memory.
void add_tensor_map(PyObject* module);

}  // namespace baton::python
