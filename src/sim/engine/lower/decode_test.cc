// Everything that nvcc and NVRTC emitted for the parser's corpus decodes; what the engine cannot
// execute is known by name.

#include "sim/engine/lower/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "sim/engine/run/test_device.h"

namespace baton::sim::decode_test {
namespace {

TEST(Decode, WholeCorpus) {
  const std::filesystem::path folder =
      std::filesystem::path(BATON_SOURCE_DIR) / "src/ptx/testdata/ptx";
  std::set<std::string> missing;
  std::size_t kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    DeviceMemory memory(0, std::uint64_t{1} << 32);
    const bool blackwell = entry.path().filename().string().find("sm_100") != std::string::npos;
    const auto module = LoadedModule::load(ptx::ParsedModule::parse(text, entry.path().filename()),
                                           memory, *chip::find(blackwell ? 100 : 90));
    for (const std::string& name : module->kernel_names()) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + name);
      const LoadedKernel* kernel = nullptr;
      try {
        kernel = module->kernel(name);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
        continue;
      }
      ++kernels;
      for (const auto& function : kernel->decoded->functions) {
        for (std::size_t k = 0; k < function->reasons.size(); ++k)
          missing.insert(function->reasons[k]);
      }
    }
  }
  EXPECT_GT(kernels, 100u);
  const std::set<std::string> known = {"tcgen05"};
  for (const std::string& reason : missing) {
    const std::string prefix = "the simulated GPU does not execute ";
    const bool instruction =
        reason.rfind(prefix, 0) == 0 &&
        known.contains(reason.substr(prefix.size(), reason.find('.') - prefix.size()));
    EXPECT_TRUE(instruction) << reason;
  }
}

TEST(Decode, CallsAnAliasAsTheFunctionItNames) {
  DeviceMemory memory(0, std::uint64_t{1} << 32);
  const auto module = LoadedModule::load(
      ptx::ParsedModule::parse(".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .func f() { ret; }\n.visible .func a();\n.alias a, f;\n"
                               ".visible .entry k() { call a; ret; }\n",
                               "alias.ptx"),
      memory, *chip::find(90));
  const LoadedKernel* kernel = module->kernel("k");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->decoded->functions.size(), 2u);
  for (const auto& function : kernel->decoded->functions) EXPECT_TRUE(function->reasons.empty());
}

}  // namespace
}  // namespace baton::sim::decode_test
