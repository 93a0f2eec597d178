#include "launch/signature.h"

#include "base/error.h"
#include "base/text.h"

namespace baton::launch {
namespace {

std::string describe(const ArgumentType& type) {
  if (type.pointer) return "a device address";
  if (type.dtype) return fmt::format("of type {}", to_string(*type.dtype));
  return fmt::format("{} bytes", type.size);
}

std::string parameter_type(const KernelState& kernel, const ResolvedKernel& resolved,
                           std::size_t index) {
  const auto& facts = kernel.facts().params;
  if (facts && index < facts->size() && !(*facts)[index].type.empty()) {
    return printable((*facts)[index].type);  // types of templates can be thousands of characters
  }
  return fmt::format("{} bytes", resolved.params()[index].size);
}

}  // namespace

// Beside the size, floats are told from everything else, where both sides are known: an address may
// be handed over as the integer it is, and taken as one.
bool accepts_one(const ParamSlot& param, const ArgumentType& type) {
  if (param.size != type.size) return false;
  if (param.takes == ArgumentClass::kAny || (!type.pointer && !type.dtype)) return true;
  const bool gives_float = !type.pointer && is_float(*type.dtype);
  return gives_float == (param.takes == ArgumentClass::kFloat);
}

bool accepts(const ResolvedKernel& kernel, std::span<const ArgumentType> types) {
  const auto& params = kernel.params();
  if (params.size() != types.size()) return false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!accepts_one(params[i], types[i])) return false;
  }
  return true;
}

Error unfit_arguments(const KernelState& kernel, const ResolvedKernel& resolved,
                      std::span<const ArgumentType> types) {
  const auto& params = resolved.params();
  const std::string& name = kernel.facts().name;
  const std::string signature = parameter_list(kernel, resolved);
  if (params.size() != types.size()) {
    return error(ErrorCode::kInvalidInput, "kernel {} takes {} argument{} ({}), {} {} given", name,
                 params.size(), params.size() == 1 ? "" : "s", signature, types.size(),
                 types.size() == 1 ? "was" : "were");
  }
  std::size_t index = 0;
  while (index + 1 < types.size() && accepts_one(params[index], types[index])) ++index;
  return unfit_argument(kernel, resolved, index, types[index]);
}

Error unfit_argument(const KernelState& kernel, const ResolvedKernel& resolved, std::size_t index,
                     const ArgumentType& type) {
  const auto& params = resolved.params();
  const std::string& name = kernel.facts().name;
  const std::string signature = parameter_list(kernel, resolved);
  const std::string wanted = parameter_type(kernel, resolved, index);
  if (params[index].size != type.size) {
    return error(ErrorCode::kInvalidInput,
                 "kernel {}: argument {} has {} bytes, the parameter ({}) has {}; it takes "
                 "({})",
                 name, index, type.size, wanted, params[index].size, signature);
  }
  return error(ErrorCode::kInvalidInput,
               "kernel {}: argument {} is {}, the parameter is {}; it takes ({})", name, index,
               describe(type), wanted, signature);
}

std::string parameter_list(const KernelState& kernel, const ResolvedKernel& resolved) {
  std::string list;
  for (std::size_t i = 0; i < resolved.params().size(); ++i) {
    if (i != 0) list += ", ";
    list += parameter_type(kernel, resolved, i);
  }
  return list.empty() ? "none" : list;
}

}  // namespace baton::launch
