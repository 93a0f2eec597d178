#include "cli/picture/tune_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/output/format.h"
#include "cli/picture/roofline.h"
#include "cli/picture/svg.h"
#include "cli/report/tune_report.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Anchor = Svg::Anchor;

constexpr double kVariantRow = 26;
// Variants that are drawn, the first ones of more.
constexpr std::size_t kMostVariants = 200;

struct PlottedVariant {
  std::string label, text;
  double cost = 0;  // 0: it was refused
  bool is_best = false;
};

std::vector<PlottedVariant> variants_of(const Json& result, bool is_time) {
  const double untuned = result.at("untuned").get<double>();
  std::vector<PlottedVariant> all = {{"untuned", tune_cost_text(untuned, is_time), untuned}};
  for (const Json& trial : result.at("trials")) {
    PlottedVariant variant;
    variant.label = trial.at("text").get<std::string>();
    variant.is_best = trial.at("best").get<bool>();
    if (trial.at("cost").is_number()) {
      variant.cost = trial.at("cost").get<double>();
      variant.text = tune_cost_text(variant.cost, is_time);
      if (untuned > 0)
        variant.text += fmt::format(", {:+.1f} %", 100 * (variant.cost / untuned - 1));
    } else {
      variant.text = "refused: " + trial.value("refused", "");
    }
    all.push_back(std::move(variant));
  }
  return all;
}

Svg draw_variants(const Json& result) {
  const bool is_time = result.value("cost", "") == "seconds";
  std::vector<PlottedVariant> variants = variants_of(result, is_time);
  const std::size_t left_out = variants.size() - std::min(variants.size(), kMostVariants);
  variants.resize(variants.size() - left_out);
  Svg svg(kPlotWidth, 0);
  double top = 16;
  svg.text(16, top + 12,
           fmt::format("{} on {}", result.value("program", ""), result.value("device_name", "")),
           Anchor::kStart, "h", 100);
  top += 28;
  svg.text(16, top + 16,
           is_time ? "Time of each variant (median)" : "Warp instructions of each variant",
           Anchor::kStart, "h");
  top += 30;
  double largest = 0;
  for (const PlottedVariant& variant : variants) largest = std::max(largest, variant.cost);
  const double scale = largest > 0 ? (kPlotWidth - kPlotLeft - kPlotRight) / largest : 0;
  const double first = top;
  for (const PlottedVariant& variant : variants) {
    svg.text(kPlotLeft - 8, top + 16, variant.label, Anchor::kEnd, "t", 30);
    const double width = variant.cost * scale;
    if (variant.cost > 0) {
      svg.rectangle(kPlotLeft, top + 4, std::max(width, 1.0), kVariantRow - 8, "bar",
                    variant.label + ": " + variant.text);
    }
    svg.text(kPlotLeft + width + 8, top + 16,
             variant.text + (variant.is_best ? ", the best so far" : ""), Anchor::kStart, "n", 90);
    top += kVariantRow;
  }
  const double untuned = kPlotLeft + variants.front().cost * scale;
  svg.line(untuned, first, untuned, top, "roof");
  if (left_out != 0) {
    svg.text(kPlotLeft, top + 16, fmt::format("and {} more variants", left_out), Anchor::kStart,
             "n");
    top += kVariantRow;
  }
  svg.make_higher(top + 16);
  return svg;
}

}  // namespace

std::string tune_plot(const Json& result, const std::filesystem::path& file) {
  const std::string title = fmt::format("baton tune: {}", result.value("program", ""));
  const Svg svg = draw_variants(result);
  if (file.extension() == ".html") return html_page(title, svg.element(title));
  return svg.file(title);
}

}  // namespace baton::cli
