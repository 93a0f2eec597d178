// A verdict that a launch's numbers decide is made again for other numbers.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "session/test_program.h"

namespace baton::session_test {
namespace {

using NewValues = DeviceTest;

// The number of an element that is read early, where one is.
TEST_F(NewValues, NumbersDecideAnew) {
  const std::string text =
      buffer("x", "i32", "[64]", "input", "zeros") + buffer("y", "i32", "[64]", "output", "zeros") +
      buffer("z", "i32", "[64]", "output", "zeros") + edge_kernel("late") +
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

}  // namespace
}  // namespace baton::session_test
