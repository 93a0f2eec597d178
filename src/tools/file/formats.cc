#include "tools/file/formats.h"

#include <fmt/format.h>

#include "bundle/rows.h"
#include "record/format.h"

namespace baton::tools {

std::vector<std::pair<std::string, std::string>> format_versions() {
  return {{"bundle", fmt::format("{}.{}", bundle::kMajor, bundle::kMinor)},
          {"record", std::to_string(record::kVersion)}};
}

}  // namespace baton::tools
