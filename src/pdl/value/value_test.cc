#include "pdl/value/value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pdl/test_support.h"

namespace baton::overlap::value_test {
namespace {

// "7", "[2, 9]", "varies": the result of the last instruction of a body.
std::string result(const std::string& body, const std::vector<Value>& from) {
  const auto module = module_of(body);
  const Footprint footprint = read_footprint(module, *module->function("k"), {});
  const std::vector<Operation>& operations = footprint.code->operations;
  const auto last = std::find_if(operations.rbegin(), operations.rend(), [](const auto& each) {
    return each.kind == Operation::Kind::kCompute;
  });
  const Value found = result_of(*last, from, Value::constant(3));
  if (!found.is_range()) return "varies";
  return found.is_constant() ? std::to_string(found.bits)
                             : fmt::format("[{}, {}]", found.bits, found.most);
}
std::string of_two(const std::string& name, const Value& a, const Value& b) {
  const bool is_wide = name.ends_with("64") || name.find("wide") != std::string::npos;
  return result(name + (is_wide ? " %d3, %d4, %d5;" : " %r3, %r4, %r5;"), {a, b});
}

const Value kVaries = Value::varies();
constexpr std::uint64_t kAll32 = UINT32_MAX;

Value number(std::uint64_t bits) {
  return Value::constant(bits);
}
Value range(std::uint64_t least, std::uint64_t most) {
  return Value::range(least, most);
}

TEST(Value, OfWhatVariesNothingIsKnown) {
  for (const char* name : {"add.u32", "sub.u32", "mul.lo.u32", "or.b32", "min.u32", "shl.b32"}) {
    EXPECT_EQ(of_two(name, kVaries, number(5)), "varies") << name;
    EXPECT_EQ(of_two(name, number(5), kVaries), "varies") << name;
    EXPECT_EQ(of_two(name, kVaries, range(1, 5)), "varies") << name;
  }
  // But for a product or an intersection with 0.
  for (const char* name : {"mul.lo.u32", "and.b32"}) {
    EXPECT_EQ(of_two(name, kVaries, number(0)), "0") << name;
    EXPECT_EQ(of_two(name, number(0), kVaries), "0") << name;
  }
  EXPECT_EQ(result("mad.lo.u32 %r3, %r4, %r5, %r6;", {number(0), kVaries, number(8)}), "8");
  EXPECT_EQ(result("mad.lo.u32 %r3, %r4, %r5, %r6;", {number(0), kVaries, kVaries}), "varies");
}

TEST(Value, OnlyPlainArithmeticOfIntegersHasRanges) {
  EXPECT_EQ(of_two("add.u32", range(1, 2), range(3, 5)), "[4, 7]");
  for (const char* name : {"add.sat.s32", "add.cc.u32", "mul.hi.u32", "add.f32", "add.f32.rn",
                           "max.relu.s32", "max.s32.relu", "min.s32.relu", "mul.f32.rn"}) {
    EXPECT_EQ(of_two(name, range(1, 2), range(3, 5)), "varies") << name;
  }
  EXPECT_EQ(of_two("mul.f32", kVaries, number(0)), "varies") << "it may be no number";
}

TEST(Value, RangesEndWhereResultsWrap) {
  EXPECT_EQ(of_two("and.b32", range(0, kAll32), number(kAll32)), "[0, 4294967295]");
  EXPECT_EQ(of_two("add.u32", range(0, kAll32 - 1), number(1)), "[1, 4294967295]");
  EXPECT_EQ(of_two("add.u32", range(0, kAll32), number(1)), "varies");
  EXPECT_EQ(of_two("add.u64", range(0, UINT64_MAX), number(1)), "varies");
  EXPECT_EQ(of_two("sub.u32", range(5, 9), number(5)), "[0, 4]");
  EXPECT_EQ(of_two("sub.u32", range(5, 9), number(6)), "varies");
  EXPECT_EQ(of_two("sub.u32", range(5, 9), range(2, 4)), "[1, 7]");
  EXPECT_EQ(of_two("sub.u32", number(9), range(2, 4)), "[5, 7]");
  EXPECT_EQ(of_two("shl.b32", range(1, 3), number(30)), "[1073741824, 3221225472]");
  EXPECT_EQ(of_two("shl.b32", range(1, 4), number(30)), "varies");
  EXPECT_EQ(of_two("shl.b32", range(0, 1), number(32)), "varies");
  EXPECT_EQ(of_two("mul.lo.u32", range(2, 3), range(4, 5)), "[8, 15]");
}

// A sign that may be set counts.
TEST(Value, SignsEndRanges) {
  EXPECT_EQ(of_two("shr.s32", range(4, 0x7fffffff), number(1)), "[2, 1073741823]");
  EXPECT_EQ(of_two("shr.s32", range(4, 0x80000000), number(1)), "varies");
  EXPECT_EQ(of_two("shr.u32", range(4, 0x80000000), number(1)), "[2, 1073741824]");
  EXPECT_EQ(of_two("min.s32", range(4, 9), number(0x80000000)), "varies");
  EXPECT_EQ(of_two("mul.wide.s16", range(1, 0x7fff), number(2)), "[2, 65534]");
  EXPECT_EQ(of_two("mul.wide.s16", range(1, 0x8000), number(2)), "varies");
}

TEST(Value, QuotientsAndRemainders) {
  EXPECT_EQ(of_two("rem.u32", range(10, 100), number(7)), "[0, 6]");
  EXPECT_EQ(of_two("rem.u32", range(0, 3), number(7)), "[0, 3]");
  EXPECT_EQ(of_two("div.u32", range(10, 100), number(7)), "[1, 14]");
  EXPECT_EQ(of_two("div.u32", range(10, 100), number(0)), "varies");
  EXPECT_EQ(of_two("rem.u32", range(10, 100), range(2, 3)), "varies");
}

TEST(Value, LeastAndGreatest) {
  EXPECT_EQ(of_two("min.u32", range(3, 8), range(1, 5)), "[1, 5]");
  EXPECT_EQ(of_two("max.u32", range(3, 8), range(1, 5)), "[3, 8]");
  EXPECT_EQ(of_two("max.u32", range(1, 5), range(3, 8)), "[3, 8]");
}

TEST(Value, Conversions) {
  EXPECT_EQ(result("cvt.u64.u32 %d3, %r4;", {range(1, kAll32)}), "[1, 4294967295]");
  EXPECT_EQ(result("cvt.u64.s32 %d3, %r4;", {range(1, 0x7fffffff)}), "[1, 2147483647]");
  EXPECT_EQ(result("cvt.u64.s32 %d3, %r4;", {range(1, 0x80000000)}), "varies");
  EXPECT_EQ(result("cvt.s64.s32 %d3, %r4;", {number(kAll32)}), "18446744073709551615");
  EXPECT_EQ(result("cvt.u16.u32 %r3, %r4;", {number(0x12345)}), "9029");
  EXPECT_EQ(result("cvt.s16.u32 %r3, %r4;", {number(0x7fff)}), "32767");
}

// A register that is wider than the type gets the sign.
TEST(Value, ConversionsToWiderRegisters) {
  constexpr std::uint64_t kMinusOne = UINT64_MAX;
  EXPECT_EQ(result("cvt.s32.s64 %d3, %d4;", {number(kAll32)}), std::to_string(kMinusOne));
  EXPECT_EQ(result("cvt.s32.s64 %d3, %d4;", {range(0, kAll32)}), "varies");
  EXPECT_EQ(result("cvt.s32.s64 %d3, %d4;", {range(0, 0x7fffffff)}), "[0, 2147483647]");
  EXPECT_EQ(result("cvt.u32.u64 %d3, %d4;", {number(kMinusOne)}), "4294967295");
  EXPECT_EQ(result("cvt.s16.u32 %r3, %r4;", {number(0x8000)}), "18446744073709518848");
  // What reads 32 bits of it finds the same number.
  EXPECT_EQ(of_two("add.s32", number(kMinusOne - 1), number(1)), std::to_string(kAll32));
  EXPECT_EQ(result("setp.lt.s32 %p3, %r4, %r5;", {number(kMinusOne), number(0)}), "1");
  EXPECT_EQ(result("setp.eq.u32 %p3, %r4, %r5;", {number(kMinusOne), number(kAll32)}), "1");
}

TEST(Value, Selections) {
  const auto selected = [](const Value& a, const Value& b, const Value& chosen) {
    return result("selp.b32 %r3, %r4, %r5, %p1;", {a, b, chosen});
  };
  EXPECT_EQ(selected(number(4), number(5), number(1)), "4");
  EXPECT_EQ(selected(number(4), number(5), number(0)), "5");
  EXPECT_EQ(selected(number(4), number(4), kVaries), "4");
  EXPECT_EQ(selected(number(4), number(5), kVaries), "varies");
  EXPECT_EQ(selected(kVaries, number(0), kVaries), "varies");
  EXPECT_EQ(selected(number(0), kVaries, kVaries), "varies");
}

TEST(Value, AShuffleFromTheOwnLaneKeepsTheValue) {
  const char* const shuffle = "shfl.sync.idx.b32 %r3, %r4, %r5, 31, -1;";
  EXPECT_EQ(result(shuffle, {number(8), number(3)}), "8");
  EXPECT_EQ(result(shuffle, {number(8), number(2)}), "varies");
  EXPECT_EQ(result(shuffle, {number(8), kVaries}), "varies");
  EXPECT_EQ(result("shfl.sync.up.b32 %r3, %r4, %r5, 31, -1;", {number(8), number(3)}), "varies");
}

TEST(Value, Comparisons) {
  const auto compared = [](const std::string& name, const Value& a, const Value& b) {
    return result("setp." + name + " %p3, %r4, %r5;", {a, b});
  };
  EXPECT_EQ(compared("lt.u32", range(1, 4), range(5, 9)), "1");
  EXPECT_EQ(compared("lt.u32", range(1, 5), range(5, 9)), "varies");
  EXPECT_EQ(compared("lt.u32", range(9, 12), range(5, 9)), "0");
  EXPECT_EQ(compared("le.u32", range(1, 5), range(5, 9)), "1");
  EXPECT_EQ(compared("gt.u32", range(5, 9), range(1, 5)), "varies");
  EXPECT_EQ(compared("ge.u32", range(5, 9), range(1, 5)), "1");
  EXPECT_EQ(compared("eq.u32", range(1, 4), range(5, 9)), "0");
  EXPECT_EQ(compared("ne.u32", range(1, 4), range(4, 9)), "varies");
  EXPECT_EQ(compared("lt.u32", kVaries, number(0)), "0") << "nothing is below 0";
  EXPECT_EQ(compared("lt.s32", kVaries, number(0)), "varies");
  // Signs of both kinds, and bits that are cut off.
  EXPECT_EQ(compared("lt.s32", range(0x7ffffffe, 0x7fffffff), number(0)), "0");
  EXPECT_EQ(compared("lt.s32", range(0x80000000, 0x80000001), number(0)), "1");
  EXPECT_EQ(compared("lt.s32", range(0x7fffffff, 0x80000000), number(0)), "varies");
  EXPECT_EQ(compared("lt.u32", range(0, kAll32 + 1), number(0)), "0");
  EXPECT_EQ(compared("gt.u32", range(kAll32, kAll32 + 1), number(7)), "varies");
  EXPECT_EQ(compared("lt.f32", range(1, 4), range(5, 9)), "varies");
  // Bits that differ may be equal floats.
  EXPECT_EQ(compared("eq.bf16", number(0x8000), number(0)), "varies");
  EXPECT_EQ(compared("eq.f16", number(0x8000), number(0)), "varies");
}

}  // namespace
}  // namespace baton::overlap::value_test
