#include "report/mismatch_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/array/array.h"

namespace baton::report {
namespace {

// Fewer elements have no pattern.
constexpr std::int64_t kLeastCount = 3;
// Quotients that differ by less, as a share, are one factor.
constexpr double kSameFactor = 1e-3;

std::string ordinal(std::int64_t number) {
  const bool is_teen = number % 100 / 10 == 1;
  const char* const ending = is_teen            ? "th"
                             : number % 10 == 1 ? "st"
                             : number % 10 == 2 ? "nd"
                             : number % 10 == 3 ? "rd"
                                                : "th";
  return fmt::format("{}{}", number, ending);
}

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// As an index of NumPy: "3", ":", "16:32", "3::4".
std::string slice(std::int64_t first, std::int64_t last, std::int64_t step, std::int64_t extent) {
  if (first == last && extent > 1) return std::to_string(first);
  const bool reaches_end = last + std::max<std::int64_t>(step, 1) >= extent;
  std::string text = first == 0 ? "" : std::to_string(first);
  text += ':';
  if (!reaches_end) text += std::to_string(last + 1);
  if (step > 1) text += fmt::format(":{}", step);
  return text;
}

}  // namespace

MismatchPattern::MismatchPattern(std::vector<std::int64_t> shape)
    : shape_(std::move(shape)), axes_(shape_.size()) {
  for (const std::int64_t extent : shape_) elements_ *= extent;
}

void MismatchPattern::Range::add(std::int64_t number) {
  step = std::gcd(step, std::abs(number - first));
  first = std::min(first, number);
  last = std::max(last, number);
}

void MismatchPattern::add(std::int64_t flat, double got, double want) {
  const std::vector<std::int64_t> index = index_of(flat, shape_);
  const bool has_ratio = std::isfinite(got) && std::isfinite(want) && want != 0;
  const double ratio = got / want;
  if (count_++ == 0) {
    flat_ = {flat, flat, 0};
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      axes_[axis] = {index[axis], index[axis], 0};
    value_ = got;
    if (has_ratio) ratio_ = Ratio{ratio, ratio};
    return;
  }
  flat_.add(flat);
  for (std::size_t axis = 0; axis < index.size(); ++axis) axes_[axis].add(index[axis]);
  if (value_ && !is_same(*value_, got)) value_.reset();
  if (!has_ratio) ratio_.reset();
  if (ratio_) ratio_ = Ratio{std::min(ratio_->least, ratio), std::max(ratio_->greatest, ratio)};
}

std::string MismatchPattern::text() const {
  if (count_ < kLeastCount) return {};
  std::string where = place();
  const std::string what = values();
  if (!where.empty() && !what.empty()) where += "; ";
  return where + what;
}

std::string MismatchPattern::place() const {
  if (count_ == elements_) return "every element";
  if (shape_.size() > 1) {
    if (std::string text = box(); !text.empty()) return text;
  }
  return run();
}

// Mismatches that fill a part of each axis.
std::string MismatchPattern::box() const {
  std::int64_t product = 1;
  std::vector<std::string> slices;
  std::vector<std::size_t> single;  // axes of which one index is wrong
  std::size_t whole = 0;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const Range& range = axes_[axis];
    product *= range.count();
    slices.push_back(slice(range.first, range.last, range.step, shape_[axis]));
    if (slices.back() == ":") {
      ++whole;
    } else if (range.count() == 1) {
      single.push_back(axis);
    }
  }
  if (product != count_) return {};
  const std::string text = fmt::format("[{}]", fmt::join(slices, ", "));
  const bool is_line = shape_.size() == 2 && single.size() == 1 && whole == 1;
  if (!is_line) return "all of " + text;
  return fmt::format("{} {}, {}", single[0] == 0 ? "row" : "column", axes_[single[0]].first, text);
}

// Mismatches at equal distances in C order.
std::string MismatchPattern::run() const {
  if (flat_.count() != count_) return {};
  const auto at = [&](std::int64_t flat) {
    return shape_.size() == 1 ? fmt::format("index {}", flat) : shape_text(index_of(flat, shape_));
  };
  const bool reaches_end = flat_.last + flat_.step >= elements_;
  if (flat_.step == 1) {
    if (reaches_end) return fmt::format("from {} on", at(flat_.first));
    if (flat_.first == 0) return fmt::format("up to {}", at(flat_.last));
    return fmt::format("from {} to {}", at(flat_.first), at(flat_.last));
  }
  return fmt::format("every {} element, from {} {}", ordinal(flat_.step), at(flat_.first),
                     reaches_end ? "on" : "to " + at(flat_.last));
}

std::string MismatchPattern::values() const {
  if (value_) return fmt::format("each is {}", *value_);
  if (!ratio_ || ratio_->least * ratio_->greatest <= 0) return {};
  const double spread = std::abs(ratio_->greatest - ratio_->least);
  if (spread > kSameFactor * std::abs(ratio_->least)) return {};
  return fmt::format("each is {:.4g} times what is expected", ratio_->least);
}

}  // namespace baton::report
