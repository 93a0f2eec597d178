#include "cli/picture/bench_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/output/format.h"
#include "cli/picture/roofline.h"
#include "cli/picture/svg.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Anchor = Svg::Anchor;

constexpr double kWidth = kPlotWidth, kLeft = kPlotLeft, kRight = kPlotRight, kRow = 26;
// Steps that are drawn; the longest ones of more.
constexpr std::size_t kMostBars = 40;

struct PlottedStep {
  std::string label;
  double value = 0;     // seconds, or instructions where nothing is timed
  std::string text;     // of the value
  std::string details;  // for the pointer
  std::optional<double> seconds;
  double bytes = 0;
  double flops = 0;  // 0: the program does not say them
};

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<double> median_of(const Json& json) {
  const auto times = json.find("times");
  return times == json.end() || !times->is_object() ? std::nullopt : number(*times, "median");
}

std::vector<PlottedStep> steps_of(const Json& result, bool timed) {
  std::vector<PlottedStep> steps;
  for (const Json& step : result.at("steps")) {
    PlottedStep plotted;
    plotted.label = step.value("label", "");
    plotted.bytes = number(step, "bytes").value_or(0);
    plotted.flops = number(step, "flops").value_or(0);
    plotted.seconds = median_of(step);
    if (timed) {
      if (!plotted.seconds) continue;
      plotted.value = *plotted.seconds;
      plotted.text = format_duration(plotted.value);
    } else {
      plotted.value = number(step, "instructions").value_or(0);
      plotted.text = format_count(static_cast<std::uint64_t>(plotted.value));
    }
    plotted.details = fmt::format("{}: {}, {} moved", plotted.label, plotted.text,
                                  format_bytes(static_cast<std::uint64_t>(plotted.bytes)));
    steps.push_back(std::move(plotted));
  }
  return steps;
}

double draw_bars(Svg& svg, double top, std::vector<PlottedStep> steps, bool timed) {
  svg.text(16, top + 16, timed ? "Time of each step (median)" : "Instructions of each step",
           Anchor::kStart, "h");
  top += 30;
  const std::size_t all = steps.size();
  if (all > kMostBars) {
    std::nth_element(steps.begin(), steps.begin() + kMostBars, steps.end(),
                     [](const PlottedStep& a, const PlottedStep& b) { return a.value > b.value; });
    steps.resize(kMostBars);
  }
  double largest = 0;
  for (const PlottedStep& step : steps) largest = std::max(largest, step.value);
  for (const PlottedStep& step : steps) {
    const double width = largest > 0 ? (kWidth - kLeft - kRight) * step.value / largest : 0;
    svg.text(kLeft - 8, top + 16, step.label, Anchor::kEnd, "t", 30);
    svg.rectangle(kLeft, top + 4, std::max(width, 1.0), kRow - 8, "bar", step.details);
    svg.text(kLeft + width + 8, top + 16, step.text, Anchor::kStart, "n");
    top += kRow;
  }
  if (all > steps.size()) {
    svg.text(kLeft, top + 16, fmt::format("and {} shorter steps", all - steps.size()),
             Anchor::kStart, "n");
    top += kRow;
  }
  return top + 16;
}

double draw_distribution(Svg& svg, double top, std::vector<double> samples) {
  if (samples.size() < 2) return top;
  std::sort(samples.begin(), samples.end());
  svg.text(16, top + 16, fmt::format("Distribution of {} whole runs", samples.size()),
           Anchor::kStart, "h");
  top += 48;  // the word of the median lies between
  constexpr double kHeight = 110;
  constexpr std::size_t kBins = 30;
  const double least = samples.front();
  const double range = std::max(samples.back() - least, 1e-12);
  std::vector<std::size_t> bins(kBins);
  for (const double seconds : samples) {
    const auto bin = static_cast<std::size_t>((seconds - least) / range * kBins);
    ++bins[std::min(bin, kBins - 1)];
  }
  const auto most = static_cast<double>(*std::max_element(bins.begin(), bins.end()));
  const double width = (kWidth - kLeft - kRight) / kBins;
  for (std::size_t k = 0; k < kBins; ++k) {
    const double height = kHeight * static_cast<double>(bins[k]) / most;
    if (bins[k] == 0) continue;
    const double from = least + range * static_cast<double>(k) / kBins;
    svg.rectangle(kLeft + width * static_cast<double>(k), top + kHeight - height, width - 1, height,
                  "bar", fmt::format("{} runs from {} on", bins[k], format_duration(from)));
  }
  svg.line(kLeft, top + kHeight, kWidth - kRight, top + kHeight, "axis");
  const double median = samples[samples.size() / 2];
  const double x = kLeft + (kWidth - kLeft - kRight) * (median - least) / range;
  svg.line(x, top - 6, x, top + kHeight, "roof");
  svg.text(x, top - 10, "median " + format_duration(median), Anchor::kMiddle, "n");
  svg.text(kLeft, top + kHeight + 16, format_duration(least), Anchor::kStart, "n");
  svg.text(kWidth - kRight, top + kHeight + 16, format_duration(samples.back()), Anchor::kEnd, "n");
  return top + kHeight + 36;
}

Svg draw(const Json& result) {
  const bool timed = std::any_of(result.at("steps").begin(), result.at("steps").end(),
                                 [](const Json& step) { return median_of(step).has_value(); });
  const std::vector<PlottedStep> steps = steps_of(result, timed);
  Svg svg(kWidth, 0);
  double top = 16;
  svg.text(16, top + 12,
           fmt::format("{} on {}", result.value("program", ""), result.value("device_name", "")),
           Anchor::kStart, "h", 100);
  top += 28;
  top = draw_bars(svg, top, steps, timed);
  std::vector<double> samples;
  if (const Json& run = result.at("run"); run.is_object()) {
    samples = run.at("samples").get<std::vector<double>>();
  }
  top = draw_distribution(svg, top, std::move(samples));
  const Json& ceiling = result.at("ceiling");
  const double rate = ceiling.is_object() ? number(ceiling, "bytes_per_second").value_or(0) : 0;
  std::vector<RoofStep> shown;
  for (const PlottedStep& step : steps) {
    if (!step.seconds || *step.seconds <= 0 || step.bytes <= 0) continue;
    shown.push_back({step.label, step.details, *step.seconds, step.bytes, step.flops});
  }
  if (rate > 0) {
    top = draw_time_over_bytes(svg, top, shown, rate);
    std::vector<ComputeRoof> roofs;
    if (const auto f32 = number(ceiling, "f32_flops_per_second")) {
      roofs.push_back({"multiply-adds of f32", *f32});
    }
    if (const auto mma = number(ceiling, "f16_mma_flops_per_second")) {
      roofs.push_back({"mma.sync of f16", *mma});
    }
    top = draw_roofline(svg, top, shown, rate, roofs);
  }
  svg.make_higher(top + 8);
  return svg;
}

}  // namespace

std::string bench_plot(const Json& result, const std::filesystem::path& file) {
  const std::string title = fmt::format("baton bench: {}", result.value("program", ""));
  const Svg svg = draw(result);
  if (file.extension() == ".html") return html_page(title, svg.element(title));
  return svg.file(title);
}

}  // namespace baton::cli
