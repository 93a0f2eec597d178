#include "tools/draft/parameter_role.h"

namespace baton::tools {

std::string_view role_of(const ParamFacts& param, const image::ParamUse* use) {
  if (param.read_only) return "input";
  if (use == nullptr || (!use->reads && !use->writes)) return "inout";
  if (!use->writes) return "input";
  return use->reads ? "inout" : "output";
}

}  // namespace baton::tools
