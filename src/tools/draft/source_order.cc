#include "tools/draft/source_order.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include "image/image_content.h"
#include "ptx/ast.h"

namespace baton::tools {
namespace {

// The line where a kernel begins: its first .loc, which precedes what is inlined into it.
const ptx::Loc* first_line(const ptx::Block& block) {
  for (const ptx::Statement& statement : block.statements) {
    if (const auto* line = std::get_if<ptx::Loc>(&statement.node)) return line;
    if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) {
      if (const ptx::Loc* const line = first_line(*inner)) return line;
    }
  }
  return nullptr;
}

// By the file, and by the line in it. A kernel without lines comes last.
using SourcePlace = std::tuple<bool, std::uint32_t, std::uint32_t>;

SourcePlace place_of(const ptx::ParsedModule& module, const KernelFacts& kernel,
                     const std::filesystem::path& origin) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  const ptx::Function* const function = module.function(kernel.name);
  if (function == nullptr || !function->has_body) return {true, kLast, kLast};
  const ptx::Loc* const line = first_line(function->body());
  if (line == nullptr) return {true, kLast, kLast};
  std::error_code unknown;
  const bool is_own =
      std::filesystem::equivalent(std::filesystem::path(module.file(line->file)), origin, unknown);
  return {is_own, line->file, line->line};
}

}  // namespace

std::vector<const KernelFacts*> kernels_in_order(const KernelFile& file,
                                                 const std::filesystem::path& origin) {
  std::vector<const KernelFacts*> kernels;
  for (const KernelFacts& kernel : file.facts.kernels) kernels.push_back(&kernel);
  if (file.key != "source" || !file.ptx) return kernels;
  const auto module = image::ptx_of(*file.ptx);
  std::vector<std::pair<SourcePlace, const KernelFacts*>> placed;
  for (const KernelFacts* kernel : kernels) {
    placed.emplace_back(place_of(*module, *kernel, origin), kernel);
  }
  std::ranges::stable_sort(placed, {}, [](const auto& each) { return each.first; });
  std::ranges::transform(placed, kernels.begin(), [](const auto& each) { return each.second; });
  return kernels;
}

}  // namespace baton::tools
