#include "bind/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace baton::bind::binding_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program program_with(const std::string& shapes) {
  return Program::from_text("[symbols]\nN = 2\nK = 3\nM = 5\n" + shapes +
                                "[buffers.z]\ndtype = \"u8\"\nshape = [1]\n[[steps]]\nfill = { "
                                "buffer = \"z\", value = 0 }\n",
                            "p.toml");
}

std::string input(const std::string& name, const std::string& shape) {
  return "[buffers." + name + "]\ndtype = \"u8\"\nrole = \"input\"\nshape = " + shape + "\n";
}

Array bytes_of_shape(std::vector<std::int64_t> shape) {
  Array array{DType::kU8, std::move(shape), {}};
  array.bytes.resize(static_cast<std::size_t>(array.elements()));
  return array;
}

std::map<std::string, std::string> bind(const Program& program, const Bindings& bindings) {
  std::map<std::string, std::string> result;
  for (const auto& symbol : bind_symbols(program, bindings)) {
    result[symbol.name] = std::to_string(symbol.value) + " from " + symbol.source;
  }
  return result;
}

Error refusal(const Program& program, const Bindings& bindings) {
  try {
    bind_symbols(program, bindings);
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "was not refused";
  return Error(ErrorCode::kInternal, "");
}

TEST(BindSymbols, TheFileIsTheDefault) {
  EXPECT_EQ(bind(program_with(""), {}).at("K"), "3 from the program");
}

TEST(BindSymbols, SetBeatsShapesBeatTheFile) {
  const Program program = program_with(input("x", "[\"N\", \"K\"]"));
  const auto bound =
      bind(program, {.symbols = {{"M", 7}}, .inputs = {{"x", bytes_of_shape({4, 6})}}});
  EXPECT_EQ(bound.at("N"), "4 from the shape of the input x");
  EXPECT_EQ(bound.at("K"), "6 from the shape of the input x");
  EXPECT_EQ(bound.at("M"), "7 from the call");
}

TEST(BindSymbols, SolvesLinearExtents) {
  EXPECT_EQ(bind(program_with(input("x", "[\"2*K\"]")), {.inputs = {{"x", bytes_of_shape({14})}}})
                .at("K"),
            "7 from the shape of the input x");
  // What one extent decides helps the next, whatever their order.
  const Program program = program_with(input("x", "[\"N*K + 1\"]") + input("y", "[\"K*2\"]"));
  const auto bound =
      bind(program, {.inputs = {{"x", bytes_of_shape({41})}, {"y", bytes_of_shape({8})}}});
  EXPECT_EQ(bound.at("K"), "4 from the shape of the input y");
  EXPECT_EQ(bound.at("N"), "10 from the shape of the input x");
  // And what the call says helps, too.
  EXPECT_EQ(bind(program_with(input("x", "[\"N*K\"]")),
                 {.symbols = {{"N", 5}}, .inputs = {{"x", bytes_of_shape({15})}}})
                .at("K"),
            "3 from the shape of the input x");
}

TEST(BindSymbols, WhatIsNotLinearIsCompared) {
  const Program program = program_with(input("x", "[\"ceildiv(K, 2)\"]"));
  EXPECT_EQ(bind(program, {.inputs = {{"x", bytes_of_shape({2})}}}).at("K"), "3 from the program");
  const Error failure = refusal(program, {.inputs = {{"x", bytes_of_shape({3})}}});
  EXPECT_EQ(failure.message(),
            "the input x: dimension 0 of the array is 3, the program's ceildiv(K, 2) is 2 (K = 3 "
            "from the program)");
  EXPECT_EQ(failure.where().line, 8);
}

TEST(BindSymbols, DisagreementNamesBothSources) {
  const Program program = program_with(input("x", "[\"K\"]") + input("y", "[1, \"K\"]"));
  EXPECT_THAT(
      refusal(program, {.symbols = {{"K", 8}}, .inputs = {{"x", bytes_of_shape({16})}}}).message(),
      HasSubstr("the input x: dimension 0 of the array is 16, the program's K is 8 (K = 8 from the "
                "call)"));
  EXPECT_THAT(
      refusal(program, {.inputs = {{"x", bytes_of_shape({16})}, {"y", bytes_of_shape({1, 15})}}})
          .message(),
      HasSubstr("the input y: dimension 1 of the array is 15, the program's K is 16 (K = 16 "
                "from the shape of the input x)"));
  EXPECT_THAT(refusal(program, {.symbols = {{"K", 1}, {"K", 2}}}).message(),
              HasSubstr("two values, 1 and 2"));
  EXPECT_THAT(refusal(program, {.inputs = {{"y", bytes_of_shape({2, 4})}}}).message(),
              HasSubstr("dimension 0 of the array is 2, the program's 1 is 1"));
}

TEST(BindSymbols, RefusesWhatTheProgramDoesNotTake) {
  const Program program = program_with(input("x", "[\"K\"]"));
  Error failure = refusal(program, {.symbols = {{"KK", 1}}});
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("no symbol \"KK\"; did you mean \"K\"?"));
  failure = refusal(program, {.inputs = {{"xx", bytes_of_shape({1})}}});
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("did you mean \"x\"?"));
  EXPECT_THAT(refusal(program, {.inputs = {{"z", bytes_of_shape({1})}}}).message(),
              HasSubstr("the buffer has the role scratch"));
  EXPECT_THAT(refusal(program, {.inputs = {{"x", bytes_of_shape({1, 3})}}}).message(),
              HasSubstr("the array has 2 dimensions [1, 3], the program wants 1"));
  Array floats{DType::kF32, {3}, std::string(12, '\0')};
  EXPECT_EQ(refusal(program, {.inputs = {{"x", floats}}}).message(),
            "the input x: the array is f32, the program wants u8");
  EXPECT_THAT(refusal(program, {.inputs = {{"x", bytes_of_shape({3})}, {"x", bytes_of_shape({3})}}})
                  .message(),
              HasSubstr("given twice"));
}

TEST(BindShape, EvaluatesAndChecks) {
  const Program program =
      program_with(input("a", "[\"N + 1\", \"K*M\"]") + input("b", "[\"N - K\"]") +
                   input("c", "[\"1000000*N\", \"1000000*K\", \"1000000*M\"]") +
                   input("d", "[0, 9223372036854775807, 9223372036854775807]") + input("e", "[]"));
  const auto symbols = bind_symbols(program, {});
  const auto shape = [&](const char* name) { return bind_shape(*program.buffer(name), symbols); };
  EXPECT_THAT(shape("a"), ElementsAre(3, 15));
  EXPECT_EQ(bytes_of(shape("a"), DType::kF16), 90u);
  EXPECT_EQ(bytes_of(shape("d"), DType::kF64), 0u);
  EXPECT_EQ(bytes_of(shape("e"), DType::kF64), 8u);
  try {
    shape("b");
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.message(), "dimension 0 of buffer b is -1: N - K is negative (N = 2, K = 3)");
  }
  try {
    shape("c");
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("is larger than the limit"));
  }
}

}  // namespace
}  // namespace baton::bind::binding_test
