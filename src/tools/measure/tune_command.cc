#include "tools/measure/tune_command.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/file/file_descriptor.h"
#include "base/text/text.h"
#include "tools/process/child_process.h"

namespace baton::tools {
namespace {

// Of its output that are read: the cost comes last.
constexpr off_t kMostOutput = 64 << 10;

std::string end_of(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kMostOutput);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

std::string last_line(std::string_view text) {
  text = trim(text);
  const std::size_t end = text.find_last_of('\n');
  return std::string(trim(end == std::string_view::npos ? text : text.substr(end + 1)));
}

}  // namespace

double run_tune_command(const TuneCommandLine& command, const std::vector<BoundSymbol>& symbols,
                        const std::atomic<bool>& stop) {
  Environment environment = current_environment();
  for (const BoundSymbol& symbol : symbols) {
    environment["TUNE_" + symbol.name] = std::to_string(symbol.value);
  }
  const FileDescriptor output(memfd_create("baton tune", MFD_CLOEXEC));
  if (output.number() < 0) {
    throw error(ErrorCode::kInternal, "there is no memory for the output of \"{}\"", command.text);
  }
  const ProcessEnd end = run_process({"/bin/sh", "-c", command.text}, environment, command.limit,
                                     stop, output.number());
  if (stop) throw error(ErrorCode::kInterrupted, "the search was interrupted");
  if (end.timed_out) {
    throw error(ErrorCode::kTimeout, "the command took longer than its limit of {}: {}",
                format_duration(command.limit->count()), printable(command.text));
  }
  if (end.exit_status() != 0) {
    throw error(ErrorCode::kInvalidInput, "the command ended with status {}: {}", end.exit_status(),
                printable(command.text));
  }
  const std::string line = last_line(end_of(output.number()));
  double seconds = 0;
  const auto [rest, failure] = std::from_chars(line.data(), line.data() + line.size(), seconds);
  if (failure == std::errc() && rest == line.data() + line.size() && std::isfinite(seconds) &&
      seconds > 0) {
    return seconds;
  }
  throw error(ErrorCode::kInvalidInput,
              "the last line of the command's output is \"{}\", it must be the seconds of a run, "
              "above 0: {}",
              printable(line), printable(command.text));
}

}  // namespace baton::tools
