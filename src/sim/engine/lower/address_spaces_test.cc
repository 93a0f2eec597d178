// Addresses in the spaces of parameters and constants: they are offsets below 4 GiB, so 32 bits
// hold them, and cvta makes them generic.

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::address_spaces_test {
namespace {

struct AddressCase {
  const char* name;
  const char* body;  // leaves its result in %rd9
  std::uint64_t right;
};

void PrintTo(const AddressCase& one, std::ostream* stream) {
  *stream << one.name;
}

// p is {101, 102}, c is {301, 302}, second is {401, 402}.
constexpr AddressCase kCases[] = {
    {"ParamBy32Bits", R"(
  mov.b32 %r1, p; cvt.u64.u32 %rd1, %r1; cvta.param.u64 %rd2, %rd1; ld.u64 %rd9, [%rd2+8];)",
     102},
    {"ParamBy64Bits", R"(
  mov.b64 %rd1, p; cvta.param.u64 %rd2, %rd1; ld.u64 %rd9, [%rd2];)",
     101},
    {"ParamByItsName", R"(
  cvta.param.u64 %rd2, p; ld.u64 %rd9, [%rd2+8];)",
     102},
    {"SecondParam", R"(
  mov.b32 %r1, q; cvt.u64.u32 %rd1, %r1; cvta.param.u64 %rd2, %rd1; ld.u64 %rd9, [%rd2];)",
     7},
    {"ParamLoadBy32Bits", R"(
  mov.b32 %r1, p; ld.param.u64 %rd9, [%r1+8];)",
     102},
    {"ParamLoadBy64Bits", R"(
  mov.b64 %rd1, p; ld.param.u64 %rd9, [%rd1+8];)",
     102},
    {"ParamLoadOfAnEntry", R"(
  mov.b32 %r1, p; ld.param::entry.u64 %rd9, [%r1+8];)",
     102},
    {"ParamLoadOfAnEntryByName", R"(
  ld.param::entry.u64 %rd9, [p+8];)",
     102},
    {"ParamLoadOfABytePerLane", R"(
  mov.b32 %r1, p; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r2, 8, %r1;
  ld.param.u8 %r3, [%r1]; cvt.u64.u32 %rd9, %r3;)",
     101},
    {"ParamLoadOfAVector", R"(
  mov.b32 %r1, p; ld.param.v2.u64 {%rd1, %rd2}, [%r1]; mad.lo.u64 %rd9, %rd1, 1000, %rd2;)",
     101102},
    {"ParamThereAndBack", R"(
  mov.b64 %rd1, p; cvta.param.u64 %rd2, %rd1; cvta.to.param.u64 %rd3, %rd2;
  cvt.u32.u64 %r1, %rd3; ld.param.u64 %rd9, [%r1+8];)",
     102},
    {"ParamInAFunction", R"(
  mov.b32 %r1, p; cvt.u64.u32 %rd1, %r1; cvta.param.u64 %rd2, %rd1;
  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd2; call (b), generic, (a);
    ld.param.b64 %rd9, [b]; })",
     102},
    {"ParamOfTheEntryInAFunction", R"(
  mov.b32 %r1, p; cvt.u64.u32 %rd1, %r1;
  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd1; call (b), of_entry, (a);
    ld.param.b64 %rd9, [b]; })",
     102},
    {"ConstBy32Bits", R"(
  mov.b32 %r1, c; ld.const.u64 %rd9, [%r1];)",
     301},
    {"ConstBy32BitsAndOffset", R"(
  mov.b32 %r1, second; ld.const.u64 %rd9, [%r1+8];)",
     402},
    {"ConstBy64Bits", R"(
  mov.b64 %rd1, second; ld.const.u64 %rd9, [%rd1+8];)",
     402},
    {"ConstByItsName", R"(
  ld.const.u64 %rd9, [second+8];)",
     402},
    {"ConstByItsNameAlone", R"(
  ld.u64 %rd9, [second+8];)",
     402},
    {"ConstPerLane", R"(
  mov.b32 %r1, second; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r2, 8, %r1;
  ld.const.u64 %rd9, [%r1];)",
     401},
    {"ConstToGenericOf32Bits", R"(
  mov.b32 %r1, second; cvt.u64.u32 %rd1, %r1; cvta.const.u64 %rd2, %rd1; ld.u64 %rd9, [%rd2+8];)",
     402},
    {"ConstToGenericOf64Bits", R"(
  mov.b64 %rd1, second; cvta.const.u64 %rd2, %rd1; ld.u64 %rd9, [%rd2+8];)",
     402},
    {"ConstThereAndBack", R"(
  cvta.const.u64 %rd2, second; ld.global.u64 %rd3, [holder]; add.u64 %rd2, %rd2, %rd3;
  cvta.to.const.u64 %rd4, %rd2; cvt.u32.u64 %r1, %rd4; ld.const.u64 %rd9, [%r1+8];)",
     402},
    {"ConstAddressInAVariable", R"(
  ld.global.u64 %rd1, [plain]; cvt.u32.u64 %r1, %rd1; ld.const.u64 %rd9, [%r1];)",
     402},
    {"GenericConstAddressInAVariable", R"(
  ld.global.u64 %rd1, [whole]; ld.u64 %rd9, [%rd1];)",
     402},
    {"SpacesAreToldApart", R"(
  cvta.param.u64 %rd1, p; cvta.const.u64 %rd2, c; mov.u64 %rd9, 0;
  isspacep.param %p1, %rd1;  @%p1 add.u64 %rd9, %rd9, 1;
  isspacep.const %p1, %rd1;  @%p1 add.u64 %rd9, %rd9, 10;
  isspacep.global %p1, %rd1; @%p1 add.u64 %rd9, %rd9, 100;
  isspacep.const %p1, %rd2;  @%p1 add.u64 %rd9, %rd9, 1000;
  isspacep.param %p1, %rd2;  @%p1 add.u64 %rd9, %rd9, 10000;
  isspacep.shared %p1, %rd1; @%p1 add.u64 %rd9, %rd9, 100000;
  isspacep.local %p1, %rd1;  @%p1 add.u64 %rd9, %rd9, 1000000;)",
     1001},
};

