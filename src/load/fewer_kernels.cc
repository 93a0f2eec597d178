#include "load/fewer_kernels.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ptx/ast.h"

namespace baton::load {
namespace {

// Where a kernel is in its module's text: from its linkage to its last brace.
struct KernelText {
  std::size_t begin = 0, end = 0;
};

KernelText text_of(std::string_view text, const ptx::Function& kernel) {
  const auto offset = [&](std::string_view part) {
    return static_cast<std::size_t>(part.data() - text.data());
  };
  const std::size_t directive = text.rfind(".entry", offset(kernel.name));
  const std::size_t begin = kernel.linkage.empty() ? directive : offset(kernel.linkage) - 1;
  return {begin, offset(kernel.body_text()) + kernel.body_text().size()};
}

}  // namespace

std::string with_kernels(std::string_view ptx, const std::string& name,
                         const std::set<std::string, std::less<>>& wanted) {
  const auto module = ptx::ParsedModule::parse(std::string(ptx), name);
  const std::string_view text = module->text();
  std::string kept;
  std::size_t copied = 0;
  for (const ptx::Function* const kernel : module->entries()) {
    if (!kernel->has_body || wanted.contains(kernel->name)) continue;
    const auto [begin, end] = text_of(text, *kernel);
    kept += text.substr(copied, begin - copied);
    copied = end;
  }
  return kept.append(text.substr(copied));
}

}  // namespace baton::load
