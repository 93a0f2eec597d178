#include "sim/device/settings.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "sim/device/profile.h"

namespace baton::sim {
namespace {

Settings& stored() {
  static auto& settings = *new Settings;
  return settings;
}

}  // namespace

void configure(Settings settings) {
  if (!settings.only.empty()) {
    const std::vector<std::string_view> known = profile_names();
    if (std::find(known.begin(), known.end(), settings.only) == known.end()) {
      throw error(ErrorCode::kInvalidInput, "there is no simulated device \"{}\"{}", settings.only,
                  suggestion(settings.only, known));
    }
  }
  stored() = std::move(settings);
}

const Settings& settings() {
  return stored();
}

}  // namespace baton::sim
