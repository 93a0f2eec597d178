#include "instructions/scalar.h"

#include <cstddef>

namespace baton::instructions {

const KindInfo& info(Kind kind) {
  static constexpr KindInfo kInfo[] = {
      {"pred", "", 1, 1},
      {"b32", "b32", 8, 1},
      {"b32", "b32", 8, 1},
      {"b16", "b16", 16, 1},
      {"b16", "b16", 16, 1},
      {"b32", "b32", 32, 1},
      {"b32", "b32", 32, 1},
      {"b64", "b64", 64, 1},
      {"b64", "b64", 64, 1},
      {"b16", "b16", 16, 1, &kF16Format},
      {"b16", "b16", 16, 1, &kBF16Format},
      {"f32", "f32", 32, 1, &kF32Format},
      {"f64", "f64", 64, 1, &kF64Format},
      {"b32", "b32", 32, 2, &kF16Format},
      {"b32", "b32", 32, 2, &kBF16Format},
  };
  return kInfo[static_cast<std::size_t>(kind)];
}

}  // namespace baton::instructions
