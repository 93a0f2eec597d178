#include "load/kernel_entries.h"

namespace baton::load {

KernelEntries::KernelEntries(const ImageFacts& facts, const Compiled* compiled,
                             std::string_view image_name)
    : index_(facts), image_name_(image_name) {
  if (compiled != nullptr) symbols_.insert(compiled->symbols.begin(), compiled->symbols.end());
}

const KernelFacts& KernelEntries::of(const ProgramKernel& kernel) const {
  if (kernel.entry.empty()) return index_.find_or_only(kernel.name, image_name_);
  if (const auto symbol = symbols_.find(kernel.entry); symbol != symbols_.end()) {
    if (const KernelFacts* found = index_.symbol(symbol->second)) return *found;
  }
  return index_.find(kernel.entry, image_name_);
}

}  // namespace baton::load
