#pragma once

#include <memory>

#include "baton/allocator.h"
#include "core/python.h"

namespace baton::python {

// A Python object with `allocate(device, bytes)` and `free(device, address, bytes)` as an
// allocator; it keeps the object. Throws TypeError for an object that lacks one of them.
std::shared_ptr<Allocator> python_allocator(PyObject* object);

}  // namespace baton::python
