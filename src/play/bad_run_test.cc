#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/test_program.h"

// What of a program is wrong once its images, its symbols and its device are known, and is refused
// before anything runs.

namespace baton::bad_run_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::HasSubstr;

using BadRunTest = DeviceTest;

struct Bad {
  ErrorCode code;
  const char* args;
  const char* message;
};

// One launch of a kernel with the buffers x (f32 [8]) and b (u8 [8]) and the symbols N = 8, Z = 0.
std::string launch_of(const std::string& name, const std::string& args,
                      const std::string& geometry = "grid = [1]\nblock = [8]") {
  return "[symbols]\nN = 8\nZ = 0\n" + buffer("x", "f32", "[\"N\"]", "inout", "zeros") +
         buffer("b", "u8", "[8]", "inout", "zeros") + kernel(name) + "[[steps]]\nlaunch = \"" +
         name + "\"\n" + geometry + "\nargs = [" + args + "]\n";
}

void expect_refused(const std::string& text, ErrorCode code, const std::string& message,
                    int line = 0) {
  const Error failure = refusal(text);
  EXPECT_EQ(to_string(failure.code()), to_string(code)) << failure.what();
  EXPECT_EQ(exit_status(failure.code()), 2);
  EXPECT_THAT(failure.message(), HasSubstr(message));
  EXPECT_EQ(failure.where().file, "test.toml") << failure.what();
  if (line > 0) {
    EXPECT_EQ(failure.where().line, line) << failure.what();
  }
}

TEST_F(BadRunTest, ArgumentCount) {
  for (const Bad& bad : {
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0", "takes 4 arguments, 3 are given"},
           Bad{ErrorCode::kInvalidInput, "", "takes 4 arguments, 0 are given"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, 8, 9",
               "takes 4 arguments, 5 are given"},
       }) {
    expect_refused(launch_of("saxpy", bad.args), bad.code, bad.message, 17);
  }
}

TEST_F(BadRunTest, ArgumentKinds) {
  for (const Bad& bad : {
           Bad{ErrorCode::kInvalidInput, "1, \"x\", 1.0, 8",
               "argument 0 of saxpy is the number 1, for a parameter that is a pointer"},
           Bad{ErrorCode::kInvalidInput, "\"N\", \"x\", 1.0, 8",
               "for a parameter that is a pointer"},
           Bad{ErrorCode::kInvalidInput, "1.5, \"x\", 1.0, 8", "for a parameter that is a pointer"},
           Bad{ErrorCode::kInvalidInput, "{ u64 = 1 }, \"x\", 1.0, 8",
               "for a parameter that is a pointer"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", \"x\", 8",
               "argument 2 of saxpy is the buffer x of f32, for a parameter that is not a pointer"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, \"x + 1\"",
               "argument 3 of saxpy is the buffer x"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, 8.5",
               "argument 3 of saxpy is 8.5, a fraction, for an integer"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, 2147483648",
               "argument 3 of saxpy is 2147483648"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, \"N * 1000000000\"",
               "argument 3 of saxpy is 8000000000"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 16777217, 8",
               "argument 2 of saxpy is 16777217, which f32 does not hold exactly"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1e39, 8", "beyond the range of f32"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", { f64 = 1.0 }, 8",
               "is written as f64 of 8 bytes, the parameter has 4"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", { i32 = 1 }, 8", "is written as i32"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, { f32 = 8 }", "is written as f32"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", { f32 = \"1/Z\" }, 8",
               "1/Z: division by zero (Z = 0)"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", { bytes = \"00\" }, 8",
               "has 1 bytes, the parameter has 4"},
           Bad{ErrorCode::kInvalidInput, "\"x\", \"x\", 1.0, \"N/Z\"",
               "N/Z: division by zero (N = 8, Z = 0)"},
       }) {
    expect_refused(launch_of("saxpy", bad.args), bad.code, bad.message, 21);
  }
  expect_refused(launch_of("by_value", "\"x\", 3"), ErrorCode::kInvalidInput, "struct by value");
}

TEST_F(BadRunTest, OffsetsOutsideTheBuffer) {
  expect_refused(launch_of("saxpy", "\"x + N\", \"x\", 1.0, 8"), ErrorCode::kInvalidInput,
                 "argument 0 of saxpy is x + 8, outside the buffer of 8 elements", 21);
  expect_refused(launch_of("saxpy", "\"x + (Z - 1)\", \"x\", 1.0, 8"), ErrorCode::kInvalidInput,
                 "x + -1, outside the buffer", 21);
}

TEST_F(BadRunTest, OneIterationOfManyIsWrong) {
  const Error failure = refusal(
      "[symbols]\nL = 5\n" + buffer("x", "i32", "[16]", "inout", "zeros") + kernel("add") +
      "[[steps]]\nrepeat = \"L\"\nindex = \"layer\"\nsteps = [ { launch = \"add\", grid = [1], "
      "block = [4], args = [\"x + 4*layer\", 1, 4] } ]\n");
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.message(), HasSubstr("is x + 16, outside the buffer of 16 elements"));
  EXPECT_THAT(failure.what(), HasSubstr("with layer = 4"));
}

