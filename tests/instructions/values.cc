#include "instructions/values.h"

#include <algorithm>
#include <utility>

namespace baton::instructions {
namespace {

constexpr std::size_t kMostCombinations = 3000;
constexpr std::size_t kRandomRows = 700;
constexpr std::size_t kGroups = 24;  // of rows that belong together

std::vector<u64> integer_edges(unsigned bits) {
  const u64 all = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const u64 top = u64{1} << (bits - 1);
  std::vector<u64> edges = {0,           1,       all,      top,      top - 1, 2,    all - 1,
                            top + 1,     top - 2, 7,        3,        all - 6, 0x55, all / 3,
                            all / 3 * 2, bits,    bits - 1, bits + 1, 100};
  // Half the width is where products and 16- or 32-bit shortcuts go wrong.
  const u64 half = u64{1} << (bits / 2);
  edges.insert(edges.end(), {half, half - 1, half + 1, all - half, half / 2, half / 2 - 1});
  for (u64& edge : edges) edge &= all;
  return edges;
}

std::vector<u64> float_edges(const FloatFormat& format) {
  const u64 one = static_cast<u64>(format.bias()) << format.fraction_bits;
  const u64 step = u64{1} << format.fraction_bits;  // to the next power of two
  const u64 half_fraction = step / 2;
  std::vector<u64> positive = {0,
                               one,
                               format.infinity(),
                               format.infinity() + half_fraction,  // quiet NaN
                               1,                                  // smallest subnormal
                               format.smallest_normal(),
                               format.largest(),
                               one + half_fraction,  // 1.5
                               format.smallest_normal() - 1,
                               one + 1,
                               one - 1,
                               one - step,                      // 0.5
                               one + step + half_fraction / 2,  // 2.5
                               one + step + half_fraction,      // 3
                               format.infinity() + 1,           // signalling NaN
                               format.smallest_normal() + 1,
                               one - step - 1,                       // just below 0.5
                               one + step * (format.fraction_bits),  // the last odd fraction bit
                               one + step * (format.fraction_bits + 1) + 1};
  std::vector<u64> edges;
  for (const u64 each : positive) {
    edges.push_back(each);
    edges.push_back(each | format.sign_bit());
  }
  return edges;
}

// Half of them any bits, half with an exponent near one's: sums cancel, products stay finite.
u64 random_float(const FloatFormat& format, Random& random) {
  const u64 bits = random() & (format.sign_bit() | format.magnitude_mask());
  if (random() % 2 == 0) return bits;
  const u64 spread = std::min<u64>(2 * format.fraction_bits, static_cast<u64>(format.bias()));
  const u64 field = static_cast<u64>(format.bias()) - spread / 2 + random() % (spread + 1);
  return (bits & (format.sign_bit() | format.fraction_mask())) | field << format.fraction_bits;
}

// Any bits, or few of them: small and large magnitudes are as likely as middling ones.
u64 random_integer(unsigned bits, Random& random) {
  const u64 any = bits == 64 ? random() : random() & ((u64{1} << bits) - 1);
  if (random() % 2 == 0) return any;
  const u64 small = any >> (random() % bits);
  const u64 all = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  return random() % 2 == 0 ? small : ~small & all;
}

u64 pick(const Values& values, Random& random, bool edge) {
  if (values.random && (!edge || values.edges.empty())) return values.random(random);
  return values.edges[random() % values.edges.size()];
}

// All combinations of the edges, the first operand's changing slowest.
void combine(const RowPlan& plan, std::span<const std::size_t> sizes, std::vector<u64>& rows) {
  std::vector<std::size_t> at(sizes.size(), 0);
  while (true) {
    for (std::size_t i = 0; i < at.size(); ++i) rows.push_back(plan.operands[i].edges[at[i]]);
    std::size_t operand = at.size();
    while (operand > 0 && ++at[operand - 1] == sizes[operand - 1]) at[--operand] = 0;
    if (operand == 0) return;
  }
}

std::size_t product_of(std::span<const std::size_t> sizes) {
  std::size_t count = 1;
  for (const std::size_t size : sizes) count *= size;
  return count;
}

}  // namespace

Values values_of(Kind kind) {
  const KindInfo& type = info(kind);
  if (kind == Kind::kPred) return only({0, 1});
  if (type.format == nullptr) {
    return {integer_edges(type.bits),
            [bits = type.bits](Random& random) { return random_integer(bits, random); }};
  }
  const FloatFormat& format = *type.format;
  if (type.lanes == 1) {
    return {float_edges(format),
            [&format](Random& random) { return random_float(format, random); }};
  }
  const std::vector<u64> single = float_edges(format);
  Values packed;
  // Each edge in both halves, beside a different one.
  for (std::size_t i = 0; i < single.size(); ++i) {
    packed.edges.push_back(single[i] | single[(i * 7 + 3) % single.size()] << 16);
  }
  packed.random = [&format](Random& random) {
    const u64 low = random_float(format, random);
    return low | random_float(format, random) << 16;
  };
  return packed;
}

Values only(std::vector<u64> values) {
  return {std::move(values), nullptr};
}

Values range(s64 first, s64 last) {
  std::vector<u64> values;
  for (s64 value = first; value <= last; ++value) values.push_back(static_cast<u64>(value));
  return only(std::move(values));
}

Values interval(const FloatFormat& format, double low, double high) {
  return {{from_double(format, low), from_double(format, high)},
          [&format, low, high](Random& random) {
            const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
            return from_double(format, low + (high - low) * unit);
          }};
}

std::vector<u64> make_rows(const RowPlan& plan) {
  const std::size_t arity = plan.operands.size();
  Random random(2026);
  std::vector<u64> rows;
  if (plan.group > 1) {
    std::vector<u64> shared(arity);
    for (std::size_t group = 0; group < kGroups; ++group) {
      // In every third group all values are random, in the others edges turn up too.
      const bool edges = group % 3 != 0;
      for (std::size_t i = 0; i < arity; ++i) {
        shared[i] = pick(plan.operands[i], random, edges && random() % 2 == 0);
      }
      for (unsigned row = 0; row < plan.group; ++row) {
        for (std::size_t i = 0; i < arity; ++i) {
          rows.push_back(plan.uniform[i]
                             ? shared[i]
                             : pick(plan.operands[i], random, edges && random() % 2 == 0));
        }
      }
    }
    return rows;
  }
  if (arity == 0) return rows;
  std::vector<std::size_t> sizes;
  for (const Values& values : plan.operands) sizes.push_back(values.edges.size());
  // Too many combinations: the largest set of edges drops its least telling ones.
  // A single operand keeps all that it was given.
  while (arity > 1 && product_of(sizes) > kMostCombinations) {
    --*std::max_element(sizes.begin(), sizes.end());
  }
  combine(plan, sizes, rows);
  if (!std::any_of(plan.operands.begin(), plan.operands.end(),
                   [](const Values& values) { return values.random != nullptr; })) {
    return rows;
  }
  for (std::size_t row = 0; row < kRandomRows; ++row) {
    for (const Values& values : plan.operands) {
      rows.push_back(pick(values, random, random() % 4 == 0));
    }
  }
  return rows;
}

}  // namespace baton::instructions
