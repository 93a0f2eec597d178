#include "tools/next_step.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "bind/edge_mode.h"
#include "chip/chip.h"

namespace baton::tools {
namespace {

std::size_t programmatic(const CheckReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.edges, [](const EdgeReport& edge) { return edge.programmatic; }));
}

}  // namespace

std::string rewrite_advice(const ProgramFile& program, const Device& device,
                           const PrepareOptions& options, const Bindings& bindings,
                           const CheckReport& report) {
  const std::size_t early = programmatic(report);
  const std::size_t full = report.edges.size() - early;
  const bool may_rewrite = full > 0 && options.rewrite == RewriteMode::kOff &&
                           options.pdl != PdlMode::kOff && !bind::pdl_switched_off() &&
                           device.architecture() >= chip::kFirstWithPdl && !program.bundle;
  if (!may_rewrite) return {};
  PrepareOptions rewriting = options;
  rewriting.rewrite = RewriteMode::kWait;
  try {
    const CheckReport other = program.prepare(device, rewriting).check(bindings);
    const std::size_t more = programmatic(other);
    if (other.objection || more <= early) return {};
    const std::string made = full == 1              ? "it"
                             : more - early == full ? "all"
                                                    : fmt::format("{} of them", more - early);
    return fmt::format("{} {} full; --rewrite wait makes {} programmatic", full,
                       full == 1 ? "edge is" : "edges are", made);
  } catch (const Error&) {
    return {};  // a kernel that cannot be rewritten is not advice
  }
}

}  // namespace baton::tools
