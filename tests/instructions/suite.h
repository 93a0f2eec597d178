#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "baton/launch.h"
#include "instructions/values.h"

// The table of what is tested: families of groups of cases. A case is an instruction (or a few) in
// PTX text, and a scalar reference in C++ whose signature names the operands' types:
//
//   group.add("mad.lo.s32 %d, %a, %b, %c;", [](s32 a, s32 b, s32 c) { … });
//
// Inputs are %a %b %c %e in the reference's order, results %d %x %y %z. The text may declare what
// it needs. It also finds %index (of its thread in the grid) and %tid_ (in its block).
namespace baton::instructions {

inline constexpr std::string_view kInputNames[] = {"a", "b", "c", "e"};
inline constexpr std::string_view kResultNames[] = {"d", "x", "y", "z"};

// How far a result may be from the reference's. What is not set allows nothing.
struct Bounds {
  double relative = 0;
  double absolute = 0;
  double ulps = 0;     // of the correctly rounded result
  bool flush = false;  // subnormal results may be zero of their sign
};

enum class Match : u8 {
  kBits,  // equal bits
  kNan,   // equal bits, or both NaN: where the ISA leaves the payload open
  kNear,  // within the case's bounds
};

struct Result {
  Kind kind;
  Match match;
};

// All rows of one thread, warp or block: inputs row by row, then results row by row. For kNear a
// result is the bits of a double, `lanes` of them for packed kinds (hence two slots a result).
using Reference = std::function<void(const u64* inputs, u64* results)>;
inline constexpr std::size_t kSlotsPerResult = 2;

struct Case {
  std::string text;
  std::vector<Kind> inputs;
  std::vector<Result> results;
  Reference reference;
  RowPlan rows;  // `operands` match `inputs`
  Bounds bounds;
  std::string parameters;          // more parameters, with a leading comma
  std::vector<std::string> bytes;  // their values
  std::string directives;          // of the entry
  Dim3 block = 128;                // of a case whose rows belong together, a block or a part of it

  // --- What a table says beyond the text and the reference ---
  Case& operand(std::size_t index, Values values) {
    rows.operands[index] = std::move(values);
    return *this;
  }
  // One value for all threads of a warp or block.
  Case& uniform(std::size_t index) {
    rows.uniform[index] = true;
    return *this;
  }
  Case& within(const Bounds& limits) {
    bounds = limits;
    return *this;
  }
  // The ISA names the NaN that results: compare its bits too.
  Case& exact_nan() {
    for (Result& result : results) {
      if (result.match == Match::kNan) result.match = Match::kBits;
    }
    return *this;
  }
  // Each block is a cluster: what goes through one is illegal elsewhere.
  Case& in_cluster() {
    directives += ".explicitcluster .reqnctapercluster 1, 1, 1\n";
    return *this;
  }
  Case& parameter(std::string_view declaration, std::string value) {
    parameters += ", ";
    parameters += declaration;
    bytes.push_back(std::move(value));
    return *this;
  }
};

namespace detail {

template <typename T>
constexpr Result result_of() {
  const Kind kind = kind_of<T>();
  if (kIsNear<T>) return {kind, Match::kNear};
  return {kind, info(kind).format != nullptr ? Match::kNan : Match::kBits};
}

template <typename T>
void put(u64* slots, const T& value) {
  if constexpr (kIsNear<T>) {
    slots[0] = std::bit_cast<u64>(value.value[0]);
    slots[1] = std::bit_cast<u64>(value.value[1]);
  } else {
    slots[0] = to_bits(value);
  }
}

template <typename T>
struct Results {
  static std::vector<Result> list() { return {result_of<T>()}; }
  static void store(u64* slots, const T& value) { put(slots, value); }
};
template <typename... T>
struct Results<std::tuple<T...>> {
  static std::vector<Result> list() { return {result_of<T>()...}; }
  static void store(u64* slots, const std::tuple<T...>& value) {
    std::apply(
        [slots](const T&... each) {
          u64* at = slots;
          ((put(at, each), at += kSlotsPerResult), ...);
        },
        value);
  }
};
template <typename T, std::size_t kCount>
struct Results<std::array<T, kCount>> {
  static std::vector<Result> list() { return std::vector<Result>(kCount, result_of<T>()); }
  static void store(u64* slots, const std::array<T, kCount>& value) {
    for (std::size_t i = 0; i < kCount; ++i) put(slots + i * kSlotsPerResult, value[i]);
  }
};

// The operands that a reference's signature names.
template <typename F, typename R, typename... A>
struct SignatureOf {
  static std::vector<Kind> inputs() { return {kind_of<A>()...}; }
  static std::vector<Result> results() { return Results<R>::list(); }
  static Reference reference(F function) {
    return [function](const u64* in, u64* out) {
      call(function, in, out, std::index_sequence_for<A...>());
    };
  }

 private:
  template <std::size_t... kIndex>
  static void call(const F& function, [[maybe_unused]] const u64* in, u64* out,
                   std::index_sequence<kIndex...>) {
    Results<R>::store(out, function(from_bits<A>(in[kIndex])...));
  }
};
template <typename F, typename R, typename C, typename... A>
SignatureOf<F, R, A...> signature_of(R (C::*)(A...) const);
template <typename F>
struct Signature : decltype(signature_of<F>(&F::operator())) {};
template <typename R, typename... A>
struct Signature<R (*)(A...)> : SignatureOf<R (*)(A...), R, A...> {};

}  // namespace detail

// Cases that share one PTX module.
class Group {
 public:
  explicit Group(std::string name) : name_(std::move(name)) {}

  // One thread's inputs to its results.
  template <typename F>
  Case& add(std::string text, F function) {
    using Signature = detail::Signature<F>;
    return add_rows(std::move(text), Signature::inputs(), Signature::results(), 1,
                    Signature::reference(std::move(function)));
  }
  // The inputs of `rows` threads that act together (a warp, a block) to their results.
  Case& add_rows(std::string text, std::vector<Kind> inputs, std::vector<Result> results,
                 unsigned rows, Reference reference);

  // Module-level declarations that the cases' text needs.
  void declare(std::string_view text) { declarations_ += text; }

  const std::string& name() const { return name_; }
  const std::string& declarations() const { return declarations_; }
  const std::deque<Case>& cases() const { return cases_; }

 private:
  std::string name_;
  std::string declarations_;
  std::deque<Case> cases_;  // references to them stay valid
};

struct Family {
  std::string name;
  std::deque<Group> groups;

  Group& group(std::string group_name) { return groups.emplace_back(std::move(group_name)); }
};

// All families, built once.
const std::deque<Family>& all_families();

// One per source file.
void add_integer(std::deque<Family>& families);
void add_carry(std::deque<Family>& families);
void add_bits(std::deque<Family>& families);
void add_compare(std::deque<Family>& families);
void add_float(std::deque<Family>& families);
void add_approximate(std::deque<Family>& families);
void add_half(std::deque<Family>& families);
void add_convert(std::deque<Family>& families);
void add_move(std::deque<Family>& families);
void add_memory(std::deque<Family>& families);
void add_atomic(std::deque<Family>& families);
void add_wide(std::deque<Family>& families);
void add_warp(std::deque<Family>& families);
void add_asynchronous(std::deque<Family>& families);
void add_block(std::deque<Family>& families);
void add_special(std::deque<Family>& families);
void add_control(std::deque<Family>& families);

}  // namespace baton::instructions
