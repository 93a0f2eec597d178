#pragma once

#include <optional>
#include <vector>

#include "core/kernel.h"

namespace baton::python {

// By parameter, whether the kernel may write memory that it points to, as its PTX tells. Nothing if
// no PTX is at hand, or if the kernel may write memory that no parameter points to. Parses the PTX
// once.
const std::optional<std::vector<bool>>& may_write(const KernelValue& kernel);

}  // namespace baton::python
