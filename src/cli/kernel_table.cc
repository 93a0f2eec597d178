#include "cli/kernel_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"

namespace baton::cli {
namespace {

template <typename T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}
std::string bytes(const std::optional<std::uint32_t>& value) {
  return value ? format_bytes(*value) : "";
}
std::string yes_or_no(const std::optional<bool>& value) {
  return !value ? "" : *value ? "yes" : "no";
}

// "saxpy(float*, float const*, float, int)": demangled names bring their parameters with them.
std::string signature_of(const KernelFacts& kernel) {
  const std::string& name = kernel.demangled.empty() ? kernel.name : kernel.demangled;
  if (name.find('(') != std::string::npos) return name;
  if (!kernel.params) return name + "(?)";
  std::string types;
  for (const ParamFacts& param : *kernel.params) {
    types += fmt::format("{}{}", types.empty() ? "" : ", ", param.type);
  }
  return fmt::format("{}({})", name, types);
}

// The most threads a block may have, or the one block that the kernel takes.
std::string block_of(const KernelFacts& kernel) {
  if (!kernel.required_block) return number(kernel.max_threads);
  const auto& block = *kernel.required_block;
  return "exactly " + format_extent({block[0], block[1], block[2]});
}

}  // namespace

void show_kernels(const ImageFacts& facts, Output& output) {
  nlohmann::ordered_json& json = output.result()["kernels"] = nlohmann::ordered_json::array();
  using enum Table::Align;
  Table table({{"kernel"},
               {"registers", kRight},
               {"spills", kRight},
               {"stack", kRight},
               {"static shared", kRight},
               {"threads", kRight},
               {"waits"},
               {"triggers"}});
  for (const KernelFacts& kernel : facts.kernels) {
    json.push_back(json_of(kernel));
    table.add({printable(signature_of(kernel)), number(kernel.registers), bytes(kernel.spill_bytes),
               bytes(kernel.local_bytes), bytes(kernel.static_shared), block_of(kernel),
               yes_or_no(kernel.waits), yes_or_no(kernel.triggers)});
  }
  if (facts.kernels.empty()) {
    output.line("\n  no kernels");
  } else {
    output.line("");
    output.text(table.format(output.colour()));
  }
}

}  // namespace baton::cli
