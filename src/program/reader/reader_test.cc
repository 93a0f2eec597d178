#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/file/file.h"
#include "baton/program.h"

namespace baton::reader_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kWhole = R"toml(
name = "norm_matvec"

[symbols]
N = 1024
K = 4096

[buffers.x]
dtype = "f32"
shape = ["K"]
role  = "input"
init  = "random"

[buffers.W]
dtype = "f16"
shape = ["layers * N", 'K']
role  = "weight"
file  = "w.npy"

[buffers.y]
dtype = "f32"
shape = ["N"]
role  = "output"

[buffers.z]
dtype = "f32"
shape = []

[buffers.go]
dtype = "i32"
shape = []

[buffers.go2]
dtype = "i32"
shape = []

[kernels.rmsnorm]
source = "norm.cu"
entry  = "rmsnorm<float>"
prelude = "#define EPS 1e-5f"
include = ["include", "/opt/include"]
options = ["-DBLOCK=256"]
rewrite = "loads"
launch = { shared = "4*N", pdl = "off", placement = "any", priority = "-K" }

[kernels."matvec 2"]
ptx = "matvec.ptx"

[[steps]]
launch = "rmsnorm"
grid   = [1]
block  = [256, "N / N"]
args   = ["x", "W + layers*N", "y", "K", 1e-5, -3, true, { f16 = 1.0 }, { i32 = "K" },
          { f32 = "1/sqrt(K)" }, { u8 = 7 }, { bytes = "00fF" },
          { tensor_map = { buffer = "W + N*K", shape = ["N", "K"], strides = ["2 * K", 1], box = [64, 32], element_strides = [2, 1], type = "f16", interleave = "none", swizzle = "64b", l2_promotion = "128b", oob_fill = "nan" } },
          { tensor_map = { buffer = "y", shape = ["N"], box = [256] } }]
shared = "2 * K"
cluster = [1, 1]
cooperative = false
mem_sync_domain_map = { remote = 1, default = 0 }
access_policy_window = { buffer = "W + N", num_bytes = "2*K", hit_ratio = 0.5, hit_prop = "persisting" }
pdl    = "auto"
placement = "even"
flops  = "2*N*K"

[[steps]]
copy = { from = "y", to = "x + N", count = "N" }

[[steps]]
fill = { buffer = "z", value = 0.5 }

[[steps]]
repeat = "layers"
index  = "layer"
  [[steps.steps]]
  fill = { buffer = "z", value = "layer % 2" }
  [[steps.steps]]
  repeat = 2
  steps = [ { launch = "matvec 2", grid = ["ceildiv(N, 8)"], args = ["W + layer*N*K"] } ]

[[steps]]
while = { buffer = "go", at_most = "2*K", unroll = 8 }
  [[steps.steps]]
  if = { buffer = "go" }
  steps = [ { fill = { buffer = "z", value = 1 } } ]
  [[steps.steps]]
  while = { buffer = "go", at_most = 4 }
  steps = [ { fill = { buffer = "z", value = 3 } } ]

[[steps]]
parallel = [ [ { fill = { buffer = "z", value = 4 } }, { fill = { buffer = "z", value = 5 } } ],
             [ { repeat = 6, steps = [ { fill = { buffer = "go", value = 7 } } ] } ] ]
)toml";

