#include "compile/nvrtc/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text/text.h"
#include "compile/nvrtc/ptx_lines.h"
#include "image/ptx/ptxas_message.h"

namespace baton::compiler {
namespace {

using Severity = Diagnostic::Severity;

struct SeverityLabel {
  std::string_view text;
  Severity severity;
};
constexpr SeverityLabel kLabels[] = {
    {"error", Severity::kError},
    {"catastrophic error", Severity::kError},
    {"internal error", Severity::kError},
    {"warning", Severity::kWarning},
    {"fatal", Severity::kError},
    {"remark", Severity::kRemark},
    {"note", Severity::kNote},
};

// The compiler indents the source line and the caret by this much.
constexpr std::size_t kIndent = 2;

// The severity at the start of `text`, which may carry a number: "warning #177-D: ". Advances
// `text` to the message, and sets `number` to what -diag-suppress takes.
std::optional<Severity> take_severity(std::string_view& text, std::string_view& number) {
  for (const SeverityLabel& label : kLabels) {
    if (!text.starts_with(label.text)) continue;
    std::string_view rest = text.substr(label.text.size());
    if (rest.starts_with(" #")) {
      number = rest.substr(1, rest.find(':') - 1);
      rest.remove_prefix(std::min(rest.find(':'), rest.size()));
    } else if (rest.starts_with(" :")) {
      rest.remove_prefix(1);  // ptxas writes "ptxas error   :"
    }
    if (!rest.starts_with(": ")) continue;
    text = rest.substr(2);
    return label.severity;
  }
  return std::nullopt;
}

// ptxas pads the severity: "error   : message".
std::string without_padding(std::string_view text) {
  const std::size_t blank = text.find("  ");
  const std::size_t colon = blank == std::string_view::npos ? blank : text.find(':', blank);
  if (colon == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, blank)) += text.substr(colon);
}

std::optional<Diagnostic> parse_ptx_header(std::string_view line) {
  const std::optional<image::PtxasMessage> said = image::parse_ptxas_message(line);
  if (!said) return std::nullopt;
  const std::string whole = fmt::format("{}: {}", said->severity, said->message);
  std::string_view text = whole, number;
  const std::optional<Severity> severity = take_severity(text, number);
  if (!severity) return std::nullopt;
  Diagnostic found;
  found.ptx_line = said->line;
  found.severity = *severity;
  found.message = text;
  return found;
}

// "file(12): error: message"
std::optional<Diagnostic> parse_header(std::string_view line) {
  if (auto found = parse_ptx_header(line)) return found;
  for (std::size_t at = line.find("): "); at != std::string_view::npos;
       at = line.find("): ", at + 1)) {
    const std::size_t open = line.rfind('(', at);
    if (open == std::string_view::npos || open + 1 >= at) continue;
    int number = 0;
    const char* end = line.data() + at;
    const auto parsed = std::from_chars(line.data() + open + 1, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) continue;
    std::string_view rest = line.substr(at + 3);
    std::string_view code;
    const std::optional<Severity> severity = take_severity(rest, code);
    if (!severity) continue;
    Diagnostic found;
    found.severity = *severity;
    found.where = {std::string(line.substr(0, open)), number, 0};
    found.message = rest;
    if (!code.empty()) found.message += fmt::format(" [{}]", code);
    return found;
  }
  // Messages about the command line, from the assembler and about the end name no line.
  for (std::string_view tool : {"nvrtc: ", "ptxas ", "At end of source: "}) {
    if (!line.starts_with(tool)) continue;
    const std::string padded = without_padding(trim(line.substr(tool.size())));
    std::string_view text = padded;
    std::string_view code;
    const std::optional<Severity> severity = take_severity(text, code);
    if (!severity) continue;
    Diagnostic found;
    found.severity = *severity;
    found.message = text;
    return found;
  }
  return std::nullopt;
}

bool is_caret(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string_view::npos && line[at] == '^' && trim(line).size() == 1;
}

// The column in characters: bytes of UTF-8 that continue a character do not count.
int caret_column(std::string_view source_line, std::string_view caret_line) {
  const std::size_t at = caret_line.find('^');
  if (at < kIndent) return 0;
  int column = 1;
  for (std::size_t i = kIndent; i < at && i < source_line.size(); ++i) {
    if ((static_cast<unsigned char>(source_line[i]) & 0xC0) != 0x80) ++column;
  }
  return column;
}

std::string_view without_indent(std::string_view line) {
  std::size_t indent = 0;
  while (indent < kIndent && indent < line.size() && line[indent] == ' ') ++indent;
  return line.substr(indent);
}

}  // namespace