std::string kernel(const char* body) {
  return std::string(R"(.version 8.3
.target sm_90
.address_size 64
.const .align 8 .u64 c[2] = {301, 302};
.const .align 8 .u64 second[2] = {401, 402};
.global .u64 holder = 0;
.global .u64 plain = second+8;
.global .u64 whole = generic(second)+8;
.func (.param .b64 out) generic(.param .b64 at) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at]; ld.u64 %rd2, [%rd1+8]; st.param.b64 [out], %rd2; ret;
}
.func (.param .b64 out) of_entry(.param .b64 at) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at]; ld.param::entry.u64 %rd2, [%rd1+8]; st.param.b64 [out], %rd2; ret;
}
.visible .entry k(.param .align 16 .b8 p[16], .param .u64 q, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];)") +
         body + "\n  st.global.u64 [%out], %rd9;\n  ret;\n}\n";
}

struct ParamPair {
  std::uint64_t first, second;
};

struct AddressRun {
  std::uint64_t value;
  std::vector<driver::Finding> findings;
};

AddressRun run(const char* body) {
  TestDevice device;
  // Another module's constants come first.
  const auto other = device.load(kernel(kCases[0].body), "other.ptx");
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  EXPECT_TRUE(other->global("c", &address, &bytes));
  const auto module = device.load(kernel(body));
  const std::uint64_t out = device.upload(std::vector<std::uint64_t>{99});
  const auto grid = device.run(module, "k", {1}, {1}, ParamPair{101, 102}, std::uint64_t{7}, out);
  return {device.download<std::uint64_t>(out, 1)[0], device.engine.findings()};
}

class AddressSpaces : public testing::TestWithParam<AddressCase> {};

TEST_P(AddressSpaces, ReadWhatTheAddressMeans) {
  const AddressRun result = run(GetParam().body);
  for (const driver::Finding& finding : result.findings) ADD_FAILURE() << finding.message;
  EXPECT_EQ(result.value, GetParam().right);
}

