#include "program/writer/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baton/error.h"
#include "program/writer/toml_table.h"

namespace baton::writer_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void expect_reads_back(const Program& program) {
  const std::string text = program.to_toml();
  EXPECT_TRUE(Program::from_text(text, "written", program.directory()) == program) << text;
}

TEST(ProgramWriter, WritesWhatReadsBack) {
  std::size_t programs = 0;
  for (const char* folder : {"examples", "tests"}) {
    const fs::path root = fs::path(BATON_SOURCE_DIR) / folder;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".toml") continue;
      if (entry.path().parent_path().filename() == "parts") continue;  // other programs include it
      SCOPED_TRACE(entry.path());
      expect_reads_back(Program::from_file(entry.path()));
      ++programs;
    }
  }
  EXPECT_GT(programs, 5u);
}

TEST(ProgramWriter, WritesWhatWasBuilt) {
  ProgramBuilder builder("built \"program\"");
  const Expression n = builder.symbol("N", -4);
  builder.symbol("layers", 2);
  builder.require("N*2 + 1 <= layers", "a \"name\"").require("N != 0").require("N != 1", "");
  builder.buffer({.name = "n", .init = BufferInit::kNormal, .deviation = 0.1});
  builder.buffer({.name = "u",
                  .dtype = DType::kI8,
                  .role = BufferRole::kOutput,
                  .init = BufferInit::kUniform,
                  .low = -127,
                  .high = 127,
                  .expect = "u.npy"});
  builder.buffer({.name = "x", .dtype = DType::kF32, .shape = {n, n * 2 + 1}});
  builder.buffer({.name = "w",
                  .dtype = DType::kBF16,
                  .shape = {"layers", 4},
                  .role = BufferRole::kWeight,
                  .init = BufferInit::kFile,
                  .file = "w.safetensors",
                  .tensor = "layers.{layer}.w",
                  .convert = true});
  builder.buffer({.name = "v", .variable = ModuleVariable{"a kernel", "ns::v"}});
  builder.kernel({.name = "a kernel",
                  .text = "__global__ void k(float* x) {\n\t*x = '\\\\';\n}\n",
                  .prelude = "#define A \"'''\"\n\x01",
                  .options = {"-DA=\"b\""},
                  .launch = {.pdl = PdlMode::kOff, .list = {{"cluster", {2, "N"}}}}});
  builder.kernel({.name = "l", .origin = KernelOrigin::kLink, .link = {"a.cu", "b.ptx"}});
  builder.setup([&] { builder.fill({.buffer = "x", .value = 0.5}); });
  builder.launch(
      {.kernel = "a kernel",
       .grid = {n, 1, 2},
       .block = {"N + 300"},
       .args = {"x", BufferOffset("x", n - 3), n / 2, 1e300, -0.0, std::int64_t{INT64_MIN},
                TypedValue{DType::kF16, std::numeric_limits<double>::infinity()},
                RawBytes{std::string("\0\xff", 2)},
                StructArgument{{"x", TypedValue{DType::kI8, n}}}, BufferView{{"w", n}, 3},
                TensorMapArgument{.buffer = "x", .box = {4, 4}, .swizzle = TensorMapSwizzle::k64B}},
       .attributes = {.shared = n * 4,
                      .placement = BlockPlacement::kEven,
                      .flops = n * n,
                      .list = {{"cooperative", {true}},
                               {"access_policy_window",
                                {{"buffer", BufferOffset("w", n)},
                                 {"num_bytes", 2},
                                 {"hit_ratio", 0.5},
                                 {"hit_prop", "persisting"}}}}}});
  builder.repeat(n, "i", [&] {
    builder.repeat(2, "", [&] {
      builder.copy({.from = "x", .to = {"x", symbol("i")}, .count = 1});
    });
    builder.fill({.buffer = "x", .value = symbol("i") % 2});
  });
  builder.buffer({.name = "go", .dtype = DType::kU8});
  builder.while_("go", n + 9, 4, [&] {
    builder.if_("go", [&] { builder.fill({.buffer = "x", .value = 0.25}); });
    builder.while_("go", 1, 1, [&] { builder.fill({.buffer = "go", .value = Expression(0)}); });
  });
  builder.parallel(
      {[&] { builder.fill({.buffer = "x", .value = 0.25}); },
       [&] { builder.if_("go", [&] { builder.fill({.buffer = "go", .value = 1.0}); }); }});
  builder.launch({.kernel = "l", .grid = {1}});
  expect_reads_back(builder.build());
}

TEST(ProgramWriter, RefusesWhatAProgramFileCannotHave) {
  const auto refusal = [](ProgramKernel kernel, const LaunchArgument& argument) -> std::string {
    ProgramBuilder builder("p");
    builder.kernel(std::move(kernel)).launch({.kernel = "k", .grid = {1}, .args = {argument}});
    try {
      return builder.build().to_toml();
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
      return refused.message();
    }
  };
  const Image image =
      Image::from_bytes(".version 8.0\n.target sm_90\n.visible .entry k() { ret; }", "k.ptx");
  EXPECT_EQ(refusal({.name = "k", .origin = KernelOrigin::kImage, .image = image}, 1),
            "kernel k is in memory (image), which a program file cannot name; write it to a file, "
            "or build a bundle, which holds it");
  const Compiled compiled{image, {}, {}, {}, {}};
  EXPECT_THAT(refusal({.name = "k", .origin = KernelOrigin::kCompiled, .compiled = compiled}, 1),
              HasSubstr("in memory (compiled)"));
  EXPECT_THAT(refusal({.name = "k", .text = "x"}, TypedValue{DType::kF32, Expression("1 + 2")}),
              HasSubstr("make it a FloatExpression"));
}

TEST(TomlTable, QuotesAnyText) {
  EXPECT_EQ(toml_string("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(toml_string("a\nb"), "'''\na\nb'''");
  EXPECT_EQ(toml_string("a\n'''"), "\"a\\u000A'''\"");
  EXPECT_EQ(toml_float(1), "1.0");
  EXPECT_EQ(toml_float(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace baton::writer_test
