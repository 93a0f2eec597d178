#include "image/ptx/ptx_types.h"

#include <algorithm>
#include <iterator>

namespace baton::image {
namespace {

using Class = PtxType::Class;

struct TypeRow {
  std::string_view name;
  PtxType type;
};

constexpr TypeRow kTypes[] = {
    {"b8", {Class::kUntyped, 1, std::nullopt}},    {"b16", {Class::kUntyped, 2, std::nullopt}},
    {"b32", {Class::kUntyped, 4, std::nullopt}},   {"b64", {Class::kUntyped, 8, std::nullopt}},
    {"b128", {Class::kUntyped, 16, std::nullopt}}, {"u8", {Class::kUnsigned, 1, DType::kU8}},
    {"u16", {Class::kUnsigned, 2, DType::kU16}},   {"u32", {Class::kUnsigned, 4, DType::kU32}},
    {"u64", {Class::kUnsigned, 8, DType::kU64}},   {"s8", {Class::kSigned, 1, DType::kI8}},
    {"s16", {Class::kSigned, 2, DType::kI16}},     {"s32", {Class::kSigned, 4, DType::kI32}},
    {"s64", {Class::kSigned, 8, DType::kI64}},     {"f16", {Class::kFloat, 2, DType::kF16}},
    {"bf16", {Class::kFloat, 2, DType::kBF16}},    {"f32", {Class::kFloat, 4, DType::kF32}},
    {"f64", {Class::kFloat, 8, DType::kF64}},      {"f16x2", {Class::kFloat, 4, std::nullopt}},
    {"bf16x2", {Class::kFloat, 4, std::nullopt}},
};

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

}  // namespace

std::optional<PtxType> ptx_type(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeRow& r) { return r.name == name; });
  if (found == std::end(kTypes)) return std::nullopt;
  return found->type;
}

std::optional<PtxExtent> extent_of(const ptx::Variable& variable) {
  const std::optional<PtxType> type = ptx_type(variable.type);
  if (!type) return std::nullopt;
  PtxExtent extent;
  extent.size = std::uint64_t{type->size} * std::max<std::uint64_t>(variable.vector, 1);
  extent.align = variable.align != 0 ? variable.align : extent.size;
  for (const std::int64_t count : variable.extents) {
    if (count < 0) return std::nullopt;
    if (count != 0 && extent.size > kMaxBytes / static_cast<std::uint64_t>(count)) {
      return std::nullopt;
    }
    extent.size *= static_cast<std::uint64_t>(count);
  }
  return extent;
}

}  // namespace baton::image