Program whole_in_cpp() {
  ProgramBuilder builder("norm_matvec");
  const Expression n = builder.symbol("N", 1024);
  const Expression k = builder.symbol("K", 4096);
  const Expression layers = builder.symbol("layers", 2);
  builder.buffer({.name = "x",
                  .dtype = DType::kF32,
                  .shape = {k},
                  .role = BufferRole::kInput,
                  .init = BufferInit::kRandom});
  builder.buffer({.name = "W",
                  .dtype = DType::kF16,
                  .shape = {layers * n, k},
                  .role = BufferRole::kWeight,
                  .init = BufferInit::kFile,
                  .file = "models/w.npy"});
  builder.buffer({.name = "y", .dtype = DType::kF32, .shape = {"N"}, .role = BufferRole::kOutput});
  builder.buffer({.name = "z"});
  builder.buffer({.name = "go", .dtype = DType::kI32});
  builder.buffer({.name = "go2", .dtype = DType::kI32});
  builder.kernel({.name = "rmsnorm",
                  .origin = KernelOrigin::kSource,
                  .file = "models/norm.cu",
                  .entry = "rmsnorm<float>",
                  .prelude = "#define EPS 1e-5f",
                  .include = {"models/include", "/opt/include"},
                  .options = {"-DBLOCK=256"},
                  .launch = {.shared = 4 * n,
                             .pdl = PdlMode::kOff,
                             .placement = BlockPlacement::kAny,
                             .list = {{"priority", {"-K"}}}},
                  .rewrite = RewriteMode::kLoads});
  builder.kernel({.name = "matvec 2", .origin = KernelOrigin::kPtx, .file = "models/matvec.ptx"});
  builder.launch(
      {.kernel = "rmsnorm",
       .grid = {1},
       .block = {256, n / n},
       .args = {"x", BufferOffset("W", layers * n), "y", k, 1e-5, -3, true,
                TypedValue{DType::kF16, 1.0}, TypedValue{DType::kI32, k},
                TypedValue{DType::kF32, FloatExpression("1/sqrt(K)")},
                TypedValue{DType::kU8, Expression(7)}, RawBytes{std::string("\0\xff", 2)},
                TensorMapArgument{.buffer = BufferOffset("W", n * k),
                                  .shape = {n, k},
                                  .strides = {2 * k, 1},
                                  .box = {64, 32},
                                  .element_strides = {2, 1},
                                  .type = TensorMapType::kF16,
                                  .swizzle = TensorMapSwizzle::k64B,
                                  .l2_promotion = TensorMapL2Promotion::k128B,
                                  .oob_fill = TensorMapFill::kNan},
                TensorMapArgument{.buffer = "y", .shape = {n}, .box = {256}}},
       .attributes = {.shared = 2 * k,
                      .pdl = PdlMode::kAuto,
                      .placement = BlockPlacement::kEven,
                      .flops = 2 * n * k,
                      .list = {{"access_policy_window",
                                {{"buffer", BufferOffset("W", n)},
                                 {"num_bytes", 2 * k},
                                 {"hit_ratio", 0.5},
                                 {"hit_prop", "persisting"}}},
                               {"cooperative", {false}},
                               {"mem_sync_domain_map", {{"remote", 1}, {"default", 0}}},
                               {"cluster", {1, 1}}}}});
  builder.copy({.from = "y", .to = "x + N", .count = n});
  builder.fill({.buffer = "z", .value = 0.5});
  builder.repeat(layers, "layer", [&] {
    builder.fill({.buffer = "z", .value = symbol("layer") % 2});
    builder.repeat(2, "", [&] {
      builder.launch({.kernel = "matvec 2",
                      .grid = {ceildiv(n, 8)},
                      .args = {BufferOffset("W", symbol("layer") * n * k)}});
    });
  });
  builder.while_("go", 2 * k, 8, [&] {
    builder.if_("go", [&] { builder.fill({.buffer = "z", .value = Expression(1)}); });
    builder.while_("go", 4, 1, [&] { builder.fill({.buffer = "z", .value = Expression(3)}); });
  });
  builder.parallel({[&] {
                      builder.fill({.buffer = "z", .value = Expression(4)});
                      builder.fill({.buffer = "z", .value = Expression(5)});
                    },
                    [&] {
                      builder.repeat(
                          6, "", [&] { builder.fill({.buffer = "go", .value = Expression(7)}); });
                    }});
  return builder.build();
}

std::string with_layers() {
  std::string text = kWhole;
  return text.replace(text.find("K = 4096"), 8, "K = 4096\nlayers = 2");
}

