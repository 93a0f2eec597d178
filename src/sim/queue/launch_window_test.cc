#include "sim/queue/launch_window.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace baton::sim::launch_window_test {
namespace {

using Asked = LaunchWindow::Asked;

std::vector<bool> taken(const Asked& asked, const std::vector<std::string>& kernels) {
  LaunchWindow window(asked);
  std::vector<bool> all;
  for (const std::string& kernel : kernels) all.push_back(window.take(kernel));
  return all;
}

TEST(LaunchWindow, TakesSoManyLaunchesAfterThoseItSkips) {
  const std::vector<std::string> kernels(4, "k");
  EXPECT_EQ(taken({.skip = 1}, kernels), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(taken({.count = 2}, kernels), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(taken({.skip = 1, .count = 2}, kernels), (std::vector<bool>{false, true, true, false}));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(taken({.skip = 3, .count = kMost}, kernels),
            (std::vector<bool>{false, false, false, true}));
}

TEST(LaunchWindow, LaunchesOfOtherKernelsDoNotCount) {
  const std::vector<std::string> kernels = {"a", "b", "a", "b"};
  EXPECT_EQ(taken({.skip = 1, .kernels = "^b$"}, kernels),
            (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(taken({.count = 1, .excluded = "^a$"}, kernels),
            (std::vector<bool>{false, true, false, false}));
}

TEST(LaunchWindow, PatternsNameKernelsAsTheSourceDoesOrTheImage) {
  const std::vector<std::string> kernels = {"_Z5scaleIfEvPT_"};
  EXPECT_EQ(taken({.count = 1, .kernels = "scale<float>"}, kernels), std::vector<bool>{true});
  EXPECT_EQ(taken({.count = 1, .kernels = "^_Z5scale"}, kernels), std::vector<bool>{true});
  EXPECT_EQ(taken({.count = 1, .kernels = "^scale$"}, kernels), std::vector<bool>{false});
}

}  // namespace
}  // namespace baton::sim::launch_window_test
