#pragma once

#include "image/names/readable_names.h"

namespace baton::tools {

using image::with_readable_names;

}  // namespace baton::tools
