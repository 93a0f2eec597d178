#include "baton/dtype.h"

#include <array>

namespace baton {
namespace {

enum class Kind : std::uint8_t { kFloat, kBool, kSigned, kUnsigned };

struct Traits {
  std::uint8_t size;
  Kind kind;
};

// Both tables follow the enumeration's order.
constexpr std::array<std::string_view, 15> kNames = {"f16",    "bf16", "f32", "f64", "f8e4m3",
                                                     "f8e5m2", "bool", "i8",  "i16", "i32",
                                                     "i64",    "u8",   "u16", "u32", "u64"};
constexpr std::array<Traits, kNames.size()> kTraits = {{
    {2, Kind::kFloat},
    {2, Kind::kFloat},
    {4, Kind::kFloat},
    {8, Kind::kFloat},
    {1, Kind::kFloat},
    {1, Kind::kFloat},
    {1, Kind::kBool},
    {1, Kind::kSigned},
    {2, Kind::kSigned},
    {4, Kind::kSigned},
    {8, Kind::kSigned},
    {1, Kind::kUnsigned},
    {2, Kind::kUnsigned},
    {4, Kind::kUnsigned},
    {8, Kind::kUnsigned},
}};
static_assert(static_cast<std::size_t>(DType::kU64) + 1 == kNames.size());

const Traits& traits(DType dtype) {
  return kTraits[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view to_string(DType dtype) noexcept {
  return kNames[static_cast<std::size_t>(dtype)];
}

Span<const std::string_view> dtype_names() noexcept {
  return kNames;
}

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) noexcept {
  return traits(dtype).size;
}

bool is_signed_integer(DType dtype) noexcept {
  return traits(dtype).kind == Kind::kSigned;
}

}  // namespace baton
