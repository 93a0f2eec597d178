#include "sim/engine/report/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace baton::sim {
namespace {

std::string quoted(const std::string& text) {
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

}  // namespace

double Trace::now() const {
  return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
}

void Trace::add(Event event) {
  if (event.row == Row::kBlocks && events_.size() >= kMostEvents) {
    ++dropped_;
    return;
  }
  events_.push_back(std::move(event));
}

void Trace::begin(const Key& key, std::string name, std::string detail) {
  std::lock_guard lock(mutex_);
  std::vector<bool>& lines = lines_[static_cast<int>(key.first)];
  const auto free = std::find(lines.begin(), lines.end(), false);
  const auto line = static_cast<std::uint32_t>(free - lines.begin());
  if (free == lines.end()) lines.push_back(false);
  lines[line] = true;
  open_[key] = {key.first, line, std::move(name), std::move(detail), now(), -1, false};
}

void Trace::moment(const Key& key, const char* name) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find(key);
  if (found == open_.end() || std::exchange(found->second.triggered, true)) return;
  add({key.first, found->second.line, name, "", now(), -1});
}

void Trace::end_wait(Open& open, double at) {
  if (open.waits_since < 0) return;
  add({open.row, open.line, "griddepcontrol.wait", "", open.waits_since, at - open.waits_since});
  open.waits_since = -1;
}

void Trace::end(const Key& key) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find(key);
  if (found == open_.end()) return;
  Open& open = found->second;
  const double at = now();
  end_wait(open, at);
  lines_[static_cast<int>(key.first)][open.line] = false;
  add({open.row, open.line, std::move(open.name), std::move(open.detail), open.since,
       at - open.since});
  open_.erase(found);
}

void Trace::begin_grid(std::uint64_t key, const std::string& kernel, const std::string& extents,
                       bool is_dependent) {
  begin({Row::kGrids, key}, kernel, extents + (is_dependent ? ", dependent" : ""));
}
void Trace::note_triggered(std::uint64_t key) {
  moment({Row::kGrids, key}, "all blocks triggered");
}
void Trace::end_grid(std::uint64_t key) {
  end({Row::kGrids, key});
}
void Trace::begin_block(const void* key, const std::string& kernel, const std::string& index) {
  begin({Row::kBlocks, number(key)}, kernel + " " + index, index);
}
void Trace::note_trigger(const void* key) {
  moment({Row::kBlocks, number(key)}, "launch_dependents");
}
void Trace::begin_wait(const void* key) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find({Row::kBlocks, number(key)});
  if (found != open_.end() && found->second.waits_since < 0) found->second.waits_since = now();
}
void Trace::end_wait(const void* key) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find({Row::kBlocks, number(key)});
  if (found != open_.end()) end_wait(found->second, now());
}
void Trace::end_block(const void* key) {
  end({Row::kBlocks, number(key)});
}

std::string Trace::json() const {
  std::lock_guard lock(mutex_);
  std::string json =
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"grids\"}},\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"blocks\"}}";
  // Numbers of lines are never those of another process's: readers may take them for the system's.
  const auto tid = [](Row row, std::uint32_t line) { return 2 * line + static_cast<int>(row); };
  for (const Row row : {Row::kGrids, Row::kBlocks}) {
    for (std::uint32_t line = 0; line < lines_[static_cast<int>(row)].size(); ++line) {
      json += fmt::format(
          ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":"
          "\"line {}\"}}}}",
          static_cast<int>(row), tid(row, line), line + 1);
    }
  }
  const auto add = [&](const Event& event, bool is_open) {
    const bool moment = event.duration < 0;
    json += fmt::format(
        ",\n{{\"ph\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},{}\"args\":{{"
        "\"detail\":{}}}}}",
        is_open  ? "B"
        : moment ? "i"
                 : "X",
        quoted(event.name), static_cast<int>(event.row), tid(event.row, event.line), event.at,
        is_open  ? std::string()
        : moment ? std::string("\"s\":\"t\",")
                 : fmt::format("\"dur\":{:.3f},", event.duration),
        quoted(event.detail));
  };
  for (const Event& event : events_) add(event, false);
  // What has not ended, as in a deadlock, goes on to the right.
  for (const auto& [key, open] : open_) {
    add({open.row, open.line, open.name, open.detail, open.since, -1}, true);
    if (open.waits_since >= 0) {
      add({open.row, open.line, "griddepcontrol.wait", "", open.waits_since, -1}, true);
    }
  }
  json += fmt::format("\n],\"otherData\":{{\"dropped\":{}}}}}\n", dropped_);
  return json;
}

}  // namespace baton::sim
