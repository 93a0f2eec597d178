#include <fmt/core.h>

#include "baton/image.h"
#include "chip/chip.h"
#include "image/architecture.h"

namespace baton {

// CUTLASS: include/cutlass/arch/grid_dependency_control.h, 4.2; the SM90 macro counts only where
// the compiler sets __CUDA_ARCH_FEAT_SM90_ALL, which it does for sm_90a.
std::optional<std::string> missing_wait_cause(const KernelFacts& facts) {
  if (facts.waits.value_or(true)) return std::nullopt;
  if (facts.demangled.find("cutlass::") != std::string::npos) {
    return fmt::format(
        "CUTLASS compiles its waits only where CUTLASS_ENABLE_GDC_FOR_SM90 is defined and the "
        "target is sm_90a (CUTLASS_ENABLE_GDC_FOR_SM100 for sm_100a){}",
        facts.arch.empty() ? "" : fmt::format("; this kernel is for {}", facts.arch));
  }
  const auto target = image::parse_architecture(facts.arch);
  if (target && target->number < chip::kFirstWithPdl) {
    return fmt::format("it is for {}, and only sm_{} and later have a wait", facts.arch,
                       chip::kFirstWithPdl);
  }
  return std::nullopt;
}

}  // namespace baton
