#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "baton/error.h"
#include "ptx/cfg.h"
#include "ptx/equal.h"
#include "ptx/printer.h"

namespace {

using baton::ptx::Function;
using baton::ptx::ParsedModule;

void require(bool holds) {
  if (!holds) std::abort();
}

// Runs `work`; whether it refused its input, which it may do in one way only.
template <typename Work>
bool refused(Work&& work) {
  try {
    work();
    return false;
  } catch (const baton::Error& error) {
    require(error.code() == baton::ErrorCode::kInvalidInput);
    return true;
  }
}

// What a graph of any function must keep to.
void check_flow(const Function& function) {
  const baton::ptx::FlatFunction flat(function);
  const baton::ptx::ControlFlow flow(flat);
  for (std::uint32_t b = 0; b < flow.blocks().size(); ++b) {
    require(flow.immediate_post_dominator(b) <= flow.exit());
    require(flow.post_dominates(flow.immediate_post_dominator(b), b));
    if (flow.is_reachable(b)) require(flow.dominates(0, b));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  refused([&] {
    const auto module =
        ParsedModule::parse(std::string(reinterpret_cast<const char*>(data), size), "input");
    bool all_parse = true;
    for (const auto& item : module->items()) {
      const auto* function = std::get_if<Function>(&item);
      if (function == nullptr) continue;
      if (refused([&] { function->body(); })) {
        all_parse = false;
      } else {
        refused([&] { check_flow(*function); });
      }
    }
    if (!all_parse) return;
    const std::string printed = print(*module);
    std::shared_ptr<const ParsedModule> again;
    require(!refused([&] { again = ParsedModule::parse(printed, "printed"); }));
    require(equal(*module, *again));
    require(print(*again) == printed);
  });
  return 0;
}
