#include "cli/picture/program_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/picture/svg.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using PictureJson = nlohmann::ordered_json;
using Anchor = Svg::Anchor;

constexpr double kBoxLeft = 40, kBoxWidth = 380, kBoxHeight = 44, kBoxGap = 34;
constexpr double kPictureWidth = 920;
constexpr double kLine = 14;
// More are too many to look at.
constexpr std::size_t kMostBoxes = 120;
constexpr std::size_t kMostBarsDrawn = 4000;

// One step of the program.
struct Box {
  std::string label, where;
  std::uint64_t executions = 0;
  bool is_launch = false;
  std::optional<double> seconds;
  std::string config;
  double top = 0;
};

std::string extent_text(const PictureJson& extent) {
  std::string text;
  for (std::size_t k = 0; k < extent.size(); ++k) {
    const auto value = extent[k].get<std::uint64_t>();
    // Trailing extents of one are left out.
    const bool rest_is_one = std::all_of(extent.begin() + static_cast<std::ptrdiff_t>(k),
                                         extent.end(), [](const PictureJson& v) { return v == 1; });
    if (k > 0 && rest_is_one) break;
    text += fmt::format("{}{}", k == 0 ? "" : " x ", value);
  }
  return text;
}

std::vector<Box> boxes_of(const PictureJson& result) {
  std::vector<Box> boxes;
  std::map<std::pair<std::string, std::string>, std::size_t> by_place;
  for (const PictureJson& step : result.at("steps")) {
    std::string label = step.value("label", ""), where = step.value("where", "");
    const auto [found, fresh] = by_place.try_emplace({label, where}, boxes.size());
    if (fresh) {
      Box& box = boxes.emplace_back();
      box.label = std::move(label);
      box.where = std::move(where);
      box.is_launch = step.value("kind", "") == "launch";
      if (box.is_launch) {
        box.config = fmt::format("{} blocks of {}", extent_text(step.at("grid")),
                                 extent_text(step.at("block")));
      }
    }
    Box& box = boxes[found->second];
    box.executions += step.value("executions", std::uint64_t{0});
    if (step.at("seconds").is_number()) {
      box.seconds = box.seconds.value_or(0) + step.at("seconds").get<double>();
    }
  }
  return boxes;
}

struct EdgeLook {
  std::string_view line, text;
};
EdgeLook look_of(std::string_view verdict) {
  if (verdict == "proven") return {"good", "t tgood"};
  if (verdict == "unsafe") return {"bad", "t tbad"};
  return {"doubt", "t tdoubt"};
}

std::string summary_of(const PictureJson& edge) {
  return fmt::format("{}, {}", edge.value("verdict", ""), edge.value("decision", ""));
}

void draw_box(Svg& svg, const Box& box) {
  const std::string title = fmt::format("{} at {}", box.label, box.where);
  svg.rectangle(kBoxLeft, box.top, kBoxWidth, kBoxHeight, box.is_launch ? "box" : "side", title);
  svg.text(kBoxLeft + 12, box.top + 19, box.label, Anchor::kStart, "t h", 44);
  std::string details = box.config;
  if (box.executions != 1)
    details += fmt::format("{}{} times", details.empty() ? "" : ", ", box.executions);
  svg.text(kBoxLeft + 12, box.top + 36, details, Anchor::kStart, "n", 48);
  if (box.seconds) {
    svg.text(kBoxLeft + kBoxWidth - 10, box.top + 19, format_duration(*box.seconds), Anchor::kEnd,
             "n");
  }
}

