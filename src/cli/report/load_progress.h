#pragma once

#include <functional>

#include "baton/kernel_module.h"
#include "cli/output/output.h"

namespace baton::cli {

// Shows which module of a program is compiled and loaded, of how many. The output must outlive it.
std::function<void(const LoadProgress&)> load_progress(Output& output);

}  // namespace baton::cli
