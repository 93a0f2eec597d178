// A kernel that loads an offset and adds it to an address: where it leads depends on what other
// kernels store. The kernels are those of testdata/differences.ptx.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/test_program.h"

namespace baton::session_test::stored_differences_test {
namespace {

class StoredDifferences : public DeviceTest {
 protected:
  static std::string launch(const std::string& kernel, const std::string& arguments) {
    return fmt::format("{{ launch = \"{}\", grid = [1], block = [4], args = [{}] }}", kernel,
                       arguments);
  }
  // A program of these steps.
  static std::string text_of(const std::vector<std::string>& steps, const std::string& setup) {
    std::string text = setup.empty() ? "" : "setup = [" + setup + "]\n";
    text += buffer("w", "i32", "[64]", "weight", "ones") +
            buffer("x", "i32", "[64]", "state", "zeros") +
            buffer("z", "i32", "[64]", "output", "zeros") +
            buffer("t", "u64", "[4]", "state", "zeros") +
            buffer("u", "u64", "[4]", "state", "zeros") +
            buffer("go", "u64", "[1]", "state", "zeros");
    for (const char* const kernel :
         {"leaves_difference", "tells_difference", "leaves_address", "leaves_through_block",
          "leaves_late", "writes", "follows", "compares"}) {
      text += fmt::format("[kernels.{}]\nptx = \"differences.ptx\"\n", kernel);
    }
    return text + "[[steps]]\nrepeat = 1\nsteps = " + join(steps) + "\n";
  }
  // Returns the edge to the launch that adds the table's value to the address of w, or to that of
  // another kernel.
  static EdgeReport edge(const std::vector<std::string>& steps, const std::string& setup = "",
                         const std::string& kernel = "follows") {
    const std::string text = text_of(steps, setup);
    const CheckReport report = Executable::prepare(program(text), open_device(), {}).check();
    for (const EdgeReport& each : report.edges) {
      if (report.launches[each.to].kernel == kernel) return each;
    }
    ADD_FAILURE() << "there is no such edge";
    return {};
  }
  const std::string difference_ = launch("leaves_difference", "\"t\", \"x\", \"w\"");
  const std::string told_ = launch("tells_difference", "\"t\", \"x\", \"w\"");
  const std::string address_ = launch("leaves_address", "\"t\", \"x\", \"w\"");
  const std::string nothing_ = launch("leaves_difference", "\"t\", \"x\", \"x\"");
  const std::string cut_ = copy("z", "z + 32");
  const std::string writes_ = launch("writes", "\"x\"");
  const std::string follows_ = launch("follows", "\"t\", \"w\", \"z\"");
};

TEST_F(StoredDifferences, ThatNoKernelStoresLeadNowhere) {
  EXPECT_EQ(edge({writes_, follows_}).verdict, EdgeVerdict::kProven);
}

// With two addresses in memory a kernel finds their difference by conditions, or by halves.
TEST_F(StoredDifferences, FollowFromAddressesThatAreStored) {
  EXPECT_EQ(edge({address_, cut_, writes_, follows_}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_, cut_, address_}).verdict, EdgeVerdict::kUnknown);
}

TEST_F(StoredDifferences, FollowFromAddressesThatTheBlockCopies) {
  const std::string block = launch("leaves_through_block", "\"t\", \"x\", \"w\"");
  EXPECT_EQ(edge({block, cut_, writes_, follows_}).verdict, EdgeVerdict::kUnknown);
}

// Only a kernel that may load from where addresses may be is affected.
TEST_F(StoredDifferences, StayWhereTheyAreStored) {
  const std::string beside = launch("leaves_address", "\"u\", \"x\", \"w\"");
  EXPECT_EQ(edge({beside, cut_, writes_, follows_}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(edge({writes_, follows_, cut_, beside}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(edge({writes_, follows_}, beside).verdict, EdgeVerdict::kProven);
}

TEST_F(StoredDifferences, FollowCopiesAndKernels) {
  const std::string beside = launch("leaves_address", "\"u\", \"x\", \"w\"");
  const std::string copied = copy("u", "t");
  const std::string moved = launch("follows", "\"u\", \"w\", \"t\"");
  EXPECT_EQ(edge({beside, copied, writes_, follows_}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_, copied, beside}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_, cut_, moved}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(edge({writes_, follows_, cut_, beside, cut_, moved}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_, cut_, moved}, beside).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_, copied}, beside).verdict, EdgeVerdict::kUnknown);
}

TEST_F(StoredDifferences, LeadToOtherBuffers) {
  const std::vector<std::vector<std::string>> programs = {{difference_, cut_, writes_, follows_},
                                                          {told_, cut_, writes_, follows_},
                                                          // In a run before, or in an iteration.
                                                          {writes_, follows_, cut_, difference_},
                                                          {nothing_, cut_, writes_, follows_}};
  for (const std::vector<std::string>& steps : programs) {
    const EdgeReport report = edge(steps);
    EXPECT_EQ(report.verdict, EdgeVerdict::kUnknown) << report.reason;
    EXPECT_FALSE(report.programmatic);
  }
}

// Other values of the same program may have executed them before.
TEST_F(StoredDifferences, OfStepsThatAreLeftOutCount) {
  const auto left_out = [](const std::string& step) {
    return "{ repeat = 0, steps = [" + step + "] }";
  };
  const std::string beside = launch("leaves_address", "\"u\", \"x\", \"w\"");
  const std::string copied = copy("u", "t");
  const std::string moved = launch("follows", "\"u\", \"w\", \"t\"");
  EXPECT_EQ(edge({left_out(difference_), writes_, follows_}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({left_out(address_), writes_, follows_}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({beside, left_out(copied), cut_, writes_, follows_}).verdict,
            EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({beside, left_out(moved), cut_, writes_, follows_}).verdict,
            EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_}, left_out(difference_)).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({left_out(beside), left_out(writes_), writes_, follows_}).verdict,
            EdgeVerdict::kProven);
}

// That a step was executed tells what its condition tested.
TEST_F(StoredDifferences, OfConditionsThatTestAddressesAreTold) {
  const std::string told = launch("leaves_address", "\"go\", \"x\", \"w\"");
  const std::vector<std::string> marks = {"{ fill = { buffer = \"t\", value = 4096 } }",
                                          copy("u", "t"), launch("follows", "\"t\", \"t\", \"t\"")};
  for (const std::string& mark : marks) {
    for (const char* const condition :
         {"if = { buffer = \"go\" }", "while = { buffer = \"go\", at_most = 8 }"}) {
      const std::string step = fmt::format("{{ {}, steps = [{}] }}", condition, mark);
      const std::string inner = fmt::format("{{ if = {{ buffer = \"u\" }}, steps = [{}] }}", step);
      const std::string left_out = fmt::format("{{ repeat = 0, steps = [{}] }}", step);
      SCOPED_TRACE(step);
      EXPECT_EQ(edge({step, writes_, follows_}).verdict, EdgeVerdict::kProven);
      for (const std::string& each : {step, inner, left_out}) {
        EXPECT_EQ(edge({told, each, cut_, writes_, follows_}).verdict, EdgeVerdict::kUnknown);
      }
      EXPECT_EQ(edge({step, writes_, follows_}, told).verdict, EdgeVerdict::kUnknown);
    }
  }
}

// With blocks of another extent it is executed.
TEST_F(StoredDifferences, OfCodeThatTheBlockLeavesOutCount) {
  const std::string late = launch("leaves_late", "\"t\", \"x\", \"w\"");
  EXPECT_EQ(edge({late, cut_, writes_, follows_}).verdict, EdgeVerdict::kUnknown);
}

TEST_F(StoredDifferences, OfSetupStepsLeadToOtherBuffers) {
  EXPECT_EQ(edge({writes_, follows_}, difference_).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(edge({writes_, follows_}, address_).verdict, EdgeVerdict::kUnknown);
}

// Many comparisons with numbers tell where an address lies.
TEST_F(StoredDifferences, AreToldByComparisonsWithNumbers) {
  const auto compares = [](const std::string& number) {
    return launch("compares", "\"x\", \"w\", \"z\", " + number);
  };
  for (const char* const number : {"{ u64 = 0 }", "{ u64 = 4096 }"}) {
    EXPECT_EQ(edge({writes_, compares(number)}, "", "compares").verdict, EdgeVerdict::kProven)
        << number;
  }
  EXPECT_EQ(edge({writes_, compares("{ u64 = 17592186044416 }")}, "", "compares").verdict,
            EdgeVerdict::kUnknown);
}

}  // namespace
}  // namespace baton::session_test::stored_differences_test
