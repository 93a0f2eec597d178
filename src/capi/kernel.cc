#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/text/text.h"
#include "capi/arguments.h"
#include "capi/call.h"
#include "capi/dtype.h"
#include "capi/launch_config.h"

using baton::Kernel;
using baton::KernelFacts;
using baton::ParamFacts;
using baton::ParamKind;
using baton::capi::Call;

namespace baton::capi {
namespace {

std::int32_t kind_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::kUnknown:
      return BATON_PARAM_UNKNOWN;
    case ParamKind::kPointer:
      return BATON_PARAM_POINTER;
    case ParamKind::kScalar:
      return BATON_PARAM_SCALAR;
    case ParamKind::kInteger:
      return BATON_PARAM_INTEGER;
    case ParamKind::kBytes:
      return BATON_PARAM_BYTES;
  }
  return BATON_PARAM_UNKNOWN;
}

// -1 for what the image does not say.
template <typename T>
auto or_unknown(const std::optional<T>& fact) {
  using Number = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, std::int64_t>;
  return fact ? static_cast<Number>(*fact) : Number{-1};
}

void copy_extents(const std::optional<std::array<std::uint32_t, 3>>& from, std::uint32_t (&to)[3]) {
  if (from) std::copy(from->begin(), from->end(), to);
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_kernel_get(const baton_module* module, const char* name, baton_kernel** kernel) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_kernel*& result = call.result(kernel, "kernel");
    const baton::Module& from = call.get(module, "module").module;
    result = baton::capi::make_handle<baton_kernel>(from.kernel(Call::optional_text(name)));
  });
}

baton_error* baton_kernel_get_info(const baton_kernel* kernel, baton_kernel_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    using baton::capi::or_unknown;
    const Kernel& from = call.get(kernel, "kernel");
    const KernelFacts& facts = from.facts();
    baton_kernel_info value = BATON_KERNEL_INFO_INIT;
    value.name = facts.name.c_str();
    value.demangled = facts.demangled.c_str();
    value.arch = facts.arch.c_str();
    if (facts.params) value.param_count = static_cast<std::int64_t>(facts.params->size());
    value.registers = or_unknown(facts.registers);
    value.static_shared = or_unknown(facts.static_shared);
    value.local_bytes = or_unknown(facts.local_bytes);
    value.max_threads = from.max_threads();
    value.max_dynamic_shared = from.max_dynamic_shared();
    baton::capi::copy_extents(facts.required_block, value.required_block);
    baton::capi::copy_extents(facts.required_cluster, value.required_cluster);
    value.waits = or_unknown(facts.waits);
    value.triggers = or_unknown(facts.triggers);
    value.grid_sync = or_unknown(facts.grid_sync);
    value.polls = or_unknown(facts.polls);
    call.write(info, value, "info");
  });
}

baton_error* baton_kernel_param(const baton_kernel* kernel, std::size_t index, baton_param* param) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const KernelFacts& facts = call.get(kernel, "kernel").facts();
    if (!facts.params) {
      throw baton::error(baton::ErrorCode::kNotFound,
                         "the image does not tell the parameters of kernel {}",
                         baton::printable(facts.name));
    }
    call.require_index(index, facts.params->size(), "parameters");
    const ParamFacts& from = (*facts.params)[index];
    baton_param value = BATON_PARAM_INIT;
    value.type = from.type.c_str();
    value.offset = from.offset;
    value.size_bytes = from.size;
    value.kind = baton::capi::kind_of(from.kind);
    value.dtype = baton::capi::to_c(from.dtype);
    value.is_read_only = from.read_only ? 1 : 0;
    value.name = from.name.c_str();
    call.write(param, value, "param");
  });
}

baton_error* baton_kernel_launch(const baton_kernel* kernel, const baton_launch_config* config,
                                 const baton_value* values, std::size_t count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Kernel& launched = call.get(kernel, "kernel");
    const baton::capi::GivenConfig given(call, config, launched);
    const baton::capi::ConvertedArguments arguments(launched, call.array(values, count, "values"),
                                                    given.device());
    launched.launch_arguments(given.config(), arguments.all());
  });
}

void baton_kernel_retain(baton_kernel* kernel) {
  baton::capi::retain(kernel);
}

void baton_kernel_release(baton_kernel* kernel) {
  baton::capi::release(kernel);
}