TEST_F(BadRunTest, Geometry) {
  const std::string args = "\"x\", \"x\", 1.0, 8";
  expect_refused(launch_of("saxpy", args, "grid = [\"Z - 1\"]\nblock = [8]"),
                 ErrorCode::kInvalidInput, "grid.x is Z - 1 = -1, it must be at least 0 (Z = 0)",
                 19);
  expect_refused(launch_of("saxpy", args, "grid = [1]\nblock = [8, \"Z\"]"),
                 ErrorCode::kInvalidInput, "block.y is Z = 0, it must be at least 1 (Z = 0)", 20);
  expect_refused(launch_of("saxpy", args, "grid = [1]\nblock = [8]\ncluster = [\"Z\"]"),
                 ErrorCode::kInvalidInput, "cluster.x is 0, it takes an integer from 1", 21);
  expect_refused(launch_of("saxpy", args, "grid = [3]\nblock = [8]\ncluster = [2]"),
                 ErrorCode::kLimit, "the grid (3, 1, 1) is not divisible by the cluster (2, 1, 1)",
                 17);
  expect_refused(launch_of("saxpy", args, "grid = [1]\nblock = [8]\nshared = \"Z - 4\""),
                 ErrorCode::kInvalidInput, "-4 bytes of dynamic shared memory", 21);
  expect_refused(launch_of("saxpy", args, "grid = [1]"), ErrorCode::kInvalidInput,
                 "the launch of saxpy has no block, and its image does not fix one", 17);
}

TEST_F(BadRunTest, LimitsOfTheDevice) {
  const std::string args = "\"x\", \"x\", 1.0, 8";
  expect_refused(launch_of("saxpy", args, "grid = [1]\nblock = [1025]"), ErrorCode::kLimit, "1025",
                 17);
  expect_refused(launch_of("saxpy", args, "grid = [1, 65536]\nblock = [8]"), ErrorCode::kLimit,
                 "65536", 17);
  expect_refused(launch_of("saxpy", args, "grid = [4294967296]\nblock = [8]"), ErrorCode::kLimit,
                 "4294967296", 17);
  expect_refused(launch_of("saxpy", args, "grid = [1]\nblock = [8]\nshared = 1000000"),
                 ErrorCode::kLimit, "1000000", 17);
  expect_refused(launch_of("geometry", "\"x\", 0", "grid = [1]\nblock = [65]"), ErrorCode::kLimit,
                 "65", 17);
}

TEST_F(BadRunTest, Copies) {
  const auto copy = [](const std::string& what) {
    return "[symbols]\nN = 8\n" + buffer("x", "i32", "[\"N\"]", "inout", "zeros") +
           buffer("y", "i32", "[4]", "output") + "[[steps]]\ncopy = { " + what + " }\n";
  };
  expect_refused(copy("from = \"x\", to = \"y\""), ErrorCode::kInvalidInput,
                 "copy: 8 elements of x for 4 elements of y", 12);
  expect_refused(copy("from = \"x\", to = \"y\", count = \"N\""), ErrorCode::kInvalidInput,
                 "a copy of 8 elements at y + 0 leaves the buffer of 4 elements (N = 8)", 13);
  expect_refused(copy("from = \"x + 5\", to = \"y\", count = 4"), ErrorCode::kInvalidInput,
                 "a copy of 4 elements at x + 5 leaves the buffer of 8 elements", 13);
  expect_refused(copy("from = \"x\", to = \"y + 1\", count = 4"), ErrorCode::kInvalidInput,
                 "a copy of 4 elements at y + 1 leaves the buffer of 4 elements", 13);
  expect_refused(copy("from = \"x + 9\", to = \"y\""), ErrorCode::kInvalidInput,
                 "the copy starts at x + 9, outside the buffer of 8 elements", 13);
  expect_refused(copy("from = \"x\", to = \"x + 3\", count = 4"), ErrorCode::kInvalidInput,
                 "elements 0 to 3 of x overlap elements 3 to 6", 12);
  expect_refused(copy("from = \"x\", to = \"y\", count = \"4 - N\""), ErrorCode::kInvalidInput,
                 "a copy of -4 elements", 13);
}