TEST(ProgramReader, GivesWhatTheBuilderGives) {
  const Program read = Program::from_text(with_layers(), "norm.toml", "models");
  const Program built = whole_in_cpp();
  ASSERT_EQ(read.steps().size(), built.steps().size());
  for (std::size_t i = 0; i < read.steps().size(); ++i) {
    EXPECT_TRUE(read.steps()[i] == built.steps()[i]) << "step " << i;
  }
  EXPECT_TRUE(read.kernels() == built.kernels());
  EXPECT_TRUE(read.buffers() == built.buffers());
  EXPECT_TRUE(read.symbols() == built.symbols());
  EXPECT_TRUE(read == built);
}

// Every part of the text above is a part of the program: whatever changes shows.
TEST(ProgramReader, EqualityMissesNothing) {
  const Program original = Program::from_text(with_layers(), "norm.toml", "models");
  const std::pair<const char*, const char*> changes[] = {
      {"\"norm_matvec\"", "\"other\""},
      {"K = 4096", "K = 4097"},
      {"init  = \"random\"", "init = \"zeros\""},
      {"role  = \"output\"", "role = \"inout\""},
      {"shape = [\"N\"]", "shape = [\"N\", 1]"},
      {"dtype = \"f16\"", "dtype = \"bf16\""},
      {"w.npy", "v.npy"},
      {"norm.cu", "norm2.cu"},
      {"rmsnorm<float>", "rmsnorm<double>"},
      {"1e-5f", "1e-6f"},
      {"\"/opt/include\"", "\"/opt\""},
      {"BLOCK=256", "BLOCK=128"},
      {"4*N", "4*K"},
      {"ptx = ", "cubin = "},
      {"grid   = [1]", "grid = [2]"},
      {"[256, \"N / N\"]", "[256, \"N\"]"},
      {"W + layers*N\"", "W + N\""},
      {"1e-5, -3", "1e-5, -4"},
      {"true", "false"},
      {"f16 = 1.0", "bf16 = 1.0"},
      {"i32 = \"K\"", "i32 = \"N\""},
      {"1/sqrt(K)", "1/sqrt(N)"},
      {"00fF", "00fe"},
      {"W + N*K", "W + 2*N*K"},
      {"\"2 * K\", 1]", "\"2 * K\", 2]"},
      {"box = [64, 32]", "box = [64, 16]"},
      {"element_strides = [2, 1]", "element_strides = [1, 1]"},
      {"type = \"f16\", inter", "type = \"bf16\", inter"},
      {"interleave = \"none\"", "interleave = \"16b\""},
      {"\"64b\"", "\"128b\""},
      {"l2_promotion = \"128b\"", "l2_promotion = \"256b\""},
      {"oob_fill = \"nan\"", "oob_fill = \"zeros\""},
      {"2 * K", "3 * K"},
      {"cluster = [1, 1]", "cluster = [1]"},
      {"pdl    = \"auto\"", "pdl = \"off\""},
      {"\"even\"", "\"any\""},
      {"rewrite = \"loads\"", "rewrite = \"off\""},
      {"rewrite = \"loads\"", ""},
      {"cooperative = false", "cooperative = true"},
      {"cooperative = false", ""},
      {"remote = 1", "remote = 2"},
      {"\"-K\"", "\"-N\""},
      {"\"W + N\"", "\"W\""},
      {"hit_ratio = 0.5", "hit_ratio = 0.25"},
      {"\"persisting\"", "\"streaming\""},
      {"x + N\"", "x + K\""},
      {"count = \"N\"", "count = 1"},
      {"value = 0.5", "value = 0.25"},
      {"repeat = \"layers\"", "repeat = 2"},
      {"repeat = 2", "repeat = 3"},
      {"\"2*K\", unroll", "\"3*K\", unroll"},
      {"unroll = 8", "unroll = 4"},
      {", unroll = 8", ""},
      {"buffer = \"go\", at_most = 4", "buffer = \"go2\", at_most = 4"},
      {"if = { buffer = \"go\" }", "if = { buffer = \"go2\" }"},
      {"value = 1 }", "value = 2 }"},
      {"value = 3 }", "value = 2 }"},
      {"value = 4 }", "value = 2 }"},
      {"value = 4 } }, {", "value = 4 } } ], [ {"},
      {"repeat = 6", "repeat = 7"},
      {"layer % 2", "layer % 3"},
      {"W + layer*N*K", "W + layer*N"},
  };
  for (const auto& [from, to] : changes) {
    std::string text = with_layers();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    EXPECT_FALSE(Program::from_text(text, "norm.toml", "models") == original) << from;
  }
}

