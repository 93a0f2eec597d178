#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "baton/array.h"
#include "baton/launch.h"

namespace baton::cli {

// How values read in tables.

// A name as a terminal shows it, cut in the middle where it is very long: what tells instances of a
// template apart is mostly at the end.
std::string shortened(std::string_view name);
// "64 x 4"; trailing extents of one are left out.
std::string format_extent(const Dim3& extent);
// "[2048, 3]".
std::string format_shape(std::span<const std::int64_t> shape);
// "987", "12.3 k", "4.57 M": three digits, powers of 1000.
std::string format_count(std::uint64_t count);
// How long ago, in whole units: "< 1 s", "119 s", "119 min", "47 h", "12 days". What lies in the
// future, where two machines' clocks differ, is "< 1 s" too.
std::string format_age(std::chrono::seconds age);
// "1.5 KiB"; nothing where it is unknown.
std::string format_known_bytes(const std::optional<std::uint32_t>& bytes);
// An integer; nothing where it is unknown.
template <typename Integer>
std::string format_known(const std::optional<Integer>& value) {
  return value ? std::to_string(*value) : "";
}
// "4.27 TB/s", of bytes in a second, or of something else; powers of 1000.
std::string format_rate(double per_second, std::string_view unit = "B/s");
// One element as a number, floats to six digits.
std::string format_element(const Array& array, std::int64_t index);
// The first few elements, and "..." where there are more.
std::string format_elements(const Array& array, std::int64_t most);

}  // namespace baton::cli
