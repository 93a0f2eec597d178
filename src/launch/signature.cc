#include "launch/signature.h"

#include "base/error.h"
#include "base/text/text.h"
#include "image/names/param_types.h"

namespace baton::launch {
namespace {

std::string describe(const ArgumentType& type) {
  if (type.pointer) {
    return type.dtype ? fmt::format("the address of {} elements", to_string(*type.dtype))
                      : "a device address";
  }
  if (type.dtype) return fmt::format("of type {}", to_string(*type.dtype));
  return fmt::format("{} bytes", type.size);
}

std::string declaration(const KernelState& kernel, const ResolvedKernel& resolved,
                        std::size_t index) {
  const auto& facts = kernel.facts().params;
  if (facts && index < facts->size()) {
    return image::declaration_text((*facts)[index], (*facts)[index].name);
  }
  return fmt::format("{} bytes", resolved.params()[index].size);
}

}  // namespace

// Integers of either sign are alike, and so are floats of one or two bytes, which travel in host
// types of anyone's making. Bytes are memory of whatever type.
bool similar_elements(DType a, DType b) {
  const auto is_byte = [](DType type) { return type == DType::kI8 || type == DType::kU8; };
  if (is_byte(a) || is_byte(b)) return true;
  if (size_of(a) != size_of(b)) return false;
  return is_float(a) == is_float(b) || size_of(a) <= 2;
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
  const std::string name = printable(image::without_params(kernel.facts().demangled));
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
  const std::string name = printable(image::without_params(kernel.facts().demangled));
  const std::string signature = parameter_list(kernel, resolved);
  const std::string wanted = declaration(kernel, resolved, index);
  if (params[index].size != type.size) {
    return error(ErrorCode::kInvalidInput,
                 "kernel {}: argument {} has {} bytes, the parameter ({}) has {}; it takes "
                 "({})",
                 name, index, type.size, wanted, params[index].size, signature);
  }
  Error refused = error(ErrorCode::kInvalidInput,
                        "kernel {}: argument {} is {}, the parameter is {}; it takes ({})", name,
                        index, describe(type), wanted, signature);
  if (params[index].takes == ArgumentClass::kPointer && !type.pointer) {
    refused.note(
        "an address is passed as a Buffer, as device_pointer(p) or as "
        "DevicePointer<T>{address}");
  }
  return refused;
}

std::string parameter_list(const KernelState& kernel, const ResolvedKernel& resolved) {
  std::string list;
  for (std::size_t i = 0; i < resolved.params().size(); ++i) {
    if (i != 0) list += ", ";
    list += declaration(kernel, resolved, i);
  }
  return list.empty() ? "none" : list;
}

}  // namespace baton::launch