TEST(ProgramReader, Defaults) {
  const Program program = Program::from_text(R"(
[buffers.z]
dtype = "u8"
shape = [4]
[[steps]]
fill = { buffer = "z", value = 0 }
)",
                                             "plain");
  EXPECT_EQ(program.name(), "plain");
  EXPECT_EQ(program.buffers()[0].role, BufferRole::kScratch);
  EXPECT_EQ(program.buffers()[0].init, BufferInit::kNone);
  EXPECT_TRUE(program.symbols().empty());
  EXPECT_EQ(program.buffer("y"), nullptr);
  EXPECT_NE(program.buffer("z"), nullptr);
  EXPECT_EQ(program.steps()[0].where.to_string(), "plain:5:1");
}

TEST(ProgramReader, FoldersThatAreNotThereAreWarnings) {
  const Program program = Program::from_text(R"([kernels.k]
text = "k"
include = ["/nowhere/inc", "/"]
[kernels.l]
text = "l"
include = ["/dev/null"]
[[steps]]
launch = "k"
grid = [1]
block = [32]
[[steps]]
launch = "l"
grid = [1]
block = [32]
)",
                                             "p.toml");
  EXPECT_THAT(
      program.warnings(),
      testing::ElementsAre("p.toml:1:10: the include folder /nowhere/inc of kernel k is not there; "
                           "name another, or remove it",
                           "p.toml:4:10: the include folder /dev/null of kernel l is no folder; "
                           "name another, or remove it"));
}

// A name that nothing uses is mostly a slip. Extents, offsets, attributes and variables are uses.
TEST(ProgramReader, NamesThatNothingUsesAreWarnings) {
  const Program program = Program::from_text(R"([symbols]
N = 4
M = 4
S = 0
spare = 1
[buffers.x]
dtype = "f32"
shape = ["N"]
[buffers.lost]
dtype = "f32"
shape = ["M"]
[buffers.table]
dtype = "f32"
shape = [4]
variable = "holder.table"
[kernels.k]
text = "k"
[kernels.holder]
text = "holder"
[kernels.idle]
text = "idle"
[[steps]]
launch = "k"
grid = [1]
block = [32]
shared = "S"
args = ["x", "table"]
)",
                                             "p.toml");
  EXPECT_THAT(program.warnings(),
              testing::ElementsAre("p.toml:5:1: the symbol spare is never used; remove it",
                                   "p.toml:9:10: the buffer lost is never used; remove it",
                                   "p.toml:20:10: the kernel idle is never launched; remove it"));
}

TEST(ProgramReader, OneExtentNeedsNoBrackets) {
  const auto read = [](const std::string& x, const std::string& grid, const std::string& cluster) {
    return Program::from_text(
        "name = \"p\"\n[symbols]\nN = 2\n[buffers.x]\ndtype = \"f32\"\nshape = " + x +
            "\n[kernels.k]\ntext = \"k\"\n[[steps]]\nlaunch = \"k\"\ngrid = " + grid +
            "\nblock = 32\nargs = [\"x\"]\ncluster = " + cluster + "\n",
        "p.toml");
  };
  EXPECT_EQ(read("\"N\"", "4", "2"), read("[\"N\"]", "[4]", "[2]"));
  EXPECT_EQ(read("3", "\"2*N\"", "\"N\""), read("[3]", "[\"2*N\"]", "[\"N\"]"));
}

