#include "image/names/source_type.h"

#include <algorithm>
#include <iterator>

namespace baton::image {
namespace {

// CUDA's types on every platform it has: 64-bit, LP64.
struct KnownType {
  std::string_view name;
  DType dtype;
};
constexpr KnownType kKnownTypes[] = {
    {"bool", DType::kBool},
    {"char", DType::kI8},
    {"signed char", DType::kI8},
    {"unsigned char", DType::kU8},
    {"short", DType::kI16},
    {"unsigned short", DType::kU16},
    {"int", DType::kI32},
    {"unsigned int", DType::kU32},
    {"long", DType::kI64},
    {"unsigned long", DType::kU64},
    {"long long", DType::kI64},
    {"unsigned long long", DType::kU64},
    {"wchar_t", DType::kI32},
    {"char8_t", DType::kU8},
    {"char16_t", DType::kU16},
    {"char32_t", DType::kU32},
    {"float", DType::kF32},
    {"double", DType::kF64},
    {"__half", DType::kF16},
    {"_Float16", DType::kF16},
    {"__fp16", DType::kF16},
    {"__nv_bfloat16", DType::kBF16},
    {"__bf16", DType::kBF16},
    {"__nv_fp8_e4m3", DType::kF8E4M3},
    {"__nv_fp8_e5m2", DType::kF8E5M2},
};

}  // namespace

std::optional<DType> dtype_of_type(std::string_view name) {
  const auto found = std::find_if(std::begin(kKnownTypes), std::end(kKnownTypes),
                                  [&](const KnownType& known) { return known.name == name; });
  if (found == std::end(kKnownTypes)) return std::nullopt;
  return found->dtype;
}

}  // namespace baton::image
