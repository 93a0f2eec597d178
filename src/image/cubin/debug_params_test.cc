#include "image/cubin/debug_params.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/image.h"
#include "image/image_content.h"

namespace baton::image::debug_params_test {
namespace {

using Names = std::vector<std::string>;

std::string bytes_of(std::string_view text) {
  std::string row = ".b8 ";
  for (const char c : text) row += std::to_string(c) + ",";
  return row + "0\n";
}

// PTX with the debug information of one kernel `k(…)`, as NVRTC writes it. `params` are entries of
// its list of children.
std::string module_with(std::string_view children, std::string_view strings = "") {
  return ".version 9.0\n.target sm_90, debug\n.address_size 64\n"
         ".visible .entry k(.param .u64 k_param_0, .param .u32 "
         "k_param_1)\n{\n$L__begin:\nret;\n$L__end:\n}\n"
         ".section .debug_abbrev {\n"
         ".b8 1\n.b8 17\n.b8 1\n.b8 0\n.b8 0\n"                                    // unit
         ".b8 2\n.b8 46\n.b8 1\n.b8 17\n.b8 1\n.b8 135,64\n.b8 8\n.b8 3\n.b8 8\n"  // function
         ".b8 0\n.b8 0\n"
         ".b8 3\n.b8 5\n.b8 0\n.b8 2\n.b8 10\n.b8 3\n.b8 8\n.b8 0\n.b8 0\n"  // parameter
         ".b8 4\n.b8 5\n.b8 0\n.b8 73\n.b8 19\n.b8 0\n.b8 0\n"               // without a name
         ".b8 5\n.b8 11\n.b8 1\n.b8 0\n.b8 0\n"                              // block
         ".b8 6\n.b8 5\n.b8 0\n.b8 3\n.b8 14\n.b8 0\n.b8 0\n"  // its name among the strings
         ".b8 0\n}\n"
         ".section .debug_info {\n"
         ".b32 0\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8\n"
         ".b8 1\n.b8 2\n.b64 $L__begin  // the address\n" +
         bytes_of("k") + bytes_of("readable") + std::string(children) + ".b8 0\n.b8 0\n}\n" +
         std::string(strings);
}

// Of the kernel `k`; nothing where it has none.
Names names_in(const std::string& ptx) {
  const auto found = debug_params(*ptx_of(Image::from_bytes(ptx, "<ptx>")));
  const auto kernel = found.find("k");
  Names names;
  if (kernel == found.end()) return names;
  for (const DebugParam& each : kernel->second) names.push_back(each.name);
  return names;
}

std::string param(std::string_view name) {
  return ".b8 3\n.b8 2\n.b8 144,7\n" + bytes_of(name);
}

TEST(DebugParams, NamesAreThoseOfTheSource) {
  EXPECT_EQ(names_in(module_with(param("out") + param("n"))), (Names{"out", "n"}));
}

TEST(DebugParams, FactsHaveTheNames) {
  const std::string ptx = module_with(param("out") + param("n"));
  const ImageFacts facts = read_facts(Image::from_bytes(ptx, "<ptx>"));
  EXPECT_EQ(facts.kernels.at(0).params.value()[1].name, "n");
  // Of another number of parameters they are those of another kernel.
  const std::string other = module_with(param("out"));
  const ImageFacts unnamed = read_facts(Image::from_bytes(other, "<ptx>"));
  EXPECT_EQ(unnamed.kernels.at(0).params.value()[0].name, "");
}

TEST(DebugParams, AnUnnamedParameterHasNone) {
  EXPECT_EQ(names_in(module_with(".b8 4\n.b32 16\n" + param("n"))), (Names{"", "n"}));
}

TEST(DebugParams, ParametersOfInlinedFunctionsAreOthers) {
  EXPECT_EQ(names_in(module_with(param("x") + ".b8 5\n" + param("inner") + ".b8 0\n" + param("n"))),
            (Names{"x", "n"}));
}

TEST(DebugParams, NamesMayStandAmongTheStrings) {
  const std::string strings =
      ".section .debug_str {\n" + bytes_of("first") + "$L__string1:\n" + bytes_of("n") + "}\n";
  EXPECT_EQ(names_in(module_with(".b8 6\n.b32 .debug_str\n.b8 6\n.b32 $L__string1\n", strings)),
            (Names{"first", "n"}));
}

TEST(DebugParams, WhatCannotBeReadCostsTheNames) {
  const std::string whole = module_with(param("out") + param("n"));
  const auto without = [&](std::string_view part, std::string_view other) {
    std::string text = whole;
    text.replace(text.find(part), part.size(), other);
    return names_in(text);
  };
  const Names none;
  EXPECT_EQ(without(".b8 2,0\n.b32 .debug_abbrev", ".b8 5,0\n.b32 .debug_abbrev"), none);
  EXPECT_EQ(without(".b8 2\n.b8 10\n", ".b8 2\n.b8 99\n"), none);  // a form that none has
  EXPECT_EQ(without(".b32 .debug_abbrev\n", ".b32 .debug_abbrev+9999\n"), none);
  // A length that is left to the assembler is not needed.
  EXPECT_EQ(without(".b32 0\n.b8 2,0", ".b32 $L__end-$L__begin\n.b8 2,0"), (Names{"out", "n"}));
}

}  // namespace
}  // namespace baton::image::debug_params_test
