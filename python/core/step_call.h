#pragma once

#include "baton/array.h"
#include "baton/executable.h"
#include "core/python.h"

namespace baton::python {

// An array in host memory as (dtype, shape, bytes).
Ref array_parts(const Array& array);

// Calls `callable` with a baton.CompletedStep. Returns false if it returned False. The contents of
// buffers can be had during the call alone. Throws what Python raised.
bool call_after_step(PyObject* callable, const CompletedStep& step);

}  // namespace baton::python
