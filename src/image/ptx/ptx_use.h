#pragma once

#include <optional>
#include <vector>

#include "baton/dtype.h"
#include "ptx/ast.h"

namespace baton::image {

// What the instructions of a kernel do with one parameter, as far as that tells its type.
struct ParamUse {
  bool as_pointer = false;    // an address, or converted by cvta
  bool as_integer = false;    // by arithmetic that is not done on addresses
  bool as_signed = false;     // by an instruction that takes it as signed
  bool as_unsigned = false;   // and as unsigned
  bool sign_unclear = false;  // by an unsigned one that compilers also make of signed sources
  std::optional<DType> as_float;
  bool floats_differ = false;  // as_float is one of several
  // Accesses of memory at the address, as far as they are seen: an address that goes through memory
  // or a call is not followed.
  bool reads = false;
  bool writes = false;
  std::optional<DType> element;  // the type of the first typed access
};

// Follows each parameter from its ld.param through moves, cvta and address sums to the instructions
// that use it. One pass in the order written: PTX from compilers defines before it uses. The answer
// is a list as long as `kernel.params`. Throws as Function::body does.
std::vector<ParamUse> param_uses(const ptx::Function& kernel);

}  // namespace baton::image
