#include "program/used_names.h"

#include <fmt/core.h>

#include "base/text.h"

namespace baton {
namespace {

template <typename Parts>
void warn(const Parts& parts, const std::set<std::string, std::less<>>& used, const char* kind,
          const char* what, std::vector<std::string>& out) {
  for (const auto& part : parts) {
    if (used.contains(part.name)) continue;
    const std::string where = part.where.known() ? part.where.to_string() + ": " : "";
    out.push_back(
        fmt::format("{}the {} {} is never {}; remove it", where, kind, printable(part.name), what));
  }
}

}  // namespace

std::vector<std::string> warnings_about(const ProgramDefinition& program, const UsedNames& used) {
  std::vector<std::string> warnings;
  std::vector<ProgramSymbol> symbols = program.symbols;
  std::erase_if(symbols, [](const ProgramSymbol& symbol) { return symbol.of_world; });
  warn(symbols, used.names, "symbol", "used", warnings);
  // A run warns of every output that no step writes.
  std::vector<ProgramBuffer> buffers = program.buffers;
  std::erase_if(buffers, [](const ProgramBuffer& b) { return b.role == BufferRole::kOutput; });
  warn(buffers, used.names, "buffer", "used", warnings);
  warn(program.kernels, used.kernels, "kernel", "launched", warnings);
  return warnings;
}

}  // namespace baton
