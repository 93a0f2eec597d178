// What threads print comes out when the device is waited for.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "conformance/conformance.h"

namespace baton::conformance::print_test {
namespace {

class Prints : public Conformance {
 protected:
  template <typename Launch>
  std::string captured(Launch launch) const {
    const Module module = load("print.cu");
    device().synchronize();
    testing::internal::CaptureStdout();
    try {
      launch(module);
      device().synchronize();
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    return testing::internal::GetCapturedStdout();
  }
};

// The host's printf of the same arguments.
template <typename... Args>
std::string printed(const char* format, Args... args) {
  char buffer[512];
  std::snprintf(buffer, sizeof(buffer), format, args...);
  return buffer;
}

TEST_F(Prints, EveryConversion) {
  constexpr int kI = -70042;
  constexpr unsigned kU = 0xfedc1234;
  constexpr long long kL = -1234567890123456789;
  constexpr double kD = -12.5678;
  const std::string text = "hello";
  const auto device_text =
      Buffer<char>::of(device(), std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  const std::string got = captured([&](const Module& module) {
    module.kernel("formats").launch({}, kI, kU, kL, kD, device_text);
  });
  const char* t = text.c_str();
  const std::string want =
      printed("%d|%5d|%-5d|%05d|%+d|% d|%i\n", kI, kI, kI, kI, kI, kI, kI) +
      printed("%u|%x|%X|%#x|%o|%c|%%\n", kU, kU, kU, kU, kU, 'a' + kI % 26) +
      printed("%lld|%llu|%llx|%ld\n", kL, static_cast<unsigned long long>(kL), kL,
              static_cast<long>(kL)) +
      printed("%f|%.2f|%10.3f|%-10.1f|%e|%g|%G\n", kD, kD, kD, kD, kD, kD, kD) +
      printed("%s|%8s|%-8s|%.2s\n", t, t, t, t) + printed("%*d\n", 7, kI) +
      printed("%hd|%hu\n", static_cast<short>(kI), static_cast<unsigned short>(kU)) +
      printed("%p|%20p|%-20p|\n", static_cast<void*>(nullptr), reinterpret_cast<void*>(kL),
              reinterpret_cast<void*>(kL)) +
      "no arguments\n";
  EXPECT_EQ(got, want);
}

TEST_F(Prints, OneLineAtATime) {
  constexpr unsigned kBlocks = 3, kThreads = 70;
  const std::string got = captured([&](const Module& module) {
    module.kernel("threads").launch({.grid = kBlocks, .block = kThreads});
  });
  std::vector<std::string> lines;
  std::istringstream stream(got);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  for (unsigned block = 0; block < kBlocks; ++block) {
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const std::string who = fmt::format("block {} thread {} ", block, thread);
      const auto first =
          std::find(lines.begin(), lines.end(), who + (thread % 2 == 0 ? "is even" : "is odd"));
      const auto second = std::find(lines.begin(), lines.end(), who + "again");
      EXPECT_TRUE(first < second && second != lines.end()) << who;
    }
  }
  EXPECT_EQ(lines.size(), 2 * kBlocks * kThreads);
}

TEST_F(Prints, TellHowManyArgumentsTheyTook) {
  const Buffer<int> out(device(), 3);
  captured([&](const Module& module) { module.kernel("results").launch({}, out); });
  EXPECT_EQ(out.download(), (std::vector<int>{0, 1, 3}));
}

}  // namespace
}  // namespace baton::conformance::print_test
