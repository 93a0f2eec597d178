#include "load/assembled.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/overloaded.h"
#include "compile/link/device_linker.h"
#include "driver/driver.h"
#include "load/fewer_kernels.h"

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
                 [](const CollectiveStep&) { return false; },
                 [](const ParallelStep& group) {
                   return std::ranges::any_of(group.branches, any_is_even);
                 },
                 [](const auto& group) { return any_is_even(group.steps); }},
      step.action);
}

bool any_is_even(const std::vector<ProgramStep>& steps) {
  return std::ranges::any_of(steps, [](const ProgramStep& step) { return is_even(step); });
}

std::optional<Image> assembled(const Device& device, const Image& ptx,
                               const WantedKernels& wanted) {
  if (device.driver().simulator == nullptr) return std::nullopt;
  const std::string arch = device.compile_arch();
  if (!wanted.empty()) {
    try {
      const std::string fewer = with_kernels(ptx.bytes(), ptx.name(), wanted);
      if (auto code = compiler::assemble(Image::from_bytes(fewer, ptx.name()), arch)) return code;
      // Something else in the module may name a kernel that is not wanted.
    } catch (const Error&) {
      return std::nullopt;  // what loading says of the PTX is clearer
    }
  }
  return compiler::assemble(ptx, arch);
}

}  // namespace

bool needs_registers(const Program& program) {
  return any_is_even(program.steps()) ||
         std::ranges::any_of(program.kernels(),
                             [](const ProgramKernel& kernel) { return is_even(kernel.launch); });
}

Module load_assembled(const Device& device, const Image& ptx, const WantedKernels& wanted) {
  if (const auto code = assembled(device, ptx, wanted)) {
    const Image both[] = {ptx, *code};
    try {
      return Module::load(device, both);
    } catch (const Error&) {
      // What loading says of the PTX alone is clearer.
    }
  }
  return Module::load(device, ptx);
}

Module load_assembled(const Device& device, Compiled compiled, const WantedKernels& wanted) {
  compiled.cubin = assembled(device, compiled.ptx, wanted);
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
