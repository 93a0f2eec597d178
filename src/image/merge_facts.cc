#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "baton/image.h"
#include "image/names/param_types.h"

namespace baton {
namespace {

template <typename T>
void take_missing(std::optional<T>& into, const std::optional<T>& from) {
  if (!into) into = from;
}

template <typename T>
void prefer(std::optional<T>& into, const std::optional<T>& machine) {
  if (machine) into = machine;
}

bool is_machine_code(ImageKind kind) {
  return kind != ImageKind::kPtx;
}

// Whether `b` says more of a type than `a`.
bool says_more(const ParamFacts& b, const ParamFacts& a) {
  switch (a.kind) {
    case ParamKind::kUnknown:
      return true;
    case ParamKind::kInteger:
      return b.kind == ParamKind::kScalar;
    case ParamKind::kPointer:
      return !a.dtype && b.dtype && b.kind == ParamKind::kPointer;
    case ParamKind::kScalar:
    case ParamKind::kBytes:
      return false;
  }
  return false;
}

void take_type(ParamFacts& into, const ParamFacts& from) {
  if (says_more(from, into)) {
    into.kind = from.kind;
    into.dtype = from.dtype;
    into.read_only = from.read_only;
    into.type = from.type;
  }
}

// `machine` says where parameters lie, `types` what they are; both have the same sizes, or the
// machine code alone is believed.
void merge_params(KernelFacts& out, const KernelFacts& machine, const KernelFacts& types,
                  std::vector<std::string>& remarks) {
  if (!machine.params || !types.params) {
    out.params = machine.params ? machine.params : types.params;
    return;
  }
  const bool agree = std::equal(
      machine.params->begin(), machine.params->end(), types.params->begin(), types.params->end(),
      [](const ParamFacts& a, const ParamFacts& b) { return a.size == b.size; });
  if (!agree) {
    remarks.push_back("kernel " + machine.name +
                      ": its two images disagree on the parameters; the machine code's are taken");
    out.params = machine.params;
    return;
  }
  out.params = types.params;
  for (std::size_t i = 0; i < out.params->size(); ++i) {
    (*out.params)[i].offset = (*machine.params)[i].offset;
    take_type((*out.params)[i], (*machine.params)[i]);
    if ((*out.params)[i].name.empty()) (*out.params)[i].name = (*machine.params)[i].name;
  }
}

}  // namespace

ImageFacts merge_facts(const ImageFacts& first, const ImageFacts& second) {
  const bool second_is_machine = is_machine_code(second.kind) && !is_machine_code(first.kind);
  ImageFacts out = first;
  const ImageFacts& machine_facts = second_is_machine ? second : first;
  if (!machine_facts.arch.empty()) out.arch = machine_facts.arch;
  if (!machine_facts.producer.empty()) out.producer = machine_facts.producer;
  if (out.toolkit.empty()) out.toolkit = second.toolkit;
  if (out.ptx_version.empty()) out.ptx_version = second.ptx_version;
  take_missing(out.abi, second.abi);
  take_missing(out.linked, second.linked);
  take_missing(out.debug, second.debug);
  // By name: images hold thousands of kernels.
  std::unordered_map<std::string_view, const KernelFacts*> in_second;
  std::unordered_set<std::string_view> in_first;
  for (const KernelFacts& kernel : first.kernels) in_first.insert(kernel.name);
  for (const KernelFacts& kernel : second.kernels) in_second.emplace(kernel.name, &kernel);
  for (KernelFacts& kernel : out.kernels) {
    const auto found = in_second.find(kernel.name);
    if (found == in_second.end()) continue;
    const KernelFacts* other = found->second;
    in_second.erase(found);
    const KernelFacts own = kernel;
    const KernelFacts& machine = second_is_machine ? *other : own;
    const KernelFacts& types = second_is_machine ? own : *other;
    // Machine code of an instrumented kernel shows the parameter for its records too.
    KernelFacts coded = machine;
    const bool is_traced = own.traced || other->traced;
    if (is_traced && !machine.traced && coded.params && !coded.params->empty()) {
      coded.params->pop_back();
    }
    merge_params(kernel, coded, types, out.remarks);
    kernel.traced = is_traced;
    prefer(kernel.registers, machine.registers);
    prefer(kernel.static_shared, machine.static_shared);
    prefer(kernel.local_bytes, machine.local_bytes);
    prefer(kernel.spill_bytes, machine.spill_bytes);
    take_missing(kernel.registers, other->registers);
    take_missing(kernel.static_shared, other->static_shared);
    take_missing(kernel.local_bytes, other->local_bytes);
    take_missing(kernel.spill_bytes, other->spill_bytes);
    take_missing(kernel.max_threads, other->max_threads);
    take_missing(kernel.max_registers, other->max_registers);
    take_missing(kernel.required_block, other->required_block);
    take_missing(kernel.required_cluster, other->required_cluster);
    take_missing(kernel.max_cluster, other->max_cluster);
    take_missing(kernel.min_blocks, other->min_blocks);
    take_missing(kernel.barriers, other->barriers);
    take_missing(kernel.grid_in_clusters, other->grid_in_clusters);
    take_missing(kernel.waits, other->waits);
    take_missing(kernel.triggers, other->triggers);
    take_missing(kernel.grid_sync, other->grid_sync);
    take_missing(kernel.polls, other->polls);
    if (!machine.arch.empty()) kernel.arch = machine.arch;
  }
  for (const KernelFacts& kernel : second.kernels) {
    if (!in_first.contains(kernel.name)) out.kernels.push_back(kernel);
  }
  std::unordered_set<std::string_view> variables;
  for (const VariableFacts& variable : first.variables) variables.insert(variable.name);
  for (const VariableFacts& variable : second.variables) {
    if (!variables.contains(variable.name)) out.variables.push_back(variable);
  }
  out.remarks.insert(out.remarks.end(), second.remarks.begin(), second.remarks.end());
  return out;
}

}  // namespace baton
