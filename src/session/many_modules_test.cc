// Programs of many modules, which several threads load at once.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "baton/loaded_program.h"
#include "session/test_program.h"

namespace baton::many_modules_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::HasSubstr;

// A kernel that writes its number.
std::string numbered_text(int number) {
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k{0}(.param .u64 to)\n{{\n.reg .u64 %a;\n.reg .u32 %v;\n"
      "ld.param.u64 %a, [to];\nmov.u32 %v, {0};\nst.global.u32 [%a], %v;\nret;\n}}\n",
      number);
}

// Each kernel is a module, and writes an element. `texts` are of the modules.
Program numbered_program(const std::vector<std::string>& texts) {
  ProgramBuilder builder("many");
  const auto count = static_cast<std::int64_t>(texts.size());
  builder.buffer(
      {.name = "out", .dtype = DType::kI32, .shape = {count}, .role = BufferRole::kOutput});
  for (std::size_t k = 0; k < texts.size(); ++k) {
    builder.kernel({.name = fmt::format("k{}", k),
                    .origin = KernelOrigin::kImage,
                    .image = Image::from_bytes(texts[k], fmt::format("{}.ptx", k))});
    builder.launch({.kernel = fmt::format("k{}", k),
                    .grid = {1},
                    .block = {1},
                    .args = {BufferOffset("out", static_cast<std::int64_t>(k))}});
  }
  return builder.build();
}

std::vector<std::string> numbered_texts(int count) {
  std::vector<std::string> texts;
  for (int k = 0; k < count; ++k) texts.push_back(numbered_text(k));
  return texts;
}

using ManyModules = DeviceTest;

TEST_F(ManyModules, EachKernelIsThatOfItsModule) {
  Executable executable = Executable::prepare(numbered_program(numbered_texts(40)), open_device());
  executable.bind({});
  executable.run();
  std::vector<std::int32_t> wanted(40);
  for (int k = 0; k < 40; ++k) wanted[static_cast<std::size_t>(k)] = k;
  EXPECT_EQ(values<std::int32_t>(executable.output("out")), wanted);
}

TEST_F(ManyModules, ProgressTellsEachModuleOnce) {
  std::set<std::string> kernels;
  std::vector<std::size_t> done;
  PrepareOptions options;
  options.progress = [&](const LoadProgress& progress) {
    EXPECT_EQ(progress.count, 40u);
    done.push_back(progress.done);
    kernels.insert(std::string(progress.kernel));
  };
  Executable::prepare(numbered_program(numbered_texts(40)), open_device(), options);
  EXPECT_EQ(kernels.size(), 41u);  // with the empty name at the end
  ASSERT_EQ(done.size(), 41u);
  for (std::size_t k = 0; k < done.size(); ++k) EXPECT_EQ(done[k], k);
}

// Whichever thread notices it first.
TEST_F(ManyModules, TheFirstBadModuleIsNamed) {
  std::vector<std::string> texts = numbered_texts(40);
  for (const std::size_t bad : {7u, 8u, 30u}) texts[bad].resize(texts[bad].rfind('}'));
  for (int time = 0; time < 5; ++time) {
    try {
      Executable::prepare(numbered_program(texts), open_device());
      ADD_FAILURE() << "it was loaded";
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(std::string(failure.what()), HasSubstr("7.ptx"));
    }
  }
}

// What the caller's function throws on another thread ends the load.
TEST_F(ManyModules, AnExceptionOfProgressEndsTheLoad) {
  PrepareOptions options;
  options.progress = [](const LoadProgress& progress) {
    if (progress.done == 20) throw Error(ErrorCode::kInterrupted, "enough");
  };
  try {
    Executable::prepare(numbered_program(numbered_texts(40)), open_device(), options);
    ADD_FAILURE() << "it was loaded";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInterrupted);
  }
}

}  // namespace
}  // namespace baton::many_modules_test
