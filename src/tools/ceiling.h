#pragma once

#include "exec/ceiling.h"

namespace baton::tools {

// What a device moves at the most.
using exec::CopyCeiling;

}  // namespace baton::tools
