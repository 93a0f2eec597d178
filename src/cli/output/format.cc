#include "cli/output/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "tools/basics.h"

namespace baton::cli {

std::string shortened(std::string_view name) {
  constexpr std::size_t kMost = 120, kFirst = 70;
  std::string text = printable(name, std::string_view::npos);
  if (text.size() <= kMost) return text;
  const auto is_inside = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  std::size_t head = kFirst;
  while (is_inside(head)) --head;
  std::size_t tail = text.size() - (kMost - kFirst - 3);
  while (is_inside(tail)) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

std::string format_extent(const Dim3& extent) {
  if (extent.z != 1) return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
  if (extent.y != 1) return fmt::format("{} x {}", extent.x, extent.y);
  return fmt::format("{}", extent.x);
}

std::string format_shape(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string format_count(std::uint64_t count) {
  if (count < 1000) return fmt::format("{}", count);
  double value = static_cast<double>(count);
  for (const char unit : {'k', 'M', 'G', 'T'}) {
    value /= 1000;
    // 999.5 would be written as 1000.
    if (value < 999.5 || unit == 'T') {
      return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
    }
  }
  return {};
}

std::string format_age(std::chrono::seconds age) {
  const std::int64_t seconds = age.count();
  if (seconds < 1) return "< 1 s";
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 120 * 60) return fmt::format("{} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / (24 * 3600));
}

std::string format_rate(double per_second, std::string_view unit) {
  const std::string count = format_count(static_cast<std::uint64_t>(per_second));
  return fmt::format("{}{}{}", count, per_second < 999.5 ? " " : "", unit);
}

std::string format_element(const Array& array, std::int64_t index) {
  const std::size_t size = size_of(array.dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.data() + static_cast<std::size_t>(index) * size, size);
  if (is_float(array.dtype)) return fmt::format("{:.6g}", decode_float(array.dtype, bits));
  if (!is_signed_integer(array.dtype)) return fmt::format("{}", bits);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

std::string format_elements(const Array& array, std::int64_t most) {
  const std::int64_t shown = std::min(array.elements(), most);
  std::string text;
  for (std::int64_t i = 0; i < shown; ++i) {
    if (i > 0) text += "  ";
    text += format_element(array, i);
  }
  if (array.elements() > shown) text += "  ...";
  return text;
}

std::string format_known_bytes(const std::optional<std::uint32_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "";
}

}  // namespace baton::cli
