#include "image/ptx/link_target.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "image/architecture.h"

namespace baton::image {
namespace {

Architecture architecture_of(const ptx::ParsedModule& module) {
  const auto architecture = parse_architecture(module.target());
  if (architecture) return *architecture;
  throw error(ErrorCode::kCompile, "{} is for \"{}\", which is not an architecture", module.name(),
              module.target());
}

bool has(const ptx::ParsedModule& module, std::string_view target) {
  return std::ranges::count(module.targets(), target) != 0;
}

// Whether the code of one may stand in a module for the other: PTX without a suffix is for all
// later architectures.
bool goes_into(const Architecture& code, const Architecture& module) {
  if (code.suffix == 'a') return code.number == module.number && module.suffix == 'a';
  if (code.suffix == 'f') {
    return code.major() == module.major() && code.minor() <= module.minor() && module.suffix != 0;
  }
  return code.number <= module.number;
}

}  // namespace

LinkTarget common_target(std::span<const std::shared_ptr<const ptx::ParsedModule>> modules) {
  constexpr std::string_view kIndependent = "texmode_independent";
  const ptx::ParsedModule* latest = modules.front().get();
  LinkTarget out;
  for (const auto& module : modules) {
    out.version = std::max(out.version, {module->version_major(), module->version_minor()});
    const Architecture own = architecture_of(*module);
    const Architecture most = architecture_of(*latest);
    if (std::pair(own.number, own.suffix == 'a' ? 2 : own.suffix != 0) >
        std::pair(most.number, most.suffix == 'a' ? 2 : most.suffix != 0)) {
      latest = module.get();
    }
  }
  for (const auto& module : modules) {
    if (!goes_into(architecture_of(*module), architecture_of(*latest))) {
      throw error(ErrorCode::kCompile,
                  "{} is for {} and {} is for {}, and no GPU runs both; compile them for one "
                  "architecture",
                  module->name(), module->target(), latest->name(), latest->target());
    }
    if (module->address_size() != latest->address_size()) {
      throw error(ErrorCode::kCompile, "{} has {}-bit addresses and {} has {}-bit addresses",
                  module->name(), module->address_size(), latest->name(), latest->address_size());
    }
    if (has(*module, kIndependent) != has(*latest, kIndependent)) {
      throw error(ErrorCode::kCompile,
                  "one of {} and {} is for {}, and the other is not; compile both alike",
                  module->name(), latest->name(), kIndependent);
    }
  }
  out.text = latest->target();
  if (has(*latest, kIndependent)) out.text.append(", ").append(kIndependent);
  out.address_size = latest->address_size();
  return out;
}

}  // namespace baton::image
