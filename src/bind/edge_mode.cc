#include "bind/edge_mode.h"

#include <array>

#include "base/error.h"
#include "base/system/environment.h"
#include "base/text/suggest.h"

namespace baton::bind {

bool pdl_switched_off() {
  const auto value = read_environment("BATON_PDL");
  if (!value || *value == "auto") return false;
  if (*value == "off") return true;
  constexpr std::array<std::string_view, 2> kChoices = {"off", "auto"};
  throw error(ErrorCode::kInvalidInput, "BATON_PDL is \"{}\", it takes off or auto{}", *value,
              suggestion(*value, kChoices));
}

PlannedEdge plan_edge(const ProgramAttributes& attributes, bool off, PdlMode autos,
                      const Kernel& kernel) {
  PlannedEdge edge;
  edge.where = attributes.pdl_where;
  edge.mode = attributes.pdl.value_or(PdlMode::kAuto);
  edge.insisted = edge.mode != PdlMode::kAuto;
  if (edge.mode == PdlMode::kAuto && autos != PdlMode::kAuto) {
    edge.mode = autos;
    edge.source = EdgeSource::kCaller;
  }
  if (off) {
    edge.mode = PdlMode::kOff;
    edge.source = EdgeSource::kEnvironment;
  }
  const bool never_waits = !kernel.facts().waits.value_or(true);
  if (edge.mode != PdlMode::kOn || !never_waits) return edge;
  if (!edge.insisted) {
    edge.mode = PdlMode::kOff;
    edge.cannot_wait = true;
    return edge;
  }
  const auto cause = missing_wait_cause(kernel.facts());
  throw error_at(edge.where, ErrorCode::kInvalidInput,
                 "pdl = \"on\", but the kernel {} never waits for the step before "
                 "(griddepcontrol.wait){}: call cudaGridDependencySynchronize() in it, or write "
                 "pdl = \"off\"; \"force\" takes it as it is",
                 kernel.facts().demangled, cause ? "; " + *cause : "");
}

PlannedEdge plan_edge(bool off, PdlMode autos) {
  PlannedEdge edge;
  // Its early start is not insisted on: a caller's `on` asks for no more than what is proven.
  edge.mode = off || autos == PdlMode::kOff ? PdlMode::kOff : PdlMode::kAuto;
  edge.source = off ? EdgeSource::kEnvironment : EdgeSource::kCaller;
  return edge;
}

void check_edge(const PlannedEdge& edge, Before before, bool in_group) {
  if (edge.mode != PdlMode::kOn || !edge.insisted) return;
  if (before == Before::kOther || (before == Before::kNothing && !in_group)) {
    throw error_at(
        edge.where, ErrorCode::kInvalidInput,
        "pdl = \"on\", but {}, and only launches overlap; write pdl = \"off\" or "
        "leave it out",
        before == Before::kNothing ? "there is no step before" : "the step before is not a launch");
  }
}

}  // namespace baton::bind
