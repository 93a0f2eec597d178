#include "load/source_names.h"

#include "compile/param_names.h"

namespace baton::load {

std::string SourceNames::param(std::string_view name, std::size_t index) const {
  const Kernel& kernel = kernels_.kernel(name);
  const KernelFacts& facts = kernel.facts();
  if (!facts.params || index >= facts.params->size()) return "";
  if (const std::string& known = (*facts.params)[index].name; !known.empty()) return known;
  const std::size_t module = kernels_.module_number(name);
  const std::lock_guard lock(mutex_);
  auto found = known_.find(module);
  if (found == known_.end()) found = known_.emplace(module, params_of(kernel, module)).first;
  const auto params = found->second.find(facts.name);
  if (params == found->second.end() || params->second.size() != facts.params->size()) return "";
  return params->second[index].name;
}

image::DebugParams SourceNames::params_of(const Kernel& kernel, std::size_t number) const {
  const KernelModule& module = kernels_.modules()[number];
  // A bundle has no text of its sources.
  if (!module.source || !module.compiled || module.from_bundle) return {};
  CompileOptions options = {.arch = kernel.device().compile_arch(), .use_cache = use_cache_};
  for (const auto& [entry, symbol] : module.compiled->symbols) options.entries.push_back(entry);
  return compiler::debug_params(*module.source, options, *module.compiled);
}

}  // namespace baton::load
