#pragma once

#include <string_view>

#include "core/device.h"
#include "core/tensor.h"

namespace baton::python {

// Throws kInvalidInput, with a predicate about the array, for one in memory that `device` cannot
// reach. Host arrays are for the simulated GPU alone. `user` is what is on the device: "the
// kernel".
void require_reachable(const TensorView& view, const Device& device, std::string_view user);

// Functions for arrays whose addresses go into other values, such as structs and tensor maps.
void add_inner_arrays(PyObject* module);

}  // namespace baton::python
