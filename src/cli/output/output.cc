#include "cli/output/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "cli/output/counted.h"
#include "cli/output/wrap.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"

namespace baton::cli {
namespace {

// Short work says nothing off a terminal.
constexpr std::chrono::seconds kPipedProgressInterval{10};

// A run may find very many errors: source lines are shown among so many lines.
constexpr std::size_t kMostExcerptLines = 20;

// https://no-color.org: any value that is not empty forbids colours.
bool wants_colour(int descriptor) {
  return isatty(descriptor) != 0 && !read_environment("NO_COLOR") &&
         read_environment("TERM").value_or("dumb") != "dumb";
}

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.colour = wants_colour(descriptor);
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  return terminal;
}

// Where the "; what to do" of a message begins, outside of quotes and parentheses, or its end.
std::size_t advice_begin(std::string_view message) {
  bool quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (message[i] == '(') ++depth;
    if (message[i] == ')') --depth;
    if (depth <= 0 && message.substr(i, 2) == "; ") return i;
  }
  return message.size();
}

void write_error_stream(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Output::Output(bool json, std::string command)
    : json_(json),
      standard_output_(json),
      terminal_(json ? Terminal() : terminal_of(STDOUT_FILENO)),
      error_colour_(wants_colour(STDERR_FILENO)),
      progress_on_terminal_(isatty(STDERR_FILENO) != 0),
      result_(std::make_unique<nlohmann::ordered_json>()) {
  (*result_)["version"] = kJsonVersion;
  (*result_)["command"] = nullptr;
  if (!command.empty()) (*result_)["command"] = std::move(command);
  (*result_)["status"] = nullptr;
}

Output::~Output() = default;

void Output::add_lines(std::string_view lines) {
  for (std::size_t begin = 0; begin <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text_ += wrapped_line(lines.substr(begin, end - begin), terminal_.width) + '\n';
    begin = end + 1;
  }
}

void Output::warning(std::string_view message) {
  const std::string named = part_.empty() ? "" : fmt::format("{}: {}", part_, message);
  diagnostic(Style::kWarning, "warning", part_.empty() ? message : named);
  result()["warnings"].push_back(message);
}

void Output::hold_warning(std::string_view message) {
  // Several files are told of one after another.
  if (!part_.empty()) return warning(message);
  ++warnings_;
  held_.emplace_back(message);
  result()["warnings"].push_back(message);
}

void Output::write_held() {
  for (const std::string& message : std::exchange(held_, {})) {
    --warnings_;  // it is counted again
    diagnostic(Style::kWarning, "warning", message);
  }
}

std::string Output::excerpt(std::string_view where) {
  if (sources_ == nullptr || where.empty()) return {};
  const std::string lines = sources_->excerpt(where);
  return lines.empty() ? "" : lines + '\n';
}

void Output::diagnostic(Style style, std::string_view word, std::string_view message,
                        std::string_view where) {
  if (style == Style::kWarning) ++warnings_;
  if (is_muted_) return;
  clear_progress();
  // It comes after what was found out before it.
  flush();
  write_error_stream(
      fmt::format("{}: {}\n{}", styled(word, style, error_colour_), message, excerpt(where)));
}

std::string progress_text(double share, double elapsed, bool bar) {
  // Of less nothing can be said about the rest.
  constexpr double kLeastShare = 0.01, kLeastSeconds = 0.5;
  constexpr int kBarWidth = 20;
  if (!(share >= kLeastShare)) return {};
  share = std::min(share, 1.0);
  std::string text;
  if (bar) {
    const int done = static_cast<int>(share * kBarWidth);
    text = fmt::format("  [{:#<{}}{:.<{}}]", "", done, "", kBarWidth - done);
  }
  text += fmt::format("{} {:.0f} %", bar ? "" : ",", 100 * share);
  if (elapsed < kLeastSeconds || share == 1) return text;
  return text + fmt::format(", {} left", format_duration(elapsed / share - elapsed));
}

std::string progress_line(std::string_view message, std::string_view more, std::size_t columns) {
  constexpr std::string_view kEnd = " ...";
  const std::size_t rest = width_of(more) + kEnd.size();
  // The last column stays free: some terminals go on to the next line behind it.
  const bool is_long = width_of(message) + rest >= columns;
  if (is_long)
    message = message.substr(0, bytes_of(message, columns - std::min(columns, rest + 1)));
  return fmt::format("{}{}{}", message, more, kEnd);
}

void Output::progress(std::string_view message, double share, double elapsed) {
  if (json_ || is_muted_) return;
  clear_progress();
  const std::string more = progress_text(share, elapsed, progress_on_terminal_);
  if (progress_on_terminal_) {
    const std::size_t columns = terminal_of(STDERR_FILENO).width;
    write_error_stream(progress_line(message, more, columns));
    progress_shown_ = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < kPipedProgressInterval) return;
  last_progress_ = now;
  write_error_stream(fmt::format("{}{}\n", message, more));
}

void Output::clear_progress() {
  if (progress_shown_) write_error_stream("\r\x1b[K");
  progress_shown_ = false;
}

void Output::write_error(std::string_view line, const std::vector<std::string>& notes) {
  if (is_muted_) return;
  clear_progress();
  // The error comes after what was found out before it.
  try {
    flush();
  } catch (const Error&) {
    // The error at hand is the one to tell.
  }
  constexpr std::string_view kWord = "error";
  std::string text = styled(kWord, Style::kBad, error_colour_);
  text += line.substr(kWord.size());
  text += '\n';
  for (const std::string& note : notes) text += note + '\n';
  write_error_stream(text);
}

void Output::report(const Error& error) {
  result()["error"] = error_object(error);
  // Compilers and parsers have shown the line themselves.
  const bool is_of_a_run = error.code() == ErrorCode::kFault || error.code() == ErrorCode::kTimeout;
  std::vector<std::string> lines;
  const auto add_excerpt = [&](std::string_view where) {
    if (!is_of_a_run || lines.size() > kMostExcerptLines) return;
    std::string shown = excerpt(where);
    if (shown.empty()) return;
    shown.pop_back();
    lines.push_back(std::move(shown));
  };
  if (error.where().known()) add_excerpt(error.where().to_string());
  for (const std::string& note : error.notes()) {
    lines.push_back(tools::with_readable_names(note));
    add_excerpt(std::string_view(note).substr(0, note.find(": ")));
  }
  write_error(error_line(error), lines);
  write_held();
}

void Output::report_warnings() {
  write_held();
  const std::string what = counted(warnings_, "warning") + ", and --strict allows none";
  write_error("error: " + what, {});
  result()["error"] = {{"code", "warnings"}, {"what", what}, {"where", nullptr}};
}

void Output::flush() {
  if (is_muted_) return;
  clear_progress();
  standard_output_.write(std::exchange(text_, {}));
}

void Output::finish() {
  write_held();
  result()["status"] = result().contains("error") ? "failed" : warnings_ > 0 ? "warnings" : "ok";
  // Names and paths may hold bytes that are not UTF-8; JSON cannot.
  if (json_) {
    text_ = result().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  }
  flush();
}

std::string error_line(const Error& error) {
  // Names and paths in it may hold anything, line ends included.
  const auto one_line = [](std::string_view text) {
    return printable(text, std::string_view::npos);
  };
  const std::string message = one_line(tools::with_readable_names(error.message()));
  if (!error.where().known()) return "error: " + message;
  const std::size_t cut = advice_begin(message);
  return fmt::format("error: {} ({}){}", message.substr(0, cut),
                     one_line(error.where().to_string()), message.substr(cut));
}

nlohmann::ordered_json error_object(const Error& error) {
  nlohmann::ordered_json entry;
  entry["code"] = to_string(error.code());
  entry["what"] = tools::with_readable_names(error.message());
  entry["where"] = nullptr;
  if (error.where().known()) entry["where"] = error.where().to_string();
  for (const std::string& note : error.notes()) {
    entry["notes"].push_back(tools::with_readable_names(note));
  }
  return entry;
}

Error current_error() {
  try {
    throw;
  } catch (const Error& known) {
    return known;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kOutOfMemory,
                 "the host's memory ran out; take smaller buffers or a larger machine");
  } catch (const std::filesystem::filesystem_error& failure) {
    const std::string path = failure.path1().empty() ? "" : failure.path1().string() + ": ";
    return Error(ErrorCode::kInvalidInput, path + failure.code().message());
  } catch (const std::exception& unexpected) {
    return error(ErrorCode::kInternal, "this is a bug in Baton, please report it: {}",
                 printable(unexpected.what()));
  } catch (...) {
    return Error(ErrorCode::kInternal, "this is a bug in Baton, please report it");
  }
}

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour) return std::string(text);
  int code = 1;
  switch (style) {
    case Style::kBold:
      code = 1;
      break;
    case Style::kGood:
      code = 32;
      break;
    case Style::kBad:
      code = 31;
      break;
    case Style::kWarning:
      code = 33;
      break;
    case Style::kFaint:
      code = 2;
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace baton::cli
