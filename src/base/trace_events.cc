#include "base/trace_events.h"

#include <fmt/core.h>

#include <utility>

namespace baton {

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

TraceEvents::TraceEvents() : json_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n") {}

void TraceEvents::separate() {
  if (!is_empty_) json_ += ",\n";
  is_empty_ = false;
}

void TraceEvents::name_process(std::uint32_t process, std::string_view name) {
  separate();
  json_ += fmt::format(
      "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"args\":{{\"name\":{1}}}}},\n"
      "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},\"args\":{{\"sort_index\":{0}}}}"
      "}",
      process, quoted_json(name));
}

void TraceEvents::name_track(const Track& track, std::string_view name, std::uint64_t order) {
  separate();
  json_ += fmt::format(
      "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":{2}}}}},"
      "\n{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},\"args\":{{"
      "\"sort_index\":{3}}}}}",
      track.process, track.thread, quoted_json(name), order);
}

void TraceEvents::event(std::string_view phase, const Track& track, std::string_view category,
                        std::string_view name, double at, std::string_view members,
                        std::string_view args) {
  separate();
  json_ += fmt::format(
      "{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},{}\"args\":{{"
      "{}}}}}",
      phase, category, quoted_json(name), track.process, track.thread, at, members, args);
}

void TraceEvents::bar(const Track& track, std::string_view category, std::string_view name,
                      double at, double duration, std::string_view args) {
  event("X", track, category, name, at, fmt::format("\"dur\":{:.3f},", duration), args);
}

void TraceEvents::begin(const Track& track, std::string_view category, std::string_view name,
                        double at, std::string_view args) {
  event("B", track, category, name, at, "", args);
}

void TraceEvents::moment(const Track& track, std::string_view category, std::string_view name,
                         double at, std::string_view args) {
  event("i", track, category, name, at, "\"s\":\"t\",", args);
}

void TraceEvents::arrow(std::string_view category, std::string_view name, const Track& from,
                        double from_at, const Track& to, double to_at) {
  ++arrows_;
  const auto end = [&](std::string_view phase, const Track& track, double at) {
    separate();
    json_ += fmt::format(
        "{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":{},\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f}}"
        "}",
        phase, category, quoted_json(name), arrows_, track.process, track.thread, at);
  };
  end("s", from, from_at);
  end("f\",\"bp\":\"e", to, to_at);
}

void TraceEvents::counter(std::uint32_t process, std::string_view name, double at,
                          std::uint64_t value) {
  separate();
  json_ +=
      fmt::format("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"ts\":{:.3f},\"args\":{{\"count\":{}}}}}",
                  quoted_json(name), process, at, value);
}

std::string TraceEvents::finish(std::uint64_t dropped, std::string_view more) && {
  json_ += fmt::format("\n],\"otherData\":{{\"dropped\":{}{}{}}}}}\n", dropped,
                       more.empty() ? "" : ",", more);
  return std::move(json_);
}

}  // namespace baton
