#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/error.h"
#include "cli/output/standard_output.h"
#include "cli/output/table.h"
#include "tools/file/file_guard.h"
#include "tools/source_lines.h"

namespace baton::cli {

// The "version" of the JSON objects. It grows when a key gets another meaning.
inline constexpr int kJsonVersion = 1;

// Bold, and the colours of good, bad and doubtful news, where colours are in force.
enum class Style { kBold, kGood, kBad, kWarning, kFaint };
std::string styled(std::string_view text, Style style, bool colour);

// ", 40 %, 4.50 s left" of work of which that share took so many seconds, and on a terminal a bar
// before it. Empty where next to nothing is done.
std::string progress_text(double share, double elapsed, bool bar);

// What a terminal of so many columns shows of a message, with the text above behind it. It is one
// line, which the next one replaces: a long message loses its end.
std::string progress_line(std::string_view message, std::string_view more, std::size_t columns);

// Where a command's results go: text for people, or one JSON object. Standard output is written
// once, at the end of a command, except for what `flush` lets out earlier. With JSON nothing else
// in the process writes to standard output. Used by one thread.
class Output {
 public:
  // `command` is the name that the JSON object carries; empty where there was none.
  Output(bool json, std::string command);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool json() const { return json_; }
  // Stops all writing from now on, or resumes it. The JSON object is still filled.
  void mute(bool is_muted = true) { is_muted_ = is_muted; }
  bool is_muted() const { return is_muted_; }
  // Standard output is a terminal, and NO_COLOR does not forbid colours on it.
  bool colour() const { return terminal_.colour; }
  Terminal terminal() const { return terminal_; }
  // Warnings so far: those in the JSON object and those of the simulated GPU.
  std::size_t warnings() const { return warnings_; }

  // One line for people; dropped with --json. Where it is too long for the terminal, it is wrapped.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (shows_text()) add_lines(fmt::format(format, std::forward<Args>(args)...));
  }
  // Several lines, each with its end.
  void text(std::string_view lines) {
    if (shows_text()) text_ += lines;
  }
  // "warning: …" on standard error, and an entry of "warnings" in the JSON object.
  void warning(std::string_view message);
  // The same, written by `write_held`, and otherwise behind the error or at the end: of what an
  // error that comes next may be the cause.
  void hold_warning(std::string_view message);
  void write_held();
  // A line on standard error that the JSON object has under a key of its own. Below it, the source
  // line at `where`, if that is known.
  void diagnostic(Style style, std::string_view word, std::string_view message,
                  std::string_view where = {});
  // What goes on right now, for someone who waits: replaced by the next on a terminal; where
  // standard error is piped, a plain line now and then. Dropped with --json.
  // `share`: of the work that is done, with `elapsed` seconds since its begin; a terminal shows a
  // bar.
  void progress(std::string_view message, double share = 0, double elapsed = 0);

  // The files that the command reads and writes.
  tools::FileGuard& files() { return files_; }
  const tools::FileGuard& files() const { return files_; }

  // The JSON object, to be filled by the command; {"version", "command", "status"} at the start.
  nlohmann::ordered_json& result() { return *result_; }
  const nlohmann::ordered_json& result() const { return *result_; }

  // Where source lines come from: those below findings, and below the faults of kernels.
  void use_sources(std::shared_ptr<tools::SourceLines> sources) { sources_ = std::move(sources); }

  // "error: …" on standard error, with its notes below, and "error" in the JSON object.
  void report(const Error& error);
  // The same of the warnings, where none is allowed.
  void report_warnings();

  // Writes text so far to standard output. Throws what StandardOutput::write throws.
  void flush();
  // Writes all that is left, the JSON object included.
  void finish();

 private:
  friend class OutputPart;
  bool shows_text() const { return !json_ && !hides_text_; }
  void add_lines(std::string_view lines);
  void clear_progress();
  // The source line with a caret, and its end; empty where it is not known.
  std::string excerpt(std::string_view where);
  void write_error(std::string_view line, const std::vector<std::string>& notes);

  bool json_;
  bool is_muted_ = false;
  StandardOutput standard_output_;
  Terminal terminal_;
  bool error_colour_;
  std::size_t warnings_ = 0;
  bool hides_text_ = false;  // a part's
  std::string part_;         // its name; empty outside of parts
  bool progress_on_terminal_;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
  std::string text_;
  std::shared_ptr<tools::SourceLines> sources_;
  tools::FileGuard files_;
  std::unique_ptr<nlohmann::ordered_json> result_;
  std::vector<std::string> held_;  // warnings that are not written yet
};

// The first line of an error as the command line prints it:
// "error: WHAT (file:line:column); what to do".
std::string error_line(const Error& error);

// The error as "error" of the JSON object.
nlohmann::ordered_json error_object(const Error& error);

// The exception in flight as an Error: Baton's own as it is, one of the standard library's as what
// it means to a user. To be called in a catch block.
Error current_error();

}  // namespace baton::cli
