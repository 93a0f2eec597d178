#include "shim/process_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "base/log.h"
#include "base/text/text.h"

namespace baton::shim {
namespace {

using Line = nlohmann::ordered_json;

// Never closed: lines come until the process is gone.
std::atomic<int> g_file{-1};

void tell(const Line& line) {
  const int file = g_file.load(std::memory_order_acquire);
  if (file < 0) return;
  const std::string text = line.dump(-1, ' ', false, Line::error_handler_t::replace) + "\n";
  // One write appends one line, whoever else writes. A full disk is the parent's to notice: the
  // file then lacks its end.
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    g_file.store(-1, std::memory_order_release);
    log(LogLevel::kError,
        "the report of `baton exec` cannot be written: findings from here on are lost");
  }
}

std::string program() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).string();
}

}  // namespace

void ProcessReport::append_to(const std::filesystem::path& folder) {
  if (is_open()) return;
  const std::string path = (folder / (std::to_string(getpid()) + ".jsonl")).string();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    log(LogLevel::kError, "the report {} cannot be written: findings are lost", path);
    return;
  }
  g_file.store(file, std::memory_order_release);
}

void ProcessReport::open(const std::filesystem::path& folder) {
  append_to(folder);
  tell({{"event", "process"}, {"pid", getpid()}, {"program", program()}});
}

bool ProcessReport::is_open() {
  return g_file.load(std::memory_order_acquire) >= 0;
}

void ProcessReport::finding(const driver::Finding& finding) {
  tell({{"event", "finding"},
        {"error", driver::is_error(finding.kind)},
        {"kind", driver::to_string(finding.kind)},
        {"kernel", finding.kernel},
        {"block", finding.block},
        {"thread", finding.thread},
        {"where", finding.where},
        {"message", finding.message},
        {"count", finding.count}});
}

void ProcessReport::findings(std::span<const driver::Finding> findings) {
  for (const driver::Finding& each : findings) finding(each);
}

void ProcessReport::missing(std::string_view name, unsigned long long count) {
  tell({{"event", "missing"}, {"name", name}, {"count", count}});
}

void ProcessReport::leak(std::uint64_t count, std::string_view what) {
  tell({{"event", "leak"}, {"count", count}, {"message", what}});
}

void ProcessReport::image(std::string_view what) {
  tell({{"event", "image"}, {"what", what}});
}

}  // namespace baton::shim
