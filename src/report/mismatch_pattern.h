#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace baton::report {

// Collects the mismatches of two arrays, and describes where they lie and what they hold.
class MismatchPattern {
 public:
  explicit MismatchPattern(std::vector<std::int64_t> shape);

  // In C order. `flat`: the number of the element.
  void add(std::int64_t flat, double got, double want);

  // "row 3, [3, :]; each is 0". Empty if nothing simple holds for all of them.
  std::string text() const;

 private:
  // Whether numbers are all of first, first + step, ... last.
  struct Range {
    std::int64_t first = 0, last = 0, step = 0;  // step 0: one number

    void add(std::int64_t number);
    std::int64_t count() const { return step == 0 ? 1 : (last - first) / step + 1; }
  };
  // Of the quotients of got and want.
  struct Ratio {
    double least = 0, greatest = 0;
  };

  std::string place() const;
  std::string box() const;
  std::string run() const;
  std::string values() const;

  const std::vector<std::int64_t> shape_;
  std::int64_t elements_ = 1;
  std::int64_t count_ = 0;
  Range flat_;
  std::vector<Range> axes_;
  std::optional<double> value_;  // that all of them hold
  std::optional<Ratio> ratio_;   // the ratio that all of them have
};

}  // namespace baton::report