TEST(ProgramReader, PathsStartFromTheFile) {
  const TemporaryDirectory folder;
  const fs::path path = folder.path() / "add.toml";
  write_file_atomically(path, R"(
[buffers.x]
dtype = "f64"
shape = [2]
file = "data/x.npy"
[kernels.add]
source = "../add.cu"
[[steps]]
launch = "add"
grid = [1]
)");
  const Program program = Program::from_file(path);
  EXPECT_EQ(program.name(), "add");
  EXPECT_EQ(program.file(), path);
  EXPECT_EQ(program.buffers()[0].file, folder.path() / "data/x.npy");
  EXPECT_EQ(program.kernels()[0].file, folder.path() / "../add.cu");
}

TEST(ProgramReader, AMissingFileIsNotFound) {
  try {
    Program::from_file("/nonexistent/program.toml");
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
    EXPECT_THAT(failure.what(), HasSubstr("/nonexistent/program.toml"));
  }
}

TEST(ProgramReader, StringsMayGoOnWithAnyCharacterAfterALineEndingBackslash) {
  for (const char* character : {"§", "ż", "、", "か", "\xef\xac\x81", "\xf0\x9f\x8f\x83"}) {
    const std::string text = "name = \"\"\"a\\\n  " + std::string(character) + "\"\"\"\n" +
                             "steps = [{ fill = { buffer = \"x\", value = 0 } }]\n" +
                             "[buffers.x]\ndtype = \"u8\"\nshape = [1]\n";
    EXPECT_EQ(Program::from_text(text, "p.toml").name(), std::string("a") + character);
  }
}

TEST(ProgramReader, EveryDtypeRoleAndInit) {
  for (const std::string_view dtype : dtype_names()) {
    for (const char* role : {"input", "weight", "output", "inout", "scratch"}) {
      for (const char* init : {"zeros", "ones", "arange", "random"}) {
        const std::string text = "[buffers.b]\ndtype = \"" + std::string(dtype) +
                                 "\"\nshape = [3]\nrole = \"" + role + "\"\ninit = \"" + init +
                                 "\"\n[buffers.z]\ndtype = \"u8\"\nshape = [1]\n" +
                                 "[[steps]]\nfill = { buffer = \"z\", value = 0 }\n";
        const Program program = Program::from_text(text, "p");
        const ProgramBuffer& buffer = program.buffers()[0];
        EXPECT_EQ(to_string(buffer.dtype), dtype);
        EXPECT_EQ(to_string(buffer.role), role);
        EXPECT_EQ(to_string(buffer.init), init);
      }
    }
  }
}

TEST(ProgramReader, FillTakesInfinitiesWhereTheDtypeHasThem) {
  const auto fill = [](const char* dtype, const char* value) {
    return Program::from_text(
        std::string("[buffers.z]\ndtype = \"") + dtype +
            "\"\nshape = [1]\n[[steps]]\nfill = { buffer = \"z\", value = " + value + " }\n",
        "p");
  };
  EXPECT_NO_THROW(fill("f16", "-inf"));
  EXPECT_NO_THROW(fill("f32", "nan"));
  EXPECT_THROW(fill("f8e4m3", "inf"), Error);
  EXPECT_THROW(fill("i32", "inf"), Error);
  EXPECT_NO_THROW(fill("i32", "2.0"));
  EXPECT_NO_THROW(fill("bool", "true"));
}

TEST(ProgramBuilder, ErrorsNameTheCppSource) {
  ProgramBuilder builder("p");
  builder.buffer({.name = "x", .shape = {4}});
  const int line = __LINE__ + 1;
  builder.fill({.buffer = "y"});
  try {
    builder.build();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
    EXPECT_THAT(failure.where().file, HasSubstr("reader_test.cc"));
    EXPECT_EQ(failure.where().line, line);
  }
}

TEST(ProgramBuilder, MayGoOnAfterABodyThatThrew) {
  ProgramBuilder builder("p");
  builder.buffer({.name = "x", .shape = {4}});
  EXPECT_THROW(builder.repeat(2, "i", [] { throw std::runtime_error("stop"); }),
               std::runtime_error);
  builder.fill({.buffer = "x"});
  EXPECT_EQ(builder.build().steps().size(), 1u);
}

}  // namespace
}  // namespace baton::reader_test
