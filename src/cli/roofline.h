#pragma once

#include <string>
#include <vector>

#include "cli/svg.h"

namespace baton::cli {

// The width of a plot, and what is left of it and right of it for labels.
inline constexpr double kPlotWidth = 860, kPlotLeft = 220, kPlotRight = 130;

// A step with a time, below a roof.
struct RoofStep {
  std::string label;
  std::string details;  // for the pointer
  double seconds = 0, bytes = 0;
  double flops = 0;  // floating-point operations; 0: not known
};

// What a device computes at the most, in floating-point operations a second.
struct ComputeRoof {
  std::string label;
  double flops_per_second = 0;
};

// Both draw below `top`, and give where they end; nothing is drawn without steps.
// `bytes_per_second`: what the device moves at the most.
double draw_time_over_bytes(Svg& svg, double top, const std::vector<RoofStep>& steps,
                            double bytes_per_second);
// Operations a second over operations a byte, of the steps whose operations are known.
double draw_roofline(Svg& svg, double top, const std::vector<RoofStep>& steps,
                     double bytes_per_second, const std::vector<ComputeRoof>& roofs);

}  // namespace baton::cli
