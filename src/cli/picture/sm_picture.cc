#include "cli/picture/sm_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "cli/picture/svg.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using SmJson = nlohmann::ordered_json;

// More are too many for a page: what comes later is left out.
constexpr std::size_t kMostSmBars = 8000;
constexpr std::size_t kColours = 4;

// What a launch does on one multiprocessor, in microseconds.
struct Stay {
  std::uint64_t multiprocessor = 0, step = 0;
  std::string name;
  std::uint64_t blocks = 0;
  double begin = 1e300, end = 0;
  double wait_begin = 1e300, wait_end = 0;

  bool waits() const { return wait_end > wait_begin; }
};

struct Stays {
  std::vector<Stay> all;         // by their begin
  std::set<std::uint64_t> rows;  // multiprocessors that had a block
};

Stays stays_of(const SmJson& events) {
  Stays out;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Stay> by_place;
  for (const SmJson& event : events) {
    const std::string category = event.value("cat", "");
    const bool is_block = category == "block";
    if (event.value("ph", "") != "X" || (!is_block && category != "wait")) continue;
    const auto step = event.at("args").value("step", std::uint64_t{0});
    const auto multiprocessor = event.at("args").at("sm").get<std::uint64_t>();
    out.rows.insert(multiprocessor);
    Stay& stay = by_place[{multiprocessor, step}];
    const double begin = event.at("ts").get<double>();
    const double end = begin + event.at("dur").get<double>();
    if (is_block) {
      stay.multiprocessor = multiprocessor;
      stay.step = step;
      stay.name = event.value("name", "");
      ++stay.blocks;
      stay.begin = std::min(stay.begin, begin);
      stay.end = std::max(stay.end, end);
    } else {
      stay.wait_begin = std::min(stay.wait_begin, begin);
      stay.wait_end = std::max(stay.wait_end, end);
    }
  }
  for (auto& [place, stay] : by_place) {
    if (stay.blocks != 0) out.all.push_back(std::move(stay));
  }
  std::ranges::stable_sort(out.all, {}, &Stay::begin);
  if (out.all.size() > kMostSmBars) out.all.resize(kMostSmBars);
  return out;
}

std::string title_of(const Stay& stay) {
  std::string title =
      fmt::format("{} on SM {}: {} block{}, {}", stay.name, stay.multiprocessor, stay.blocks,
                  stay.blocks == 1 ? "" : "s", format_duration((stay.end - stay.begin) * 1e-6));
  if (stay.waits()) {
    title += fmt::format(", of which it waits {}",
                         format_duration((stay.wait_end - stay.wait_begin) * 1e-6));
  }
  return title;
}

}  // namespace

std::string sm_picture(const std::string& trace) {
  const SmJson json = SmJson::parse(trace, nullptr, false);
  if (!json.is_object()) return {};
  const Stays stays = stays_of(json.at("traceEvents"));
  if (stays.all.empty()) return {};
  constexpr double kWidth = 920, kLeft = 60, kTop = 24, kBar = 6, kRow = 8;
  double end = 0;
  for (const Stay& stay : stays.all) end = std::max(end, stay.end);
  const double begin = stays.all.front().begin;
  const double scale = (kWidth - kLeft - 20) / std::max(end - begin, 1e-3);
  Svg svg(kWidth, kTop + kRow * static_cast<double>(stays.rows.size()) + 10);
  svg.text(kLeft, 14, format_duration(0), Svg::Anchor::kStart, "n");
  svg.text(kWidth - 20, 14, format_duration((end - begin) * 1e-6), Svg::Anchor::kEnd, "n");
  std::map<std::uint64_t, double> tops;
  constexpr std::size_t kNamed = 8;  // one row in so many has its name
  for (const std::uint64_t multiprocessor : stays.rows) {
    const std::size_t row = tops.size();
    const double top = kTop + kRow * static_cast<double>(row);
    tops[multiprocessor] = top;
    if (row % kNamed == 0) {
      svg.text(kLeft - 8, top + 8, fmt::format("SM {}", multiprocessor), Svg::Anchor::kEnd, "n");
    }
  }
  for (const Stay& stay : stays.all) {
    const auto place = [&](double at) { return kLeft + (at - begin) * scale; };
    const double top = tops[stay.multiprocessor];
    const std::string title = title_of(stay);
    svg.rectangle(place(stay.begin), top, std::max((stay.end - stay.begin) * scale, 0.5), kBar,
                  fmt::format("k{}", stay.step % kColours), title);
    if (!stay.waits()) continue;
    svg.rectangle(place(stay.wait_begin), top + 1, (stay.wait_end - stay.wait_begin) * scale,
                  kBar - 2, "wait", title);
  }
  return svg.element("blocks by multiprocessors");
}

}  // namespace baton::cli
