#include "base/text/trace_events.h"

#include <fmt/core.h>

#include <utility>

namespace baton {
namespace {

// Not the number of a track, which Perfetto would call the main thread.
constexpr std::uint32_t kProcess = 0;

}  // namespace

std::string quoted_json(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string TraceEvents::launch_slot(std::uint64_t slot) {
  return fmt::format("launch slot {}", slot);
}

std::string TraceEvents::block_slot(std::uint32_t multiprocessor, std::uint64_t slot) {
  return fmt::format("SM {} slot {}", multiprocessor, slot);
}

TraceEvents::TraceEvents()
    : json_(fmt::format("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                        "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},"
                        "\"args\":{{\"name\":\"GPU\"}}}}",
                        kProcess)) {}

void TraceEvents::name_track(Track track, std::string_view name) {
  json_ += fmt::format(
      ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":{2}}}"
      "}},"
      "\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},\"args\":{{"
      "\"sort_index\":{1}}}}}",
      kProcess, track, quoted_json(name));
}

void TraceEvents::event(std::string_view phase, Track track, std::string_view category,
                        std::string_view name, double at, std::string_view members,
                        std::string_view args) {
  json_ += fmt::format(
      ",\n{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},{}"
      "\"args\":{{"
      "{}}}}}",
      phase, category, quoted_json(name), kProcess, track, at, members, args);
}

void TraceEvents::bar(Track track, std::string_view category, std::string_view name, double at,
                      double duration, std::string_view args) {
  event("X", track, category, name, at, fmt::format("\"dur\":{:.3f},", duration), args);
}

void TraceEvents::begin(Track track, std::string_view category, std::string_view name, double at,
                        std::string_view args) {
  event("B", track, category, name, at, "", args);
}

void TraceEvents::moment(Track track, std::string_view category, std::string_view name, double at,
                         std::string_view args) {
  event("i", track, category, name, at, "\"s\":\"t\",", args);
}

void TraceEvents::arrow(std::string_view category, std::string_view name, Track from,
                        double from_at, Track to, double to_at) {
  ++arrows_;
  const auto end = [&](std::string_view phase, Track track, double at) {
    json_ += fmt::format(
        ",\n{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{:."
        "3f}}"
        "}",
        phase, category, quoted_json(name), arrows_, kProcess, track, at);
  };
  end("s", from, from_at);
  end("f\",\"bp\":\"e", to, to_at);
}

void TraceEvents::counter(std::string_view name, double at, std::uint64_t value) {
  json_ += fmt::format(
      ",\n{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"ts\":{:.3f},\"args\":{{\"count\":{}}}}}",
      quoted_json(name), kProcess, at, value);
}

std::string TraceEvents::finish(std::uint64_t dropped, std::string_view more) && {
  json_ += fmt::format("\n],\"otherData\":{{\"dropped\":{}{}{}}}}}\n", dropped,
                       more.empty() ? "" : ",", more);
  return std::move(json_);
}

}  // namespace baton
