#include "compile/entries.h"

#include <algorithm>

#include "base/error.h"
#include "compile/source/words.h"
#include "image/kernel_index.h"

namespace baton::compiler {
namespace {

// The file in which NVRTC reports errors about name expressions.
constexpr std::string_view kNameMap = "__nv_name_map";

// The name expression that an error is about: the compiler quotes the line it made of it.
std::string_view expression_of(const Diagnostic& diagnostic) {
  constexpr std::string_view kPragma = "#pragma nv_mangled_name ";
  const std::string_view line =
      std::string_view(diagnostic.excerpt).substr(0, diagnostic.excerpt.find('\n'));
  const std::size_t at = line.find(kPragma);
  return at == std::string_view::npos ? "" : line.substr(at + kPragma.size());
}

// What the compiler says of the entry, or nothing.
std::string_view message_of(std::string_view entry, const Attempt& failed) {
  for (const Diagnostic& diagnostic : failed.diagnostics) {
    if (expression_of(diagnostic) == entry) return diagnostic.message;
  }
  return {};
}

[[noreturn]] void throw_unknown_entry(std::string_view entry, const Error& not_found,
                                      const std::string& source, const Attempt& failed) {
  const std::string_view message = message_of(entry, failed);
  const std::string_view name = undefined_name(message);
  const std::string_view arguments = entry.substr(std::min(entry.find('<'), entry.size()));
  // The kernel is there, and what it is to be made with is not.
  if (contains_word(arguments, name)) {
    throw error(ErrorCode::kNotFound,
                "{}: the entry \"{}\" names \"{}\", which is not declared: {}", source, entry, name,
                message);
  }
  Error out = not_found;
  out.note("a kernel that is a template is named with its arguments: name<float>");
  if (!message.empty()) out.note(fmt::format("the compiler says: {}", message));
  throw out;
}

}  // namespace

bool is_about_entry(const Diagnostic& diagnostic) {
  return diagnostic.where.file == kNameMap;
}

std::vector<std::string> templates_among(const Attempt& failed,
                                         const std::vector<std::string>& entries) {
  std::vector<std::string> found;
  for (const std::string& entry : entries) {
    const bool is_template =
        message_of(entry, failed).starts_with("cannot determine which instance");
    if (is_template) found.push_back(entry);
  }
  return found;
}

std::unordered_set<std::string_view> unknown_entries(const Attempt& failed,
                                                     const std::vector<std::string>& entries) {
  const std::unordered_set<std::string_view> asked(entries.begin(), entries.end());
  std::unordered_set<std::string_view> unknown;
  for (const Diagnostic& diagnostic : failed.diagnostics) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    if (!is_about_entry(diagnostic)) return {};
    const auto found = asked.find(expression_of(diagnostic));
    if (found != asked.end()) unknown.insert(*found);
  }
  return unknown;
}

void find_in_image(const Request& request, const std::unordered_set<std::string_view>& unknown,
                   const Attempt& failed, Attempt& made) {
  const ImageFacts facts =
      read_facts(Image::from_bytes(made.ptx, "the PTX of " + request.source.name));
  const image::KernelIndex index(facts);
  for (const std::string& entry : request.options.entries) {
    if (!unknown.contains(entry)) continue;
    try {
      made.symbols.emplace_back(entry, index.find(entry, request.source.name).name);
    } catch (const Error& not_found) {
      throw_unknown_entry(entry, not_found, request.source.name, failed);
    }
  }
}

}  // namespace baton::compiler