// `loop`: how far to the right a way back goes. `label`: which of the labels beside `to` it has.
void draw_edge(Svg& svg, const PictureJson& edge, const Box& from, const Box& to, double loop,
               std::size_t label) {
  const EdgeLook look = look_of(edge.value("verdict", ""));
  const std::string title = fmt::format("{}: {}", summary_of(edge), edge.value("reason", ""));
  const double middle = kBoxLeft + kBoxWidth / 2, right = kBoxLeft + kBoxWidth;
  if (&to > &from) {
    const double begin = from.top + kBoxHeight, end = to.top;
    svg.path(fmt::format("M{0:.1f} {1:.1f}V{2:.1f}m-4 -7l4 7l4 -7", middle, begin, end), look.line,
             title);
    svg.text(middle + 12, (begin + end) / 2 + 4, summary_of(edge), Anchor::kStart, look.text);
    svg.text(right + 40, end - kBoxGap / 2 + 4, edge.value("reason", ""), Anchor::kStart, "n", 76);
    return;
  }
  // Back to an earlier launch, or to itself: the edge of a repeated group.
  const double x = right + 10 + loop;
  svg.path(fmt::format("M{0:.1f} {1:.1f}H{2:.1f}V{3:.1f}H{4:.1f}m7 -4l-7 4l7 4", right,
                       from.top + kBoxHeight - 10, x, to.top + 10, right + 1),
           look.line, title);
  // Beside the box, since the words of other edges stand beside the gaps.
  svg.text(x + 8, to.top + 14 + kLine * static_cast<double>(label),
           fmt::format("{}: {}", summary_of(edge), edge.value("reason", "")), Anchor::kStart,
           look.text, 66);
}

// A bar of the timeline, in microseconds from its begin.
struct Bar {
  std::size_t track = 0;
  double at = 0, duration = 0;
  std::string name, details;
  bool is_move = false;
};
struct Timeline {
  std::vector<std::string> tracks;
  std::vector<Bar> bars;
};

std::optional<Timeline> timeline_of_trace(const std::string& trace) {
  const PictureJson json = PictureJson::parse(trace, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Timeline timeline;
  std::map<std::uint64_t, std::size_t> track_of;
  double end = 0;
  for (const PictureJson& event : json.at("traceEvents")) {
    const std::string phase = event.value("ph", "");
    if (phase == "X") end = std::max(end, event.value("ts", 0.0) + event.value("dur", 0.0));
  }
  for (const PictureJson& event : json.at("traceEvents")) {
    if (event.value("name", "") != "thread_name") continue;
    const std::string name = event.at("args").value("name", "");
    if (name.starts_with("SM ") || name.starts_with("stuck ")) continue;
    track_of[event.at("tid").get<std::uint64_t>()] = timeline.tracks.size();
    timeline.tracks.push_back(name);
  }
  for (const PictureJson& event : json.at("traceEvents")) {
    const std::string category = event.value("cat", "");
    const bool is_move = category == "copy" || category == "fill" || category == "collective" ||
                         category == "untraced";
    if (category != "launch" && !is_move) continue;
    const auto track = track_of.find(event.at("tid").get<std::uint64_t>());
    if (track == track_of.end()) continue;
    Bar bar{track->second, event.value("ts", 0.0), 0, event.value("name", ""), "", is_move};
    bar.duration = event.contains("dur") ? event.at("dur").get<double>() : end - bar.at;
    const PictureJson& args = event.at("args");
    bar.details = fmt::format("{}{}{}: {}", bar.name, args.contains("indexes") ? ", " : "",
                              args.value("indexes", ""), format_duration(bar.duration * 1e-6));
    if (is_move && args.contains("to")) bar.details += ", to " + args.value("to", "");
    timeline.bars.push_back(std::move(bar));
  }
  return timeline;
}

Timeline timeline_of_steps(const PictureJson& result) {
  Timeline timeline;
  timeline.tracks = {"steps"};
  double at = 0;
  for (const PictureJson& step : result.at("steps")) {
    if (!step.at("seconds").is_number()) continue;
    const double duration = step.at("seconds").get<double>() * 1e6;
    const std::string label = step.value("label", "");
    timeline.bars.push_back({0, at, duration, label,
                             fmt::format("{}: {}", label, format_duration(duration * 1e-6)),
                             step.value("kind", "") != "launch"});
    at += duration;
  }
  return timeline;
}

std::string draw_timeline(const Timeline& timeline) {
  constexpr double kLeft = 130, kRight = 20, kRow = 30, kTop = 26;
  double begin = timeline.bars.front().at, end = begin;
  for (const Bar& bar : timeline.bars) {
    begin = std::min(begin, bar.at);
    end = std::max(end, bar.at + bar.duration);
  }
  const double scale = (kPictureWidth - kLeft - kRight) / std::max(end - begin, 1e-3);
  const double height = kTop + kRow * static_cast<double>(timeline.tracks.size()) + 10;
  Svg svg(kPictureWidth, height);
  constexpr int kTicks = 5;
  for (int k = 0; k <= kTicks; ++k) {
    const double at = (end - begin) * k / kTicks;
    const double x = kLeft + at * scale;
    svg.line(x, kTop - 6, x, height - 6, "axis");
    svg.text(x, 14, format_duration(at * 1e-6),
             k == 0        ? Anchor::kStart
             : k == kTicks ? Anchor::kEnd
                           : Anchor::kMiddle,
             "n");
  }
  for (std::size_t k = 0; k < timeline.tracks.size(); ++k) {
    svg.text(kLeft - 10, kTop + kRow * static_cast<double>(k) + 18, timeline.tracks[k],
             Anchor::kEnd, "n", 20);
  }
  for (std::size_t k = 0; k < std::min(timeline.bars.size(), kMostBarsDrawn); ++k) {
    const Bar& bar = timeline.bars[k];
    const double width = std::max(bar.duration * scale, 1.0);
    const double y = kTop + kRow * static_cast<double>(bar.track);
    const double x = kLeft + (bar.at - begin) * scale;
    svg.rectangle(x, y + 3, width, kRow - 8, bar.is_move ? "move" : "bar", bar.details);
    constexpr double kCharacter = 6.5;  // about as wide as one
    const auto fits = static_cast<std::size_t>(width / kCharacter);
    if (fits > 4) svg.text(x + 5, y + 18, bar.name, Anchor::kStart, "in", fits - 2);
  }
  return svg.element("timeline");
}

}  // namespace

