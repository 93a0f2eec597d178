#pragma once

#include <span>
#include <string>

#include "baton/error.h"
#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// True where arguments of these types fill the kernel's parameters: as many, each of its size and,
// where both sides are known, of its class (address, integer or float), an address of elements of
// its type.
bool accepts(const ResolvedKernel& kernel, std::span<const ArgumentType> types);

// Whether memory of elements `a` may be passed as memory of other elements `b`.
bool similar_elements(DType a, DType b);

// The same of one argument. What is not known, on either side, is not checked. Inline, as each
// replaced argument of a prepared launch is checked.
inline bool accepts_one(const TypedParam& param, const ArgumentType& type) {
  if (param.size != type.size) return false;
  if (type.pointer) {
    if (param.takes != ArgumentClass::kPointer) {
      return param.takes == ArgumentClass::kAny || param.takes == ArgumentClass::kIntegerOrPointer;
    }
    return !param.element || !type.dtype || *param.element == *type.dtype ||
           similar_elements(*param.element, *type.dtype);
  }
  if (!type.dtype || param.takes == ArgumentClass::kAny) return true;
  if (is_float(*type.dtype)) return param.takes == ArgumentClass::kFloat;
  return param.takes == ArgumentClass::kInteger || param.takes == ArgumentClass::kIntegerOrPointer;
}

// What is wrong with arguments that the kernel does not accept, with the kernel's signature.
Error unfit_arguments(const KernelState& kernel, const ResolvedKernel& resolved,
                      std::span<const ArgumentType> types);

// What is wrong with the one of this index, which is that of a parameter.
Error unfit_argument(const KernelState& kernel, const ResolvedKernel& resolved, std::size_t index,
                     const ArgumentType& type);

// "float*, float const*, float, int", as far as the image says.
std::string parameter_list(const KernelState& kernel, const ResolvedKernel& resolved);

}  // namespace baton::launch