TEST_F(BadRunTest, Fills) {
  expect_refused("[symbols]\nN = 256\n" + buffer("y", "u8", "[4]", "output") +
                     "[[steps]]\nfill = { buffer = \"y\", value = \"N\" }\n",
                 ErrorCode::kInvalidInput, "fill of y: u8 does not hold 256 exactly (N = 256)", 8);
}

TEST_F(BadRunTest, Buffers) {
  const std::string step =
      "[[steps]]\nfill = { buffer = \"y\", value = 0 }\n" + buffer("y", "u8", "[4]", "output");
  for (const char* role : {"input", "weight", "inout"}) {
    expect_refused(step + buffer("x", "f32", "[4]", role), ErrorCode::kInvalidInput,
                   "nothing initialises the buffer x of role " + std::string(role), 7);
  }
  expect_refused(step + buffer("x", "i8", "[129]", "input", "arange"), ErrorCode::kInvalidInput,
                 "arange of buffer x counts to 128, i8 holds 127 at the most", 7);
  expect_refused(step + buffer("x", "f32", "[\"-1 * 3\"]", "input", "zeros"),
                 ErrorCode::kInvalidInput, "dimension 0 of buffer x is -3", 9);
  expect_refused(step + buffer("x", "f32", "[1]", "input") + "file = \"nothing.npy\"\n",
                 ErrorCode::kNotFound, "nothing.npy", 7);
}

TEST_F(BadRunTest, Repeats) {
  const auto repeat = [](const std::string& count, const std::string& step) {
    return "[symbols]\nN = 1\n" + buffer("y", "i64", "[4]", "output") +
           "[[steps]]\nrepeat = " + count + "\nindex = \"i\"\nsteps = [ " + step + " ]\n";
  };
  const std::string fill = "{ fill = { buffer = \"y\", value = 0 } }";
  expect_refused(repeat("\"N - 2\"", fill), ErrorCode::kInvalidInput,
                 "the count of the repeat is -1, a negative number (N = 1)", 8);
  expect_refused(repeat("16777217", fill), ErrorCode::kInvalidInput, "more than 16777216 steps");
  expect_refused(repeat("9223372036854775807", fill + ", " + fill), ErrorCode::kInvalidInput,
                 "more than 16777216 steps");
  // Nothing runs, but going through it would never end.
  expect_refused(
      repeat("9223372036854775807", "{ repeat = \"min(i, 0)\", steps = [ " + fill + " ] }"),
      ErrorCode::kInvalidInput, "more than 16777216 steps");
  expect_refused(repeat("1099511627776", "{ repeat = 0, steps = [ " + fill + " ] }"),
                 ErrorCode::kInvalidInput, "more than 16777216 steps, or iterations");
  expect_refused(
      repeat("9223372036854775807", "{ repeat = 9223372036854775807, steps = [ " + fill + " ] }"),
      ErrorCode::kInvalidInput, "more than 16777216 steps");
}

TEST_F(BadRunTest, Kernels) {
  const auto kernel_of = [](const std::string& definition) {
    return buffer("x", "f32", "[8]", "inout", "zeros") + "[kernels.k]\n" + definition +
           "\n[[steps]]\nlaunch = \"k\"\ngrid = [1]\nblock = [8]\nargs = [\"x\"]\n";
  };
  expect_refused(kernel_of("ptx = \"nothing.ptx\""), ErrorCode::kNotFound, "nothing.ptx", 6);
  expect_refused(kernel_of("source = \"nothing.cu\""), ErrorCode::kNotFound, "nothing.cu", 6);
  expect_refused(kernel_of("ptx = \"kernels.cu\""), ErrorCode::kInvalidInput, "kernels.cu", 6);
  expect_refused(kernel_of("ptx = \"kernels.ptx\"\nentry = \"sapxy\""), ErrorCode::kNotFound,
                 "saxpy", 6);
  expect_refused(kernel_of("ptx = \"kernels.ptx\""), ErrorCode::kInvalidInput, "saxpy", 6);
}

}  // namespace
}  // namespace baton::bad_run_test
