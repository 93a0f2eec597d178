#include "tools/device_facts.h"

#include <algorithm>
#include <functional>

#include "driver/driver.h"

namespace baton::tools {

bool is_simulated(const Device& device) {
  return device.driver().simulator != nullptr;
}

Compatibility runs_on_device(ImageFacts facts, const Device& device) {
  const auto is_ptx = [](const MemberFacts& member) {
    return member.kind == MemberFacts::Kind::kPtx;
  };
  if (is_simulated(device) && std::any_of(facts.members.begin(), facts.members.end(), is_ptx)) {
    std::erase_if(facts.members, std::not_fn(is_ptx));
  }
  return runs_on(facts, device.architecture(), device.driver_version());
}

}  // namespace baton::tools
