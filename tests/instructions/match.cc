#include "instructions/match.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace baton::instructions {
namespace {

u64 lane_of(const KindInfo& type, u64 bits, unsigned lane) {
  const unsigned width = type.format->bits();
  const u64 mask = width == 64 ? ~u64{0} : (u64{1} << width) - 1;
  return bits >> (lane * width) & mask;
}

// The distance from one value of the format to the next, around `value`.
double step_at(const FloatFormat& format, double value) {
  if (value == 0)
    return std::ldexp(1.0, 1 - format.bias() - static_cast<int>(format.fraction_bits));
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  return std::ldexp(1.0, exponent - static_cast<int>(format.fraction_bits));
}

bool near(const FloatFormat& format, const Bounds& bounds, u64 got_bits, double want) {
  if (std::isnan(want)) return is_nan(format, got_bits);
  if (is_nan(format, got_bits)) return false;
  const double got = to_double(format, got_bits);
  const double rounded = to_double(format, from_double(format, want));
  if (got == rounded) return want != 0 || std::signbit(got) == std::signbit(want);
  const double smallest_normal = to_double(format, format.smallest_normal());
  if (bounds.flush && std::fabs(want) < smallest_normal * (1 + bounds.relative) && got == 0) {
    return std::signbit(got) == std::signbit(want);
  }
  if (std::isinf(want)) return false;
  // An infinity stands for the first value that is too large to represent.
  const double largest = to_double(format, format.largest());
  const double beyond = largest + step_at(format, largest);
  const auto reached = [beyond](double x) { return std::clamp(x, -beyond, beyond); };
  const double step = step_at(format, std::clamp(rounded, -largest, largest));
  if (std::fabs(reached(got) - reached(rounded)) <= bounds.ulps * step) return true;
  const double slack = step / 2;  // the result is still rounded to its format
  const double allowed = std::max(bounds.absolute, bounds.relative * std::fabs(reached(want)));
  return std::fabs(reached(got) - reached(want)) <= allowed + slack;
}

}  // namespace

bool matches(const Result& result, const Bounds& bounds, u64 got, const u64* want) {
  const KindInfo& type = info(result.kind);
  if (result.match == Match::kBits || type.format == nullptr) return got == want[0];
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    const u64 bits = lane_of(type, got, lane);
    if (result.match == Match::kNear) {
      if (!near(*type.format, bounds, bits, std::bit_cast<double>(want[lane]))) return false;
      continue;
    }
    const u64 wanted = lane_of(type, want[0], lane);
    if (bits == wanted) continue;
    if (!is_nan(*type.format, bits) || !is_nan(*type.format, wanted)) return false;
  }
  return true;
}

std::string show(Kind kind, u64 bits) {
  const KindInfo& type = info(kind);
  if (kind == Kind::kPred) return bits == 0 ? "false" : "true";
  std::string text = fmt::format("{:#0{}x}", bits, std::max(2u, type.bits / 4) + 2);
  if (type.format != nullptr) {
    text += " (";
    for (unsigned lane = 0; lane < type.lanes; ++lane) {
      if (lane > 0) text += ", ";
      text += fmt::format("{:.9g}", to_double(*type.format, lane_of(type, bits, lane)));
    }
    text += ')';
  }
  return text;
}

std::string show_wanted(const Result& result, const u64* want) {
  if (result.match != Match::kNear) return show(result.kind, want[0]);
  std::string text = "about ";
  for (unsigned lane = 0; lane < info(result.kind).lanes; ++lane) {
    if (lane > 0) text += ", ";
    text += fmt::format("{:.12g}", std::bit_cast<double>(want[lane]));
  }
  return text;
}

}  // namespace baton::instructions
