#pragma once

#include "image/readable_names.h"

namespace baton::tools {

using image::with_readable_names;

}  // namespace baton::tools
