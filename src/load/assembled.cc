#include "load/assembled.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/overloaded.h"
#include "compile/link/device_linker.h"
#include "driver/driver.h"

namespace baton::load {
namespace {

bool is_even(const ProgramAttributes& attributes) {
  return attributes.placement == BlockPlacement::kEven;
}

bool any_is_even(const std::vector<ProgramStep>& steps);

bool is_even(const ProgramStep& step) {
  return std::visit(
      Overloaded{[](const LaunchStep& launch) { return is_even(launch.attributes); },
                 [](const CopyStep&) { return false; }, [](const FillStep&) { return false; },
                 [](const ParallelStep& group) {
                   return std::ranges::any_of(group.branches, any_is_even);
                 },
                 [](const auto& group) { return any_is_even(group.steps); }},
      step.action);
}

bool any_is_even(const std::vector<ProgramStep>& steps) {
  return std::ranges::any_of(steps, [](const ProgramStep& step) { return is_even(step); });
}

std::optional<Image> assembled(const Device& device, const Image& ptx) {
  if (device.driver().simulator == nullptr) return std::nullopt;
  return compiler::assemble(ptx, device.compile_arch());
}

}  // namespace

bool needs_registers(const Program& program) {
  return any_is_even(program.steps()) ||
         std::ranges::any_of(program.kernels(),
                             [](const ProgramKernel& kernel) { return is_even(kernel.launch); });
}

Module load_assembled(const Device& device, const Image& ptx) {
  if (const auto code = assembled(device, ptx)) {
    const Image both[] = {ptx, *code};
    try {
      return Module::load(device, both);
    } catch (const Error&) {
      // What loading says of the PTX alone is clearer.
    }
  }
  return Module::load(device, ptx);
}

Module load_assembled(const Device& device, Compiled compiled) {
  compiled.cubin = assembled(device, compiled.ptx);
  if (compiled.cubin) {
    try {
      return Module::load(device, compiled);
    } catch (const Error&) {
      compiled.cubin.reset();
    }
  }
  return Module::load(device, compiled);
}

}  // namespace baton::load
