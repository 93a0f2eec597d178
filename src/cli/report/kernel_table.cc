#include "cli/report/kernel_table.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

// The halves of PDL that the kernel has; empty where the image does not say.
std::string pdl_of(const KernelFacts& kernel) {
  if (!kernel.waits && !kernel.triggers) return "";
  const bool waits = kernel.waits.value_or(false), triggers = kernel.triggers.value_or(false);
  if (waits && triggers) return "waits, triggers";
  return waits ? "waits" : triggers ? "triggers" : "no";
}

// The most threads a block may have, or the one block that the kernel takes.
std::string block_of(const KernelFacts& kernel) {
  if (!kernel.required_block) return format_known(kernel.max_threads);
  const auto& block = *kernel.required_block;
  return "exactly " + format_extent({block[0], block[1], block[2]});
}

// The one cluster that the kernel takes, or its most blocks.
std::string cluster_of(const KernelFacts& kernel) {
  if (kernel.required_cluster) {
    const auto& cluster = *kernel.required_cluster;
    return "exactly " + format_extent({cluster[0], cluster[1], cluster[2]});
  }
  return kernel.max_cluster ? fmt::format("up to {}", *kernel.max_cluster) : "";
}

// What a compile told of its kernels, by their symbols: images hold thousands.
class Builds {
 public:
  explicit Builds(std::span<const CompiledKernel> made) {
    for (const CompiledKernel& kernel : made) by_symbol_.emplace(kernel.symbol, &kernel);
  }
  const CompiledKernel* find(const KernelFacts& kernel) const {
    const auto found = by_symbol_.find(kernel.name);
    return found == by_symbol_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const CompiledKernel*> by_symbol_;
};

}  // namespace

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

void add_kernels(const ImageFacts& facts, Output& output, std::span<const CompiledKernel> made) {
  nlohmann::ordered_json& json = output.result()["kernels"] = nlohmann::ordered_json::array();
  const Builds builds(made);
  for (const KernelFacts& kernel : facts.kernels) {
    json.push_back(json_of(kernel));
    if (const CompiledKernel* build = builds.find(kernel)) {
      json.back()["spill_load_bytes"] = build->spill_load_bytes;
      json.back()["seconds"] = build->seconds;
    }
  }
}

void show_kernels(const ImageFacts& facts, Output& output, std::span<const CompiledKernel> made) {
  add_kernels(facts, output, made);
  show_kernel_table(facts, output, made);
}

void show_kernel_table(const ImageFacts& facts, Output& output,
                       std::span<const CompiledKernel> made) {
  const Builds builds(made);
  using enum Table::Align;
  Table table({{"kernel"},
               {"registers", kRight},
               {"spills", kRight},
               {"stack", kRight},
               {"static shared", kRight},
               {"up to dynamic", kRight},
               {"threads", kRight},
               {"cluster"},
               {"PDL"},
               {"grid sync"},
               {"compiled in", kRight}});
  for (const KernelFacts& kernel : facts.kernels) {
    const CompiledKernel* build = builds.find(kernel);
    table.add({shortened(signature_of(kernel)), format_known(kernel.registers),
               format_known_bytes(kernel.spill_bytes), format_known_bytes(kernel.local_bytes),
               format_known_bytes(kernel.static_shared),
               format_known_bytes(max_dynamic_shared(kernel)), block_of(kernel), cluster_of(kernel),
               pdl_of(kernel), kernel.grid_sync.value_or(false) ? "yes" : "",
               build == nullptr ? "" : format_duration(build->seconds)});
  }
  if (facts.kernels.empty()) {
    output.line("\n  no kernels");
  } else {
    output.line("");
    output.text(table.format(output.terminal()));
  }
}

}  // namespace baton::cli
