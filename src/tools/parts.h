#pragma once

#include <string>
#include <vector>

#include "baton/device.h"

namespace baton::tools {

// One thing that Baton needs or can use: what was found of it, or what is missing and what to do.
struct Part {
  std::string name;
  bool found = false;
  std::string version;
  std::string detail;
  bool needed = false;  // to compile CUDA source
};

// Looks for each part: the CUDA driver, NVRTC, CUDA's headers, nvJitLink, the compile cache. The
// arguments are what list_devices says.
std::vector<Part> find_parts(const std::vector<DeviceSummary>& devices,
                             const std::string& why_no_gpu);

}  // namespace baton::tools
