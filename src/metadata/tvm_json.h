#pragma once

#include <string>

#include "base/text/json.h"
#include "baton/metadata.h"

namespace baton::metadata {

// TVM's sidecar (<base>.tvm_meta.json), of every age.
ModuleMetadata read_tvm_json(const Json& document, const std::string& name,
                             std::vector<std::string>& remarks);

}  // namespace baton::metadata
