#include "tools/device_facts.h"

#include <algorithm>
#include <functional>

#include "driver/driver.h"
#include "load/assembled.h"

namespace baton::tools {

bool is_simulated(const Device& device) {
  return device.driver().simulator != nullptr;
}

void require_simulated(const std::string& name) {
  Device::open(name);
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

Module load_to_ask(const Device& device, const Image& image) {
  if (image.kind() == ImageKind::kPtx) return load::load_assembled(device, image);
  return Module::load(device, image);
}

bool has_estimated_registers(const Kernel& kernel) {
  return is_simulated(kernel.device()) && !kernel.facts().registers;
}

std::set<std::string> kernels_with_estimated_registers(const Executable& executable) {
  std::set<std::string> names;
  for (const Executable::KernelModule& module : executable.modules()) {
    for (const auto& [name, facts] : module.kernels) {
      const Kernel kernel = executable.module(name).kernel(facts.name);
      if (has_estimated_registers(kernel)) names.insert(name);
    }
  }
  return names;
}

}  // namespace baton::tools