INSTANTIATE_TEST_SUITE_P(Cases, AddressSpaces, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

struct Fault {
  const char* name;
  const char* body;
  const char* kind;
  const char* message;  // "@" stands for an address
};

void PrintTo(const Fault& one, std::ostream* stream) {
  *stream << one.name;
}

constexpr Fault kFaults[] = {
    {"ParamPastTheEnd", "mov.b32 %r1, p; ld.param.u64 %rd9, [%r1+32];", "out_of_bounds",
     "reads 8 bytes of parameter memory at @, where the kernel has 32 bytes"},
    {"ParamByteByBytePastTheEnd", "mov.b32 %r1, p; ld.param.u8 %r2, [%r1+32];", "out_of_bounds",
     "reads 1 bytes of parameter memory at @, where the kernel has 32 bytes"},
    {"GenericParamPastTheEnd", "cvta.param.u64 %rd1, p; ld.u64 %rd9, [%rd1+32];", "out_of_bounds",
     "reads 8 bytes of parameter memory at @, where the kernel has 32 bytes"},
    {"ParamMisaligned", "mov.b32 %r1, p; ld.param.u64 %rd9, [%r1+4];", "misaligned",
     "reads 8 bytes of parameter memory at @, which is not a multiple of 8"},
    {"ParamWritten", "cvta.param.u64 %rd1, p; st.u64 [%rd1], %rd9;", "out_of_bounds",
     "writes to the kernel's parameters, which are constant"},
    {"ConstPastTheEnd", "mov.b32 %r1, second; ld.const.u64 %rd9, [%r1+16];", "out_of_bounds",
     "reads 8 bytes of constant memory at @: 0 bytes past the end of variable second (16 bytes at "
     "@)"},
    {"ConstBeforeTheBegin", "mov.b32 %r1, c; ld.const.u64 %rd9, [%r1+-8];", "out_of_bounds",
     "reads 8 bytes of constant memory at @: 8 bytes before variable c (16 bytes at @)"},
    {"ConstFarAway", "mov.b32 %r1, 0x80000000; ld.const.u64 %rd9, [%r1]; ld.const.u64 %rd8, [c];",
     "out_of_bounds",
     "reads 8 bytes of constant memory at @: 2147483632 bytes past the end of variable c (16 bytes "
     "at @)"},
    {"GenericConstPastTheEnd", "cvta.const.u64 %rd1, c; ld.u64 %rd9, [%rd1+16];", "out_of_bounds",
     "reads 8 bytes of constant memory at @: 0 bytes past the end of variable c (16 bytes at @)"},
    {"ConstMisaligned", "mov.b32 %r1, c; ld.const.u64 %rd9, [%r1+4];", "misaligned",
     "reads 8 bytes of constant memory at @, which is not a multiple of 8"},
    // On a GPU too .const and .param addresses are not generic ones.
    {"ConstWithoutCvta", "mov.b64 %rd1, c; ld.u64 %rd9, [%rd1];", "null_pointer",
     "reads 8 bytes of global memory at @: the null pointer"},
};

// Every address becomes "@".
std::string without_addresses(const std::string& message) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    if (message.compare(at, 2, "0x") != 0) {
      text += message[at++];
      continue;
    }
    at = std::min(message.find_first_not_of("0123456789abcdef", at + 2), message.size());
    text += '@';
  }
  return text;
}

class AddressSpaceFaults : public testing::TestWithParam<Fault> {};

TEST_P(AddressSpaceFaults, AreFound) {
  const AddressRun result = run(GetParam().body);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(to_string(result.findings[0].kind), GetParam().kind);
  EXPECT_EQ(without_addresses(result.findings[0].message), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Cases, AddressSpaceFaults, testing::ValuesIn(kFaults),
                         [](const auto& one) { return one.param.name; });

TEST(AddressSpaces, TheHostHasTheGenericAddress) {
  TestDevice device;
  const auto module = device.load(kernel("cvta.const.u64 %rd9, second;"));
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  ASSERT_TRUE(module->global("second", &address, &bytes));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(device.download<std::uint64_t>(address, 2), (std::vector<std::uint64_t>{401, 402}));
  const std::uint64_t out = device.upload(std::vector<std::uint64_t>{0});
  device.run(module, "k", {1}, {1}, ParamPair{}, std::uint64_t{0}, out);
  EXPECT_EQ(device.download<std::uint64_t>(out, 1)[0], address);
}

}  // namespace
}  // namespace baton::sim::address_spaces_test
