#include "cli/picture/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/output/format.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Anchor = Svg::Anchor;

constexpr double kChartHeight = 260;

// "100 kB": axes have powers of ten.
std::string axis_number(double number, std::string_view unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; number >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) number /= 1000;
  return fmt::format("{:.3g} {}{}", number, kPrefixes[prefix], unit);
}

// The numbers of an axis, which is logarithmic.
class Range {
 public:
  void add(double number) {
    low_ = std::min(low_, std::log10(number) - kMargin);
    high_ = std::max(high_, std::log10(number) + kMargin);
  }
  double low() const { return std::pow(10, low_); }
  double high() const { return std::pow(10, high_); }
  // From 0 to 1.
  double place(double number) const { return (std::log10(number) - low_) / (high_ - low_); }
  void for_each_power(const std::function<void(double)>& visit) const {
    for (double power = std::ceil(low_); power <= high_; ++power) visit(std::pow(10, power));
  }

 private:
  static constexpr double kMargin = 0.3;
  double low_ = INFINITY, high_ = -INFINITY;
};

// A chart with two logarithmic axes: a line y = factor * x is straight.
class Chart {
 public:
  Chart(Svg& svg, double top, Range x, Range y) : svg_(svg), top_(top), x_(x), y_(y) {}

  double x(double number) const {
    return kPlotLeft + (kPlotWidth - kPlotLeft - kPlotRight) * x_.place(number);
  }
  double y(double number) const { return top_ + kChartHeight * (1 - y_.place(number)); }

  void axes(const std::function<std::string(double)>& x_text,
            const std::function<std::string(double)>& y_text) {
    const double bottom = top_ + kChartHeight;
    svg_.line(kPlotLeft, bottom, kPlotWidth - kPlotRight, bottom, "axis");
    svg_.line(kPlotLeft, top_, kPlotLeft, bottom, "axis");
    x_.for_each_power([&](double number) {
      svg_.line(x(number), bottom, x(number), bottom + 4, "axis");
      svg_.text(x(number), bottom + 18, x_text(number), Anchor::kMiddle, "n");
    });
    y_.for_each_power([&](double number) {
      svg_.line(kPlotLeft - 4, y(number), kPlotLeft, y(number), "axis");
      svg_.text(kPlotLeft - 8, y(number) + 4, y_text(number), Anchor::kEnd, "n");
    });
  }
  // y = factor * x from one x to another, as far as it is inside of the axes.
  void slope(double factor, double from, double to) {
    from = std::max({from, x_.low(), y_.low() / factor});
    to = std::min({to, x_.high(), y_.high() / factor});
    if (from < to) svg_.line(x(from), y(factor * from), x(to), y(factor * to), "roof");
  }
  void level(double from, double value) {
    from = std::max(from, x_.low());
    if (from < x_.high()) svg_.line(x(from), y(value), x(x_.high()), y(value), "roof");
  }
  void point(double at_x, double at_y, const std::string& details, const std::string& label) {
    svg_.circle(x(at_x), y(at_y), 5, "bar", details);
    svg_.text(x(at_x) + 9, y(at_y) + 4, label, Anchor::kStart, "n", 20);
  }

 private:
  Svg& svg_;
  double top_;
  Range x_, y_;
};

}  // namespace

double draw_time_over_bytes(Svg& svg, double top, const std::vector<RoofStep>& steps,
                            double bytes_per_second) {
  if (steps.empty()) return top;
  svg.text(16, top + 16,
           fmt::format("Time over bytes moved, and the roof: {} of the copy kernel",
                       format_rate(bytes_per_second)),
           Anchor::kStart, "h", 100);
  top += 34;
  Range bytes, seconds;
  for (const RoofStep& step : steps) {
    bytes.add(step.bytes);
    seconds.add(step.seconds);
    seconds.add(step.bytes / bytes_per_second);
  }
  Chart chart(svg, top, bytes, seconds);
  chart.axes([](double number) { return axis_number(number, "B"); }, format_duration);
  chart.slope(1 / bytes_per_second, 0, INFINITY);
  for (const RoofStep& step : steps) {
    chart.point(step.bytes, step.seconds,
                fmt::format("{}, {:.0f} % of the ceiling", step.details,
                            100 * step.bytes / step.seconds / bytes_per_second),
                step.label);
  }
  svg.text(kPlotLeft, top + kChartHeight + 36,
           "a step on the dashed line moves its bytes as fast as the copy kernel; below it, they "
           "stay in caches",
           Anchor::kStart, "n", 120);
  return top + kChartHeight + 52;
}

double draw_roofline(Svg& svg, double top, const std::vector<RoofStep>& steps,
                     double bytes_per_second, const std::vector<ComputeRoof>& roofs) {
  std::vector<const RoofStep*> shown;
  for (const RoofStep& step : steps) {
    if (step.flops > 0) shown.push_back(&step);
  }
  if (shown.empty() || roofs.empty()) return top;
  svg.text(16, top + 16, "Roofline: floating-point operations per second over operations per byte",
           Anchor::kStart, "h", 100);
  top += 34;
  Range intensity, rates;
  for (const RoofStep* step : shown) {
    intensity.add(step->flops / step->bytes);
    rates.add(step->flops / step->seconds);
  }
  for (const ComputeRoof& roof : roofs) {
    // Where the roofs of memory and computation meet.
    intensity.add(roof.flops_per_second / bytes_per_second);
    rates.add(roof.flops_per_second);
  }
  Chart chart(svg, top, intensity, rates);
  chart.axes([](double number) { return fmt::format("{:.3g}", number); },
             [](double number) { return axis_number(number, "FLOP/s"); });
  double highest = 0;
  for (const ComputeRoof& roof : roofs) {
    highest = std::max(highest, roof.flops_per_second);
    chart.level(roof.flops_per_second / bytes_per_second, roof.flops_per_second);
    svg.text(kPlotWidth - kPlotRight + 6, chart.y(roof.flops_per_second) + 4, roof.label,
             Anchor::kStart, "n", 24);
  }
  chart.slope(bytes_per_second, 0, highest / bytes_per_second);
  for (const RoofStep* step : shown) {
    const double rate = step->flops / step->seconds;
    chart.point(step->flops / step->bytes, rate,
                fmt::format("{}, {}, {:.3g} FLOP/B", step->details, format_rate(rate, "FLOP/s"),
                            step->flops / step->bytes),
                step->label);
  }
  svg.text(
      kPlotLeft, top + kChartHeight + 36,
      "FLOP/B; the dashed lines are the bandwidth of the copy kernel, and the rates of kernels "
      "that only compute",
      Anchor::kStart, "n", 120);
  return top + kChartHeight + 52;
}

}  // namespace baton::cli
