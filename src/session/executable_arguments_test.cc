#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/executable.h"
#include "session/test_program.h"

namespace baton::executable_arguments_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ExecutableTest = DeviceTest;

TEST_F(ExecutableTest, ScalarsOfEveryType) {
  Executable executable = Executable::prepare(
      program(
          "[symbols]\nbig = 9007199254740991\n" + buffer("out", "f64", "[11]", "output") +
          kernel("scalars") +
          "[[steps]]\nlaunch = \"scalars\"\ngrid = [1]\nblock = [1]\nargs = [\"out\", -128, "
          "255, { i16 = -32768 }, { u16 = \"65000 + 535\" }, -2147483648, 4294967295, \"-big\", "
          "\"big\", { f32 = \"1/sqrt(4)\" }, 0.1, { f16 = 1.5 }]\n"),
      open_device());
  executable.run();
  EXPECT_THAT(values<double>(executable.output("out")),
              ElementsAre(-128, 255, -32768, 65535, -2147483648.0, 4294967295.0,
                          -9007199254740991.0, 9007199254740991.0, 0.5, 0.1, 1.5));
}

TEST_F(ExecutableTest, AStructByValue) {
  Executable executable =
      Executable::prepare(program(buffer("out", "f32", "[2]", "output") + kernel("by_value") +
                                  "[[steps]]\nlaunch = \"by_value\"\ngrid = [1]\nblock = [1]\n"
                                  "args = [\"out\", { bytes = \"070000000000c03f\" }]\n"),
                          open_device());
  executable.run();
  EXPECT_THAT(values<float>(executable.output("out")), ElementsAre(7, 1.5f));
}

// Addresses inside a struct, fields that vary with an index, and padding between fields.
const std::string kStructProgram =
    "[symbols]\nN = 4\n" + buffer("x", "f32", "[\"2*N\"]", "input", "arange") +
    buffer("y", "f32", "[\"N\"]", "output") + buffer("z", "f32", "[\"N\"]", "output") +
    "[kernels.k]\ntext = \"\"\"\n"
    "struct Inner { short factor; float* out; };\n"
    "struct Values { const float* x; int n; Inner inner; signed char more; };\n"
    "struct Alone { float* out; };\n"
    "extern \"C\" __global__ void k(Values v, Alone alone) {\n"
    "  int i = threadIdx.x;\n"
    "  if (i >= v.n) return;\n"
    "  v.inner.out[i] = v.x[i] * v.inner.factor + v.more;\n"
    "  alone.out[i] = v.x[i];\n"
    "}\n\"\"\"\n";

std::string struct_step(const std::string& first) {
  return kStructProgram +
         "[[steps]]\nrepeat = 2\nindex = \"l\"\nsteps = [ { launch = \"k\", grid = [1], "
         "block = [8], args = [" +
         first + ", \"z\"] } ]\n";
}

TEST_F(ExecutableTest, AStructWithAddresses) {
  const std::string text = struct_step(
      "{ struct = [\"x + l*N\", { i32 = \"N\" }, { struct = [{ i16 = \"l + 2\" }, \"y\"] }, { i8 = "
      "-5 }] }");
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable =
        Executable::prepare(program(text), open_device(), {.executor = executor});
    executable.run();
    EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(7, 10, 13, 16));
    EXPECT_THAT(values<float>(executable.output("z")), ElementsAre(4, 5, 6, 7));
  }
}

TEST_F(ExecutableTest, ViewsLieInTheirBuffer) {
  const auto text = [](const std::string& view) {
    return "[symbols]\nN = 8\n" + buffer("i", "i32", "[\"N\"]", "inout", "zeros") + kernel("add") +
           "[[steps]]\nrepeat = 2\nindex = \"l\"\nsteps = [ { launch = \"add\", grid = [1], "
           "block = [4], args = [" +
           view + ", \"l + 1\", 4] } ]\n";
  };
  for (const char* view : {"{ buffer = \"i\", offset = \"4*l\", count = 4 }",
                           "{ buffer = \"i\", offset = \"4*l\", count = \"N - 4*l\" }",
                           "{ buffer = \"i\", offset = \"4*l\" }"}) {
    Executable executable = Executable::prepare(program(text(view)), open_device());
    executable.run();
    EXPECT_THAT(values<int>(executable.output("i")), ElementsAre(1, 1, 1, 1, 2, 2, 2, 2)) << view;
  }
  const auto message = [&](const std::string& view) {
    return std::string(refusal(text(view)).what());
  };
  EXPECT_THAT(message("{ buffer = \"i\", offset = \"4*l\", count = 5 }"),
              HasSubstr("a view of 5 elements at i + 4, which leaves the buffer of 8 elements"));
  EXPECT_THAT(message("{ buffer = \"i\", offset = \"4*l\", count = \"l - 1\" }"),
              HasSubstr("a view of -1 elements at i + 0"));
  EXPECT_THAT(message("{ buffer = \"i\", offset = 9 }"), HasSubstr("outside the buffer"));
  EXPECT_THAT(message("{ buffer = \"j\" }"), HasSubstr("\"j\""));
  EXPECT_THAT(message("{ buffer = \"i\", cuont = 4 }"), HasSubstr("did you mean \"count\""));
}

TEST_F(ExecutableTest, StructsThatDoNotFit) {
  const auto message = [](const std::string& first) {
    return std::string(refusal(struct_step(first)).what());
  };
  EXPECT_THAT(message("{ struct = [\"x\", { i32 = \"N\" }, { struct = [{ i16 = 1 }, \"y\"] }] }"),
              HasSubstr("argument 0 of k is a struct of 32 bytes, the parameter has 40"));
  EXPECT_THAT(message("{ struct = [\"x\", \"N\"] }"),
              HasSubstr("field 1 of argument 0 of k has no type of its own in a struct"));
  EXPECT_THAT(message("{ struct = [\"x + 2*N\", { i32 = \"N\" }, { struct = [{ i16 = 1 }, \"y\"] "
                      "}, { i8 = 1 }] }"),
              HasSubstr("field 0 of argument 0 of k is x + 8, outside the buffer of 8 elements"));
  EXPECT_THAT(
      message("{ struct = [\"x\", { i32 = \"N\" }, { struct = [{ i16 = \"70000*N\" }, \"y\"] }, { "
              "i8 = 1 }] }"),
      HasSubstr("field 0 of field 2 of argument 0 of k is 280000, which i16 does not hold"));
  EXPECT_THAT(message("{ struct = [] }"), HasSubstr("must have an array of fields for its struct"));
  EXPECT_THAT(message("{ struct = \"x\" }"),
              HasSubstr("must have an array of fields for its struct"));
}

}  // namespace
}  // namespace baton::executable_arguments_test