std::string program_picture(const PictureJson& result) {
  std::vector<Box> boxes = boxes_of(result);
  if (boxes.empty()) return {};
  std::vector<const Box*> launches;
  std::string rest;
  if (boxes.size() > kMostBoxes) {
    rest = fmt::format("and {} more steps", boxes.size() - kMostBoxes);
    boxes.resize(kMostBoxes);
  }
  double top = 12;
  for (Box& box : boxes) {
    box.top = top;
    top += kBoxHeight + kBoxGap;
    if (box.is_launch) launches.push_back(&box);
  }
  Svg svg(kPictureWidth, top + (rest.empty() ? 12 - kBoxGap : 20));
  // What has no edge of its own still follows the step before it.
  for (std::size_t k = 0; k + 1 < boxes.size(); ++k) {
    if (boxes[k].is_launch && boxes[k + 1].is_launch) continue;
    const double middle = kBoxLeft + kBoxWidth / 2;
    svg.line(middle, boxes[k].top + kBoxHeight, middle, boxes[k + 1].top, "quiet");
  }
  double loop = 20;
  std::map<std::uint64_t, std::size_t> labels;
  for (const PictureJson& edge : result.at("edges")) {
    const auto from = edge.value("from", std::uint64_t{0}), to = edge.value("to", std::uint64_t{0});
    if (from >= launches.size() || to >= launches.size()) continue;
    const bool is_back = to <= from;
    draw_edge(svg, edge, *launches[from], *launches[to], loop, is_back ? labels[to]++ : 0);
    if (is_back) loop = loop > 60 ? 20 : loop + 10;
  }
  for (const Box& box : boxes) draw_box(svg, box);
  if (!rest.empty()) svg.text(kBoxLeft, top + 8, rest, Anchor::kStart, "n");
  return svg.element("the program: steps and edges");
}

std::string timeline_picture(const PictureJson& result, const std::string& trace) {
  std::optional<Timeline> timeline;
  if (!trace.empty()) timeline = timeline_of_trace(trace);
  if (!timeline) timeline = timeline_of_steps(result);
  return timeline->bars.empty() ? "" : draw_timeline(*timeline);
}

}  // namespace baton::cli
