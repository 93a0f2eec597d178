#include "metadata/data_type.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace baton {
namespace {

using Code = MetadataType::Code;

// A family of types: a name with a number of bits after it.
struct Family {
  Code code;
  std::string_view name;
  std::string_view shorthand;
  std::array<std::uint8_t, 7> bits;  // that there are; 0 ends them
};
// DLPack's kDLInt, kDLUInt, kDLFloat and kDLBfloat.
constexpr Family kFamilies[] = {
    {Code::kInt, "int", "i", {1, 2, 4, 8, 16, 32, 64}},
    {Code::kUint, "uint", "u", {1, 2, 4, 8, 16, 32, 64}},
    {Code::kFloat, "float", "f", {16, 32, 64}},
    {Code::kBfloat, "bfloat", "bf", {16}},
};

// A type whose name is whole; DLPack 1.1 has the codes.
struct Single {
  Code code;
  std::uint8_t bits;
  std::string_view name;
  std::string_view shorthand;
};
constexpr Single kSingles[] = {
    {Code::kHandle, 64, "handle", ""},
    {Code::kBool, 8, "bool", ""},
    {Code::kFloat8E3M4, 8, "float8_e3m4", "fp8_e3m4"},
    {Code::kFloat8E4M3, 8, "float8_e4m3", "fp8_e4m3"},
    {Code::kFloat8E4M3B11Fnuz, 8, "float8_e4m3b11fnuz", "fp8_e4m3b11fnuz"},
    {Code::kFloat8E4M3Fn, 8, "float8_e4m3fn", "fp8_e4m3fn"},
    {Code::kFloat8E4M3Fnuz, 8, "float8_e4m3fnuz", "fp8_e4m3fnuz"},
    {Code::kFloat8E5M2, 8, "float8_e5m2", "fp8_e5m2"},
    {Code::kFloat8E5M2Fnuz, 8, "float8_e5m2fnuz", "fp8_e5m2fnuz"},
    {Code::kFloat8E8M0Fnu, 8, "float8_e8m0fnu", "fp8_e8m0fnu"},
    {Code::kFloat6E2M3Fn, 6, "float6_e2m3fn", "fp6_e2m3fn"},
    {Code::kFloat6E3M2Fn, 6, "float6_e3m2fn", "fp6_e3m2fn"},
    {Code::kFloat4E2M1Fn, 4, "float4_e2m1fn", "fp4_e2m1fn"},
};

struct SameType {
  DType dtype;
  Code code;
  std::uint8_t bits;
};
constexpr SameType kSame[] = {
    {DType::kF16, Code::kFloat, 16},
    {DType::kBF16, Code::kBfloat, 16},
    {DType::kF32, Code::kFloat, 32},
    {DType::kF64, Code::kFloat, 64},
    {DType::kF8E4M3, Code::kFloat8E4M3Fn, 8},
    {DType::kF8E5M2, Code::kFloat8E5M2, 8},
    {DType::kBool, Code::kBool, 8},
    {DType::kBool, Code::kUint, 1},
    {DType::kI8, Code::kInt, 8},
    {DType::kI16, Code::kInt, 16},
    {DType::kI32, Code::kInt, 32},
    {DType::kI64, Code::kInt, 64},
    {DType::kU8, Code::kUint, 8},
    {DType::kU16, Code::kUint, 16},
    {DType::kU32, Code::kUint, 32},
    {DType::kU64, Code::kUint, 64},
};

bool has_bits(const Family& family, std::uint8_t bits) {
  return bits != 0 && std::find(family.bits.begin(), family.bits.end(), bits) != family.bits.end();
}

template <typename T>
std::optional<T> parse_count(std::string_view digits) {
  T value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, value);
  if (status != std::errc() || stop != end || digits.empty() || digits[0] == '0') {
    return std::nullopt;
  }
  return value;
}

std::optional<MetadataType> parse_scalar(std::string_view name) {
  for (const Single& single : kSingles) {
    if (name == single.name || (!single.shorthand.empty() && name == single.shorthand)) {
      return MetadataType{single.code, single.bits, 1};
    }
  }
  for (const Family& family : kFamilies) {
    for (const std::string_view prefix : {family.name, family.shorthand}) {
      if (!name.starts_with(prefix)) continue;
      const auto bits = parse_count<std::uint8_t>(name.substr(prefix.size()));
      if (bits && has_bits(family, *bits)) return MetadataType{family.code, *bits, 1};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<MetadataType> MetadataType::parse(std::string_view name) {
  if (auto scalar = parse_scalar(name)) return scalar;
  const std::size_t x = name.rfind('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto count = parse_count<std::uint16_t>(name.substr(x + 1));
  auto type = parse_scalar(name.substr(0, x));
  if (!count || !type) return std::nullopt;
  type->lanes = *count;
  return type;
}

std::string MetadataType::name() const {
  const std::string suffix = lanes == 1 ? "" : fmt::format("x{}", lanes);
  for (const Single& single : kSingles) {
    if (single.code == code) return fmt::format("{}{}", single.name, suffix);
  }
  for (const Family& family : kFamilies) {
    if (family.code == code) return fmt::format("{}{}{}", family.name, bits, suffix);
  }
  return fmt::format("type {}", static_cast<int>(code));
}

std::optional<DType> MetadataType::dtype() const {
  if (lanes != 1) return std::nullopt;
  for (const SameType& same : kSame) {
    if (same.code == code && same.bits == bits) return same.dtype;
  }
  return std::nullopt;
}

MetadataType MetadataType::of(DType dtype) {
  const SameType* same = std::find_if(std::begin(kSame), std::end(kSame),
                                      [&](const SameType& one) { return one.dtype == dtype; });
  return {same->code, same->bits, 1};
}

namespace metadata {

std::optional<MetadataType> make_type(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes) {
  if (lanes == 0) return std::nullopt;
  for (const Single& single : kSingles) {
    if (static_cast<std::uint8_t>(single.code) == code && single.bits == bits) {
      return MetadataType{single.code, bits, lanes};
    }
  }
  for (const Family& family : kFamilies) {
    if (static_cast<std::uint8_t>(family.code) == code && has_bits(family, bits)) {
      return MetadataType{family.code, bits, lanes};
    }
  }
  return std::nullopt;
}

}  // namespace metadata
}  // namespace baton
