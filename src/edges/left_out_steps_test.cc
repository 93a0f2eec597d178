// Steps that a program's values leave out. With other values they may have left addresses in memory
// that a kernel loads from now. The kernels are those of testdata/differences.ptx, left_out.ptx and
// chosen.ptx.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

namespace baton::session_test::left_out_steps_test {
namespace {

std::string launch(const std::string& kernel, const std::string& arguments) {
  return fmt::format("{{ launch = \"{}\", grid = [1], block = [4], args = [{}] }}", kernel,
                     arguments);
}
std::string left_out(const std::string& step) {
  return "{ repeat = 0, steps = [" + step + "] }";
}

// A program with those steps before a launch that writes x, and one that adds what it loads from t
// to the address of w.
std::string text_of(const std::vector<std::string>& steps, const std::string& more = "") {
  std::string text =
      more + buffer("a", "i32", "[64]", "state", "zeros") +
      buffer("w", "i32", "[64]", "weight", "ones") + buffer("x", "i32", "[64]", "state", "zeros") +
      buffer("z", "i32", "[64]", "output", "zeros") + buffer("t", "u64", "[4]", "state", "zeros") +
      buffer("u", "u64", "[4]", "state", "zeros");
  for (const char* const kernel : {"leaves_difference", "leaves_address", "writes", "follows"}) {
    text += fmt::format("[kernels.{}]\nptx = \"differences.ptx\"\n", kernel);
  }
  for (const char* const kernel :
       {"leaves_pair", "leaves_there", "leaves_map", "leaves_alignment"}) {
    text += fmt::format("[kernels.{}]\nptx = \"left_out.ptx\"\n", kernel);
  }
  text += "[kernels.aligns]\nptx = \"chosen.ptx\"\n";
  std::vector<std::string> all = steps;
  all.push_back(copy("z", "z + 32"));
  all.push_back(launch("writes", "\"x\""));
  all.push_back(launch("follows", "\"t\", \"w\", \"z\""));
  return text + "[[steps]]\nrepeat = 1\nsteps = " + join(all) + "\n";
}

EdgeVerdict verdict_in(const CheckReport& report) {
  for (const EdgeReport& edge : report.edges) {
    if (report.launches[edge.to].kernel == "follows") return edge.verdict;
  }
  ADD_FAILURE() << "there is no such edge";
  return EdgeVerdict::kUnsafe;
}
EdgeVerdict verdict(const std::vector<std::string>& steps, const std::string& more = "",
                    Bindings bindings = {}) {
  return verdict_in(Executable::prepare(program(text_of(steps, more)), open_device(), {})
                        .check(std::move(bindings)));
}

using StepsThatAreLeftOut = DeviceTest;

TEST_F(StepsThatAreLeftOut, LeaveWhatTheyAreGivenInStructs) {
  const auto pair = [](const std::string& fields) {
    return left_out(launch("leaves_pair", "{ struct = [" + fields + "] }, \"t\""));
  };
  EXPECT_EQ(verdict({pair("{ i64 = 8 }, { i64 = 0 }")}), EdgeVerdict::kProven) << "numbers";
  EXPECT_EQ(verdict({pair("\"x\", \"w\"")}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({pair("\"x\", { i64 = 0 }")}), EdgeVerdict::kUnknown);
  const auto there = [](const std::string& table) {
    return left_out(launch("leaves_there", "{ struct = [\"" + table + "\", { i64 = 0 }] }, \"x\""));
  };
  EXPECT_EQ(verdict({there("t")}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({there("u")}), EdgeVerdict::kProven) << "nothing is loaded from there";
}

TEST_F(StepsThatAreLeftOut, LeaveNumbersWhereTheyAreGivenNumbers) {
  EXPECT_EQ(verdict({left_out(launch("leaves_address", "\"t\", { u64 = 5 }, \"w\""))}),
            EdgeVerdict::kProven);
  EXPECT_EQ(verdict({left_out(launch("leaves_address", "\"t\", \"x\", \"w\""))}),
            EdgeVerdict::kUnknown);
}

// The bits of a tensor map tell the address of its tensor.
TEST_F(StepsThatAreLeftOut, LeavePartsOfTensorMaps) {
  const std::string map = "{ tensor_map = { buffer = \"x\", box = [16] } }";
  EXPECT_EQ(verdict({left_out(launch("leaves_map", map + ", \"u\""))}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({left_out(launch("leaves_map", map + ", \"t\""))}), EdgeVerdict::kUnknown);
}

// One launch is not taken for another one of the same kernel that touches the same memory.
TEST_F(StepsThatAreLeftOut, AreToldApart) {
  const std::string number = left_out(launch("leaves_address", "\"t\", { u64 = 5 }, \"w\""));
  const std::string address = left_out(launch("leaves_address", "\"t\", \"x\", \"w\""));
  EXPECT_EQ(verdict({number, number}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({number, address}), EdgeVerdict::kUnknown);
}

// With the alignments of two buffers in the same 256 bytes a kernel finds their distance.
TEST_F(StepsThatAreLeftOut, TellAlignmentsOfMemoryBeside) {
  const Device device = open_device();
  const auto memory = Buffer<int>::of(device, std::vector<int>(512, 1));
  const auto given = [&](std::uint64_t first) {
    return DeviceArray{DType::kI32, {64}, memory.memory().address() + first * sizeof(int)};
  };
  const auto beside = [&](const std::string& step, std::uint64_t x, std::uint64_t a) {
    return verdict({left_out(step)}, "", {.memory = {{"x", given(x)}, {"a", given(a)}}});
  };
  const std::string of_struct =
      launch("leaves_alignment", "{ struct = [\"x\", { i64 = 0 }] }, \"t\"");
  for (const std::string& step : {launch("aligns", "\"x\", \"x\", \"t\""), of_struct}) {
    EXPECT_EQ(beside(step, 0, 128), EdgeVerdict::kProven);
    EXPECT_EQ(beside(step, 32, 96), EdgeVerdict::kUnknown);
  }
}

// A collective may receive anything.
TEST_F(StepsThatAreLeftOut, MayBeCollectives) {
  const auto of_ranks = [](const std::vector<std::string>& steps) {
    const std::string text = text_of(steps, "[world]\nranks = 2\n");
    return verdict_in(Executable::prepare(program(text), open_device(), {}).check());
  };
  const std::string beside = launch("leaves_address", "\"u\", \"x\", \"w\"");
  const std::string reduce = "{ all_reduce = { buffer = \"a\" } }";
  EXPECT_EQ(of_ranks({left_out(reduce)}), EdgeVerdict::kProven) << "no step leaves an address";
  EXPECT_EQ(of_ranks({beside, reduce}), EdgeVerdict::kProven) << "it leaves none in t";
  EXPECT_EQ(of_ranks({beside, left_out(reduce)}), EdgeVerdict::kUnknown);
}

}  // namespace
}  // namespace baton::session_test::left_out_steps_test
