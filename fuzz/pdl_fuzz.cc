#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "baton/error.h"
#include "pdl/footprint.h"

// Whatever the PTX is, every kernel has a footprint, and one that keeps to its own rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using baton::overlap::Footprint;
  try {
    const auto module =
        baton::ptx::Module::parse(std::string(reinterpret_cast<const char*>(data), size), "input");
    for (const baton::ptx::Function* kernel : module->entries()) {
      if (!kernel->has_body) continue;
      for (const std::array<std::uint32_t, 3>& block :
           {std::array<std::uint32_t, 3>{}, {128, 1, 1}, {8, 8, 4}}) {
        const Footprint found = baton::overlap::read_footprint(module, *kernel, block);
        const bool waits = found.waits_for_certain(block, {1, 1, 1}, {});
        if (waits && found.waits == Footprint::Waits::kNever) std::abort();
        for (const baton::overlap::Touch& touch : found.touches) {
          if (touch.roots.empty() || !(touch.reads || touch.writes)) std::abort();
          const bool after = touch.order == baton::overlap::Order::kAfter;
          if (after && found.waits == Footprint::Waits::kNever) std::abort();
        }
      }
    }
  } catch (const baton::Error& error) {
    if (error.code() != baton::ErrorCode::kInvalidInput) std::abort();
  }
  return 0;
}