std::string_view undefined_name(std::string_view message) {
  constexpr std::string_view kBefore = "identifier \"";
  if (!message.starts_with(kBefore) || message.find("is undefined") == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = message.substr(kBefore.size());
  return rest.substr(0, rest.find('"'));
}

std::string Diagnostic::to_string() const {
  constexpr std::string_view kNames[] = {"error", "warning", "remark", "note"};
  std::string out = where.known() ? where.to_string() + ": " : "";
  out += kNames[static_cast<std::size_t>(severity)];
  out += ": " + message;
  if (!excerpt.empty()) out += "\n" + excerpt;
  for (const std::string& detail : details) out += "\n" + detail;
  return out;
}

std::vector<Diagnostic> parse_log(std::string_view log,
                                  const std::function<std::string(std::string_view)>& rename) {
  std::vector<Diagnostic> found;
  const std::vector<std::string_view> lines = split_lines(log);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::optional<Diagnostic> next = parse_header(lines[i]);
    if (!next) continue;
    if (next->where.known()) next->where.file = rename(next->where.file);
    while (i + 1 < lines.size() && !trim(lines[i + 1]).empty() && !parse_header(lines[i + 1])) {
      ++i;
      if (is_caret(lines[i]) && !next->details.empty() && next->excerpt.empty()) {
        const std::string_view source_line = lines[i - 1];
        next->where.column = caret_column(source_line, lines[i]);
        next->details.pop_back();
        next->excerpt =
            fmt::format("  {}\n  {}", without_indent(source_line), without_indent(lines[i]));
        continue;
      }
      next->details.emplace_back(lines[i]);
    }
    if (next->severity == Severity::kNote && !found.empty()) {
      found.back().details.push_back(next->to_string());
    } else {
      found.push_back(std::move(*next));
    }
  }
  return found;
}

void place_ptx_errors(std::vector<Diagnostic>& diagnostics, std::string_view ptx,
                      const std::function<std::string(std::string_view)>& rename) {
  bool placed = false;
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.ptx_line == 0) continue;
    placed = true;
    if (auto where = source_of_ptx_line(ptx, diagnostic.ptx_line)) {
      diagnostic.where = std::move(*where);
      diagnostic.where.file = rename(diagnostic.where.file);
    }
    diagnostic.details.push_back(
        fmt::format("  PTX line {}: {}", diagnostic.ptx_line, ptx_line(ptx, diagnostic.ptx_line)));
  }
  // What the assembler adds to them says nothing.
  if (!placed) return;
  std::erase_if(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.message == "Ptx assembly aborted due to errors";
  });
}

Error compile_error(const std::vector<Diagnostic>& diagnostics, std::string_view name,
                    std::string_view log) {
  std::vector<const Diagnostic*> errors;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError) errors.push_back(&diagnostic);
  }
  if (errors.empty()) {
    Error failed(ErrorCode::kCompile, fmt::format("{} does not compile", name));
    if (!trim(log).empty()) failed.note(std::string(trim(log)));
    return failed;
  }
  std::string message = errors[0]->message;
  if (errors.size() > 1) message += fmt::format(" (the first of {} errors)", errors.size());
  SourceLocation where = errors[0]->where;
  if (!where.known()) where.file = name;
  Error failed(ErrorCode::kCompile, std::move(message), std::move(where));
  for (const Diagnostic* each : errors) failed.note(each->to_string());
  return failed;
}

std::string warnings_text(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kWarning) continue;
    if (!out.empty()) out += '\n';
    out += diagnostic.to_string();
  }
  return out;
}

}  // namespace baton::compiler
