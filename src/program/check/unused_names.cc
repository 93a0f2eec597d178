#include "program/check/unused_names.h"

#include <fmt/core.h>

#include "base/text/text.h"

namespace baton {
namespace {

template <typename Part>
std::string unused(const Part& part, const char* kind, const char* what) {
  const std::string where = part.where.known() ? part.where.to_string() + ": " : "";
  return fmt::format("{}the {} {} is never {}; remove it", where, kind, printable(part.name), what);
}

}  // namespace

std::vector<std::string> warnings_about(const ProgramDefinition& program,
                                        const ProgramScope& scope) {
  std::vector<std::string> warnings;
  for (const ProgramSymbol& symbol : program.symbols) {
    if (symbol.of_world || scope.is_used(symbol.name)) continue;
    warnings.push_back(unused(symbol, "symbol", "used"));
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    // A run warns of every output that no step writes.
    if (buffer.role == BufferRole::kOutput || scope.is_used(buffer.name)) continue;
    warnings.push_back(unused(buffer, "buffer", "used"));
  }
  for (const ProgramKernel& kernel : program.kernels) {
    if (scope.is_used_kernel(kernel.name)) continue;
    warnings.push_back(unused(kernel, "kernel", "launched"));
  }
  return warnings;
}

}  // namespace baton
