#include "load/footprints.h"

#include "baton/error.h"
#include "image/find_variable.h"

namespace baton::load {
namespace {

// Of one kernel. A program that has more is answered as if the block were not known.
constexpr std::size_t kMaxBlocks = 64;

}  // namespace

const overlap::Footprint& Footprints::of(const std::string& kernel, const Dim3& extent) {
  const std::lock_guard lock(mutex_);
  Block block = {extent.x, extent.y, extent.z};
  auto found = known_.find({kernel, block});
  if (found != known_.end()) return *found->second;
  if (++blocks_[kernel] > kMaxBlocks) {
    block = {};
    found = known_.find({kernel, block});
    if (found != known_.end()) return *found->second;
  }
  auto made = std::make_unique<const overlap::Footprint>(read(kernel, block));
  names_.emplace(made.get(), kernel);
  return *known_.emplace(std::pair(kernel, block), std::move(made)).first->second;
}

const std::string& Footprints::name(const overlap::Footprint& footprint) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(&footprint);
  return found == names_.end() ? footprint.kernel : found->second;
}

std::string_view Footprints::variable_symbol(const std::string& kernel,
                                             std::string_view name) const {
  return image::find_variable(kernels_.module(kernel).facts(), name);
}

overlap::Footprint Footprints::read(const std::string& kernel, const Block& block) {
  const KernelFacts& facts = kernels_.kernel(kernel).facts();
  const Image* image = kernels_.ptx(kernel);
  if (image == nullptr) {
    return overlap::unknown_footprint(facts.name, facts.waits, facts.triggers,
                                      {overlap::UnseenCause::kMachineCode});
  }
  auto& module = modules_[kernels_.module_number(kernel)];
  try {
    if (module == nullptr)
      module = ptx::ParsedModule::parse(std::string(image->bytes()), image->name());
  } catch (const Error& unreadable) {
    return overlap::unknown_footprint(facts.name, facts.waits, facts.triggers,
                                      {overlap::UnseenCause::kUnreadable, unreadable.message()});
  }
  const ptx::Function* function = module->function(facts.name);
  if (function == nullptr || !function->has_body) {
    return overlap::unknown_footprint(facts.name, facts.waits, facts.triggers,
                                      {overlap::UnseenCause::kNoKernel});
  }
  return overlap::read_footprint(module, *function, block);
}

}  // namespace baton::load
