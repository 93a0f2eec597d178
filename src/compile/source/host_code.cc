#include "compile/source/host_code.h"

#include <algorithm>
#include <array>

#include "compile/headers.h"
#include "compile/source/words.h"

namespace baton::compiler {
namespace {

bool is_declared_for_hosts(std::string_view name) {
  const auto headers = embedded_headers();
  return std::any_of(headers.begin(), headers.end(), [&](const EmbeddedHeader& header) {
    return std::string_view(header.name).starts_with(kHostPrefix) &&
           contains_word(header.text, name);
  });
}

// "x" of: identifier "x" is undefined; namespace "std" has no member "x".
std::string_view last_quoted(std::string_view message) {
  const std::size_t end = message.rfind('"');
  if (end == std::string_view::npos || end == 0) return "";
  const std::size_t start = message.rfind('"', end - 1);
  return start == std::string_view::npos ? "" : message.substr(start + 1, end - start - 1);
}

}  // namespace

bool lacks_host_declarations(const std::vector<Diagnostic>& failed) {
  return std::any_of(failed.begin(), failed.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::kError &&
           is_declared_for_hosts(last_quoted(diagnostic.message));
  });
}

std::string_view standard_header_for(const Diagnostic& error) {
  constexpr std::array<std::string_view, 5> kHeaders = {"array", "tuple", "functional", "numeric",
                                                        "complex"};
  if (!error.message.starts_with("namespace \"std\" has no member")) return "";
  const std::string_view name = last_quoted(error.message);
  for (std::string_view header : kHeaders) {
    const auto all = embedded_headers();
    const auto found = std::find_if(all.begin(), all.end(), [&](const EmbeddedHeader& each) {
      return each.name == header && contains_word(each.text, name);
    });
    if (found != all.end()) return found->name;
  }
  return "";
}

bool calls_the_host(std::string_view ptx) {
  // The functions that every device has.
  constexpr std::array<std::string_view, 5> kSystem = {"vprintf", "malloc", "free", "__assertfail",
                                                       "cudaGraphSetConditional"};
  constexpr std::string_view kExtern = ".extern .func";
  for (std::size_t at = ptx.find(kExtern); at != std::string_view::npos;
       at = ptx.find(kExtern, at + 1)) {
    const std::string_view declaration = ptx.substr(at, ptx.find(';', at) - at);
    if (std::none_of(kSystem.begin(), kSystem.end(),
                     [&](std::string_view name) { return contains_word(declaration, name); })) {
      return true;
    }
  }
  return false;
}

}  // namespace baton::compiler
