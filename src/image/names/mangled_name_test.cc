#include "image/names/mangled_name.h"

#include <cxxabi.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace baton::image::mangled_name_test {
namespace {

std::string text_of(std::string_view symbol) {
  const auto name = read_mangled(symbol);
  return name ? name->text : "(unreadable)";
}

SourceType only_param(std::string_view type_code) {
  const auto name = read_mangled("_Z1k" + std::string(type_code));
  EXPECT_TRUE(name && name->params && name->params->size() == 1) << type_code;
  return name && name->params && !name->params->empty() ? (*name->params)[0] : SourceType{};
}

TEST(MangledName, WritesWhatAPersonWouldWrite) {
  EXPECT_EQ(text_of("_Z5saxpyPfPKffi"), "saxpy(float*, float const*, float, int)");
  EXPECT_EQ(text_of("_ZN2ns2shEPii"), "ns::sh(int*, int)");
  EXPECT_EQ(text_of("_Z1kv"), "k()");
  EXPECT_EQ(text_of("_Z2ttI6__halfEvPT_PKS1_y"),
            "tt<__half>(__half*, __half const*, unsigned long long)");
  EXPECT_EQ(text_of("_Z2fpPFiiEPii"), "fp(int (*)(int), int*, int)");
  EXPECT_EQ(text_of("_Z1kRA4_fRKi"), "k(float (&) [4], int const&)");
  EXPECT_EQ(text_of("_Z1kIfLi128ELb1EEvPT_"), "k<float, 128, true>(float*)");
  EXPECT_EQ(text_of("_ZN12_GLOBAL__N_11kEPi"), "(anonymous namespace)::k(int*)");
  EXPECT_EQ(text_of("_ZL2stPi"), "st(int*)");
  EXPECT_EQ(text_of("_Z1kIJifEEvDpT_"), "k<int, float>(int, float)");
  EXPECT_EQ(text_of("_Z1kIJifEEvDpPKT_"), "k<int, float>(int const*, float const*)");
  EXPECT_EQ(text_of("_Z1kIJEEvDpT_"), "k<>()");
  EXPECT_EQ(text_of("_Z1kSt6vectorIiSaIiEE"), "k(std::vector<int, std::allocator<int>>)");
  EXPECT_EQ(text_of("_ZN2ns5tableE"), "ns::table");
  EXPECT_EQ(text_of("_Z1kIZ4mainEUliE_EvT_"), "k<main::{lambda#1}>(main::{lambda#1})");
  EXPECT_EQ(text_of("_ZN2ns1SIiE1kIfEEvPT_"), "ns::S<int>::k<float>(float*)");
  // Entities of a function: the only one of its name, the second, the twelfth.
  EXPECT_EQ(text_of("_ZZ1fvE5table"), "f()::table");
  EXPECT_EQ(text_of("_ZZ1fvE5table_0"), "f()::table");
  EXPECT_EQ(text_of("_ZZ1fvE5table__10_"), "f()::table");
}

TEST(MangledName, RefusesWhatIsNoMangledName) {
  for (const char* symbol : {"", "k", "_Z", "_Z1", "_Z5saxp", "_Z1kS_", "_Z1kT_", "_ZN", "_Z1kP",
                             "_Z1kIXsr1SE1vEEvv", "_Z99999999999999999999k", "_Z1kS99999999999_"}) {
    EXPECT_FALSE(read_mangled(symbol)) << symbol;
  }
}

TEST(MangledName, TellsParametersApart) {
  EXPECT_EQ(only_param("f").dtype, DType::kF32);
  EXPECT_EQ(only_param("f").kind, ParamKind::kScalar);
  EXPECT_EQ(only_param("6__half").dtype, DType::kF16);
  EXPECT_EQ(only_param("13__nv_bfloat16").dtype, DType::kBF16);
  EXPECT_EQ(only_param("13__nv_fp8_e4m3").dtype, DType::kF8E4M3);
  EXPECT_EQ(only_param("l").dtype, DType::kI64);
  EXPECT_EQ(only_param("j").size, 4u);
  EXPECT_EQ(only_param("PKf").kind, ParamKind::kPointer);
  EXPECT_TRUE(only_param("PKf").read_only);
  EXPECT_EQ(only_param("PKf").dtype, DType::kF32);
  EXPECT_FALSE(only_param("PVf").read_only);
  EXPECT_TRUE(only_param("PVKf").read_only);
  EXPECT_FALSE(only_param("PPKf").read_only);
  EXPECT_EQ(only_param("RKi").kind, ParamKind::kPointer);
  EXPECT_EQ(only_param("PFiiE").kind, ParamKind::kPointer);
  EXPECT_EQ(only_param("2P3").kind, ParamKind::kUnknown);
  EXPECT_EQ(only_param("N2ns2P3E").type, "ns::P3");
}

// The library's own demangler is the reference for names without expressions.
TEST(MangledName, AgreesWithTheLibrary) {
  for (const char* symbol : {"_Z5saxpyPfPKffi",
                             "_ZN2ns2shEPii",
                             "_Z1kRA4_fRKi",
                             "_Z1kPA3_A4_f",
                             "_ZN1a3mixIfLi1EEEvPKT_PAT0__S2_PS4_PS3_",
                             "_Z1kPFvPFiiEE",
                             "_Z1kM1Si",
                             "_Z1kM1SFivE",
                             "_ZN1a1b1c1dENS_1eENS0_1fENS1_1gE",
                             "_Z1kN1a1bENS_1cES0_S1_",
                             "_Z1kPKPKfS1_S_",
                             "_Z1kIiEvT_S0_PS0_",
                             "_ZN1A1kIiLj3EEEvPT_S2_",
                             "_Z1kPVKi",
                             "_Z1kOf",
                             "_Z1kDn",
                             "_Z1kPFPFiiEfE",
                             "_ZN3cub4kernINS_6PolicyIfLi4EEEPKfEEvT0_T_",
                             "_ZSt3foov",
                             "_Z1kILc40EEvv",
                             "_Z1kILin5EEvv",
                             "_ZZ4mainE1s",
                             "_ZZN2ns2shEPiiE1s",
                             "_Z1kaahstjlmxyde"}) {
    int status = 0;
    char* expected = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    ASSERT_EQ(status, 0) << symbol;
    std::string reference = expected;
    std::free(expected);
    // Templates say their result, which no kernel needs: "void k<int>(…)".
    if (reference.starts_with("void ")) reference.erase(0, 5);
    for (std::size_t at; (at = reference.find("> >")) != std::string::npos;)
      reference.erase(at + 1, 1);
    EXPECT_EQ(text_of(symbol), reference) << symbol;
  }
}

TEST(MangledName, TakesLongNames) {
  // Longer than what the library's demangler takes.
  std::string symbol = "_Z1kI";
  for (int i = 0; i < 2000; ++i) symbol += "Li" + std::to_string(i) + "E";
  symbol += "EvPf";
  const auto name = read_mangled(symbol);
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->text.ends_with("1999>(float*)"));
}

TEST(MangledName, BoundsWhatSubstitutionsCost) {
  // Every type doubles the text of the one before it.
  std::string doubling = "_Z1k1P";
  doubling += "1QIS_S_E";
  const auto reference = [](int n) {
    std::string digits;
    for (; n >= 36; n /= 36) digits += "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36];
    digits += "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n];
    return fmt::format("S{}_", std::string(digits.rbegin(), digits.rend()));
  };
  for (int i = 1; i < 60; ++i) {
    doubling += "S0_I" + reference(i) + reference(i) + "E";
  }
  EXPECT_FALSE(read_mangled(doubling));

  std::string deep = "_Z1kPf";
  for (int i = 0; i < 20000; ++i) deep += fmt::format("P{}", i == 0 ? "S_" : reference(i - 1));
  EXPECT_FALSE(read_mangled(deep));
  EXPECT_FALSE(read_mangled(fmt::format("_Z1k{}f", std::string(100000, 'P'))));
}

}  // namespace
}  // namespace baton::image::mangled_name_test
