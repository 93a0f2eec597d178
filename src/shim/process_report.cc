#include "shim/process_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "base/log.h"
#include "base/text/text.h"

namespace baton::shim {
namespace {

using Line = nlohmann::ordered_json;

// Never closed by this library: lines come until the process is gone. A program may close it, as
// daemons do with all files that they do not know, and then get its number for a file of its own.
std::atomic<int> g_file{-1};
// What the file is; constant once g_file is set.
std::string* g_path = nullptr;
struct stat g_identity;

// Of a file that lacks lines; ExecReport::lost counts them.
constexpr mode_t kLostMode = 0400;

bool is_report(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && found.st_dev == g_identity.st_dev &&
         found.st_ino == g_identity.st_ino;
}

// Below 0: there is none. Takes no lock, as a process may fork meanwhile.
int report_file() {
  int file = g_file.load(std::memory_order_acquire);
  if (file < 0 || is_report(file)) return file;
  const int again = ::open(g_path->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (again >= 0 && is_report(again) && g_file.compare_exchange_strong(file, again)) return again;
  if (again >= 0) close(again);
  return file >= 0 && is_report(file) ? file : -1;
}

void tell(const Line& line) {
  if (!ProcessReport::is_open()) return;
  const std::string text = line.dump(-1, ' ', false, Line::error_handler_t::replace) + "\n";
  const int file = report_file();
  // One write appends one line, whoever else writes.
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    g_file.store(-1, std::memory_order_release);
    // Tells the parent, and needs no room on a full disk.
    chmod(g_path->c_str(), kLostMode);
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
  if (file < 0 || fstat(file, &g_identity) != 0) {
    log(LogLevel::kError, "the report {} cannot be written: findings are lost", path);
    return;
  }
  g_path = new std::string(path);
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

void ProcessReport::call(std::string_view name, std::string_view error, std::string_view where,
                         std::string_view through, unsigned long long count) {
  tell({{"event", "call"},
        {"name", name},
        {"error", error},
        {"where", where},
        {"through", through},
        {"count", count}});
}

void ProcessReport::leak(std::uint64_t count, std::string_view what) {
  tell({{"event", "leak"}, {"count", count}, {"message", what}});
}

void ProcessReport::image(std::string_view what) {
  tell({{"event", "image"}, {"what", what}});
}

}  // namespace baton::shim
