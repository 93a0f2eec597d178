// A verdict that a launch's numbers decide is made again for other numbers.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "session/test_program.h"

namespace baton::session_test::new_values_test {
namespace {

using NewValues = DeviceTest;

const std::string kBuffers = buffer("x", "i32", "[64]", "input", "zeros") +
                             buffer("y", "i32", "[64]", "output", "zeros") +
                             buffer("z", "i32", "[64]", "output", "zeros");
const std::string kXToY = "\"x\", \"y\"";

// The number of an element that is read early, where one is.
TEST_F(NewValues, NumbersDecideAnew) {
  const std::string text =
      kBuffers + edge_kernel("late") +
      "[kernels.peeks]\nptx = \"chosen.ptx\"\n[symbols]\nN = 0\n"
      "[[steps]]\nrepeat = 1\nsteps = [\n"
      "{ launch = \"late\", grid = [1], block = [4], args = [\"x\", \"y + 16\"] },\n"
      "{ launch = \"peeks\", grid = [1], block = [4], args = [\"y\", \"z\", \"N\"] } ]\n";
  Executable executable = Executable::prepare(program(text), open_device(), {});
  executable.bind({});
  const auto is_early = [&](std::int64_t number) {
    executable.set({{"N", number}});
    executable.run();
    return executable.edges().at(0).programmatic;
  };
  EXPECT_TRUE(is_early(0)) << "nothing is read early";
  EXPECT_FALSE(is_early(16)) << "what the launch before writes";
  EXPECT_TRUE(is_early(15));
  EXPECT_FALSE(is_early(19));
  EXPECT_TRUE(is_early(20));
}

// The same of an address in a struct.
TEST_F(NewValues, PlacesInStructsDecideAnew) {
  const std::string text =
      kBuffers + edge_kernel("late") +
      "[kernels.peeks_far]\nptx = \"chosen.ptx\"\n[symbols]\nN = 0\n"
      "[[steps]]\nrepeat = 1\nsteps = [\n"
      "{ launch = \"late\", grid = [1], block = [4], args = [\"x\", \"y + 16\"] },\n"
      "{ launch = \"peeks_far\", grid = [1], block = [4], args = [{ struct = [\"y + N\", { i64 = 0 "
      "}] "
      "}, \"z\", { u64 = 1 }] } ]\n";
  Executable executable = Executable::prepare(program(text), open_device(), {});
  executable.bind({});
  const auto is_early = [&](std::int64_t number) {
    executable.set({{"N", number}});
    executable.run();
    return executable.edges().at(0).programmatic;
  };
  EXPECT_TRUE(is_early(0));
  EXPECT_FALSE(is_early(15));
  EXPECT_TRUE(is_early(14));
  EXPECT_FALSE(is_early(18));
  EXPECT_TRUE(is_early(19));
}

// The verdict of an edge between two launches of a group, over its iterations.
EdgeVerdict verdict_of(const std::string& iterations, const std::string& first,
                       const std::string& second) {
  std::string text = kBuffers + edge_kernel("late") + edge_kernel("ahead") + edge_kernel("returns");
  for (const char* const name : {"chosen", "peeks", "peeks_far", "next_warp_waits"}) {
    text += std::string("[kernels.") + name + "]\nptx = \"chosen.ptx\"\n";
  }
  text += "[[steps]]\nrepeat = " + iterations + "\nindex = \"i\"\nsteps = [\n" + first + ",\n" +
          second + " ]\n";
  const CheckReport report = Executable::prepare(program(text), open_device(), {}).check();
  for (const EdgeReport& edge : report.edges) {
    if (edge.from == 0 && edge.to == 1) return edge.verdict;
  }
  ADD_FAILURE() << "no such edge";
  return EdgeVerdict::kUnknown;
}
std::string step(const std::string& kernel, const std::string& args,
                 const std::string& block = "4") {
  return "{ launch = \"" + kernel + "\", grid = [1], block = [" + block + "], args = [" + args +
         "] }";
}

// What an iteration finds is not what the one before it found.
TEST_F(NewValues, EachIterationHasItsOwn) {
  const std::string late = step("late", "\"x\", \"y + 16\"");
  const auto of_number = [&](const std::string& number) {
    return verdict_of("2", late, step("peeks", "\"y\", \"z\", " + number));
  };
  EXPECT_EQ(of_number("\"0 * i\""), EdgeVerdict::kProven);
  EXPECT_EQ(of_number("\"16 * i\""), EdgeVerdict::kUnsafe);
  // How far an address that is chosen goes is not known, but for its view.
  const auto of_view = [&](const std::string& count) {
    return verdict_of("2",
                      step("chosen", "{ buffer = \"y\", offset = 0, count = \"" + count +
                                         "\" }, { buffer = \"y\", offset = 32, count = 4 }, 2"),
                      step("ahead", "{ buffer = \"y\", offset = 16, count = 4 }, \"x\", \"z\""));
  };
  EXPECT_EQ(of_view("4 + 12 * i"), EdgeVerdict::kProven);
  EXPECT_EQ(of_view("4 + 28 * i"), EdgeVerdict::kUnknown) << "it may write all of its view";
  const auto of_block = [&](const std::string& block) {
    return verdict_of("2", step("late", kXToY),
                      step("next_warp_waits", "\"y\", \"z\"", "\"" + block + "\""));
  };
  EXPECT_EQ(of_block("33"), EdgeVerdict::kProven);
  EXPECT_NE(of_block("33 - 32 * i"), EdgeVerdict::kProven) << "a block of one thread";
}

// Whether a launch waits: where none of its threads does, it may end before the launch before it.
TEST_F(NewValues, NumbersTellWhetherALaunchWaits) {
  const auto of_number = [](const std::string& number) {
    return verdict_of("2", step("late", kXToY),
                      step("returns", "\"y\", \"z\", \"" + number + "\""));
  };
  EXPECT_EQ(of_number("4"), EdgeVerdict::kProven);
  EXPECT_EQ(of_number("4 - 2 * i"), EdgeVerdict::kProven);
  EXPECT_EQ(of_number("4 - 4 * i"), EdgeVerdict::kUnknown);
}

// A number of 64 bits counts too.
TEST_F(NewValues, LongNumbers) {
  const auto of_number = [](const std::string& number) {
    return verdict_of(
        "1", step("late", "\"x\", \"y + 16\""),
        step("peeks_far", "{ struct = [\"y\", { i64 = 0 }] }, \"z\", { u64 = " + number + " }"));
  };
  EXPECT_EQ(of_number("0"), EdgeVerdict::kProven);
  EXPECT_EQ(of_number("15"), EdgeVerdict::kProven);
  EXPECT_EQ(of_number("16"), EdgeVerdict::kUnsafe);
}

}  // namespace
}  // namespace baton::session_test::new_values_test
