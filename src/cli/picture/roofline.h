#pragma once

#include <string>
#include <vector>

#include "cli/picture/svg.h"

namespace baton::cli {

// The width of a plot, and of the margins for labels at its left and right.
inline constexpr double kPlotWidth = 860, kPlotLeft = 220, kPlotRight = 130;

// A step with a time, below a roof.
struct RoofStep {
  std::string label;
  std::string details;  // for the pointer
  double seconds = 0, bytes = 0;
  double flops = 0;  // floating-point operations; 0: not known
};

// The measured peak of a device, in floating-point operations per second.
struct ComputeRoof {
  std::string label;
  double flops_per_second = 0;
};

// Both draw below `top`, and return the position of their end; without steps they draw nothing.
// `bytes_per_second`: the measured bandwidth of the device.
double draw_time_over_bytes(Svg& svg, double top, const std::vector<RoofStep>& steps,
                            double bytes_per_second);
// Operations per second over operations per byte, for the steps whose operations are known.
double draw_roofline(Svg& svg, double top, const std::vector<RoofStep>& steps,
                     double bytes_per_second, const std::vector<ComputeRoof>& roofs);

}  // namespace baton::cli
