#include "baton/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "base/array/npy.h"
#include "base/file/file.h"
#include "bundle/definitions.h"
#include "bundle/test_support.h"
#include "session/test_program.h"

// Programs that are built, moved and run from their bundles.

namespace baton::session_test::bundle_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kProgram = R"(
[symbols]
N = 64

[buffers.w]
dtype = "f32"
shape = ["N"]
role = "weight"
file = "data/w.npy"

[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "ones"

[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"

[kernels.scale]
source = "scale.cu"
entry = "scale<float>"
options = ["-DFACTOR=2"]

[kernels.add]
text = '''
extern "C" __global__ void add(float* y, const float* w) { y[threadIdx.x] += w[threadIdx.x]; }
'''

[[steps]]
launch = "scale"
grid = [1]
block = ["N"]
args = ["y", "x"]

[[steps]]
launch = "add"
grid = [1]
block = ["N"]
args = ["y", "w"]
)";

constexpr const char* kScale = R"(#include "factor.h"
template <typename T>
__global__ void scale(T* y, const T* x) { y[threadIdx.x] = factor<T>() * x[threadIdx.x]; }
)";
constexpr const char* kFactor = R"(#pragma once
template <typename T> __device__ T factor() { return FACTOR; }
)";

class BundleTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    fs::create_directories(folder() / "data");
    write_file_atomically(folder() / "p.toml", kProgram);
    write_file_atomically(folder() / "scale.cu", kScale);
    write_file_atomically(folder() / "factor.h", kFactor);
    std::vector<float> weights(64);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    write_npy(folder() / "data/w.npy", array(DType::kF32, {64}, weights));
  }

  fs::path folder() const { return directory_.path() / "program"; }
  fs::path bundle() const { return directory_.path() / "p.baton"; }

  std::vector<std::string> build(const BundleOptions& options) const {
    return write_bundle(Program::from_file(folder() / "p.toml"), bundle(), options);
  }
  BundleOptions everything() const {
    return {.architectures = {open_device().compile_arch()}, .weights = true};
  }

  static std::vector<float> run(const LoadedProgram& loaded) {
    Executable executable(loaded);
    executable.run();
    return values<float>(executable.output("y"));
  }

 private:
  TemporaryDirectory directory_;
};

// Takes the compiler away from whatever looks for it in the scope.
class WithoutNvrtc {
 public:
  WithoutNvrtc() {
    for (const char* name : {"BATON_NVRTC", "BATON_NVJITLINK"}) setenv(name, "/nonexistent", 1);
    setenv("BATON_CACHE_SIZE", "0", 1);
  }
  ~WithoutNvrtc() {
    for (const char* name : {"BATON_NVRTC", "BATON_NVJITLINK", "BATON_CACHE_SIZE"}) unsetenv(name);
  }
};

TEST_F(BundleTest, RunsWithoutCompilerAndFiles) {
  const Device device = open_device();
  const auto expected = run(LoadedProgram::load(Program::from_file(folder() / "p.toml"), device));
  EXPECT_EQ(expected[5], 7.f);
  EXPECT_THAT(build(everything()), IsEmpty());
  fs::remove_all(folder());
  const WithoutNvrtc hidden;
  const Bundle opened = Bundle::open(bundle(), Verify::kAll);
  EXPECT_EQ(opened.program().name(), "p");
  EXPECT_THAT(opened.architectures(), ElementsAre(device.compile_arch()));
  EXPECT_EQ(run(LoadedProgram::load(opened, device)), expected);
}

// A program without a file: one kernel as an image in memory, one compiled before.
Program built_in_memory(const Device& device) {
  const Compiled add = compile(
      Source::from_text("extern \"C\" __global__ void add(float* y) { y[threadIdx.x] += 1; }"),
      {.arch = device.compile_arch()});
  Source templates = Source::from_text(
      "template <int N> __global__ void fill(float* y) { y[threadIdx.x] = N; }", "fill.cu");
  CompileOptions options;
  options.arch = device.compile_arch();
  options.entries = {"fill<3>"};
  ProgramBuilder builder("in memory");
  builder.symbol("N", 32);
  builder.buffer({.name = "y", .dtype = DType::kF32, .shape = {"N"}, .role = BufferRole::kOutput});
  builder.kernel({.name = "add", .origin = KernelOrigin::kImage, .image = add.ptx});
  builder.kernel({.name = "fill",
                  .origin = KernelOrigin::kCompiled,
                  .compiled = compile(templates, options),
                  .entry = "fill<3>"});
  builder.launch({.kernel = "fill", .grid = {1}, .block = {"N"}, .args = {"y"}});
  builder.launch({.kernel = "add", .grid = {1}, .block = {"N"}, .args = {"y"}});
  return builder.build();
}

TEST_F(BundleTest, HoldsKernelsInMemory) {
  const Device device = open_device();
  const Program program = built_in_memory(device);
  const std::vector<float> expected = run(LoadedProgram::load(program, device));
  EXPECT_THAT(expected, testing::Each(4.f));
  write_bundle(program, bundle(), everything());
  const WithoutNvrtc hidden;
  const Bundle opened = Bundle::open(bundle(), Verify::kAll);
  EXPECT_EQ(opened.program().name(), "in memory");
  EXPECT_EQ(run(LoadedProgram::load(opened, device)), expected);
  // Its parts, written to a folder, are a program too.
  for (const BundlePart& part : opened.parts()) {
    const fs::path file = folder() / part.name;
    fs::create_directories(file.parent_path());
    write_file_atomically(file, opened.bytes(part.name));
  }
  const Program extracted = Program::from_file(folder() / "program.toml");
  EXPECT_EQ(extracted.kernel("add")->origin, KernelOrigin::kPtx);
  EXPECT_EQ(run(LoadedProgram::load(extracted, device)), expected);
}

// The text of the file is another one.
TEST_F(BundleTest, HasWhatWasChangedSinceTheFile) {
  const Device device = open_device();
  ProgramDefinition changed = Program::from_file(folder() / "p.toml").definition();
  changed.symbols[0].value = 32;
  changed.kernels[1].text =
      "extern \"C\" __global__ void add(float* y, const float* w) { y[threadIdx.x] = 9; }";
  const fs::path file = folder() / "data/w.npy";
  write_npy(file, array(DType::kF32, {32}, std::vector<float>(32)));
  write_bundle(Program(changed), bundle(), everything());
  EXPECT_THAT(run(LoadedProgram::load(Bundle::open(bundle()), device)),
              testing::AllOf(testing::SizeIs(32), testing::Each(9.f)));
}

TEST_F(BundleTest, HasItsPartsByteForByte) {
  build(everything());
  const std::string arch = open_device().compile_arch();
  const Bundle opened = Bundle::open(bundle());
  std::vector<std::string> names;
  for (const BundlePart& part : opened.parts()) {
    names.emplace_back(part.name);
    EXPECT_EQ(part.offset % 4096, 0u);
    EXPECT_EQ(part.sha256, to_hex(sha256(opened.bytes(part.name))));
  }
  EXPECT_THAT(names, ElementsAre("files/data/w.npy", "images/add." + arch + ".cubin",
                                 "images/add." + arch + ".ptx", "images/scale." + arch + ".cubin",
                                 "images/scale." + arch + ".ptx", "program.record", "program.toml",
                                 "sources/factor.h", "sources/scale.cu"));
  EXPECT_EQ(opened.bytes("program.toml"), kProgram);
  EXPECT_EQ(opened.bytes("sources/scale.cu"), kScale);
  EXPECT_EQ(opened.bytes("sources/factor.h"), kFactor);
  EXPECT_EQ(opened.bytes("files/data/w.npy"), read_file(folder() / "data/w.npy"));
  EXPECT_THAT(opened.directory_differences(), IsEmpty());
  EXPECT_THAT(opened.skipped(), IsEmpty());
  EXPECT_THROW(opened.bytes("sources/none.cu"), Error);
}

// The facts of the index are those that reading the images gives.
TEST_F(BundleTest, KnowsTheFactsOfItsImages) {
  build(everything());
  const Device device = open_device();
  const Bundle opened = Bundle::open(bundle());
  const auto definitions = bundle::read_definitions(opened, opened.program(), device);
  ASSERT_EQ(definitions.size(), 2u);
  for (const load::KernelDefinition& definition : definitions) {
    for (const Image& image : {definition.compiled->ptx, *definition.compiled->cubin}) {
      ImageFacts known = read_facts(image);
      const ImageFacts told = read_facts(Image::from_bytes(image.bytes(), image.name()));
      ASSERT_EQ(known.kernels.size(), told.kernels.size());
      // The images do not say what the source calls parameters, nor to what pointers lead.
      for (std::size_t k = 0; k < known.kernels.size(); ++k) {
        std::vector<ParamFacts>& params = *known.kernels[k].params;
        ASSERT_EQ(params.size(), told.kernels[k].params->size());
        for (std::size_t i = 0; i < params.size(); ++i) {
          ParamFacts& param = params[i];
          EXPECT_FALSE(param.name.empty());
          EXPECT_TRUE(param.dtype) << param.type;
          const auto [offset, size] = std::pair(param.offset, param.size);
          param = (*told.kernels[k].params)[i];
          EXPECT_EQ(std::pair(offset, size), std::pair(param.offset, param.size));
        }
      }
      bundle_test::expect_equal(known, told);
    }
  }
}

TEST_F(BundleTest, IsTheSameWhereverItIsBuiltAgain) {
  build(everything());
  const std::string first = read_file(bundle());
  build(everything());
  EXPECT_TRUE(first == read_file(bundle()));
}

TEST_F(BundleTest, IsLoadedWithoutItsSources) {
  build(everything());
  std::string bytes = read_file(bundle());
  const std::size_t at = Bundle::open(bundle()).parts().back().offset;
  bytes[at] ^= 1;
  const Bundle opened = Bundle::from_bytes(bytes, "flipped.baton");
  EXPECT_EQ(opened.parts().back().name, "sources/scale.cu");
  EXPECT_EQ(run(LoadedProgram::load(opened, open_device()))[5], 7.f);
  EXPECT_THROW(bundle::source_text(opened, "scale.cu"), Error);
  EXPECT_EQ(bundle::source_text(Bundle::open(bundle()), "scale.cu"), kScale);
}

TEST_F(BundleTest, ReplacesNoFileOfItsProgram) {
  for (const char* name : {"scale.cu", "factor.h", "data/w.npy"}) {
    const std::string before = read_file(folder() / name);
    try {
      write_bundle(Program::from_text(kProgram, "p", folder()), folder() / name, everything());
      ADD_FAILURE() << name << " was replaced";
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refusal.message(), HasSubstr("reads this file"));
    }
    EXPECT_EQ(read_file(folder() / name), before);
  }
}

TEST_F(BundleTest, LeavesSourcesOut) {
  BundleOptions options = everything();
  options.sources = false;
  build(options);
  const Bundle opened = Bundle::open(bundle());
  for (const BundlePart& part : opened.parts()) {
    EXPECT_THAT(std::string(part.name), Not(HasSubstr("sources/")));
  }
  EXPECT_THAT(std::string(opened.bytes("program.toml")), Not(HasSubstr("__global__")));
  EXPECT_EQ(run(LoadedProgram::load(opened, open_device()))[5], 7.f);
}

TEST_F(BundleTest, FindsFilesBesideIt) {
  BundleOptions options = everything();
  options.weights = false;
  EXPECT_THAT(build(options), ElementsAre(HasSubstr("data/w.npy of the buffer w")));
  const LoadedProgram loaded = LoadedProgram::load(Bundle::open(bundle()), open_device());
  try {
    run(loaded);
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
    EXPECT_THAT(failure.message(), HasSubstr("data/w.npy is not there, and the bundle"));
    EXPECT_THAT(failure.message(), HasSubstr("or build the bundle with its weights"));
  }
  fs::rename(folder() / "data", bundle().parent_path() / "data");
  EXPECT_EQ(run(loaded)[5], 7.f);
}

// Two tensors of one file, one of which a setup step copies. No kernel at all.
TEST_F(BundleTest, HoldsSafetensorsOnceAndSetupSteps) {
  const std::string header = R"({"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"I32","shape":[1],"data_offsets":[4,8]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  write_file_atomically(folder() / "m.safetensors",
                        file + header + std::string("\7\0\0\0\11\0\0\0", 8));
  write_file_atomically(folder() / "s.toml", R"([buffers]
a = { dtype = "i32", shape = [1], role = "weight", file = "m.safetensors", tensor = "a" }
b = { dtype = "i32", shape = [1], role = "weight", file = "m.safetensors", tensor = "b" }
c = { dtype = "i32", shape = [1], role = "weight" }
y = { dtype = "i32", shape = [2], role = "output" }
[[setup]]
copy = { from = "a", to = "c" }
[[steps]]
copy = { from = "c", to = "y", count = 1 }
[[steps]]
copy = { from = "b", to = "y + 1", count = 1 }
)");
  write_bundle(Program::from_file(folder() / "s.toml"), bundle(), everything());
  fs::remove_all(folder());
  const Bundle opened = Bundle::open(bundle());
  ASSERT_EQ(opened.parts().size(), 3u);
  EXPECT_EQ(opened.parts()[0].name, "files/m.safetensors");
  EXPECT_THAT(opened.architectures(), IsEmpty());
  Executable executable(LoadedProgram::load(opened, open_device()));
  executable.run();
  EXPECT_EQ(values<int>(executable.output("y")), (std::vector<int>{7, 9}));
}

// A model in two files with an index.
TEST_F(BundleTest, HoldsTheFilesOfAnIndex) {
  const auto write = [&](const char* name, const char* tensor, char value) {
    const std::string header =
        std::string("{\"") + tensor + R"(":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})";
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size());
    write_file_atomically(folder() / name, file + header + std::string({value, 0, 0, 0}));
  };
  write("1.safetensors", "w.0", 7);
  write("2.safetensors", "w.1", 9);
  write_file_atomically(folder() / "m.safetensors.index.json",
                        R"({"weight_map":{"w.0":"1.safetensors","w.1":"2.safetensors"}})");
  for (const char* file : {"m.safetensors.index.json", "m.safetensors"}) {
    write_file_atomically(folder() / "s.toml", std::string(R"([buffers.w]
dtype = "i32"
shape = [2, 1]
role = "weight"
tensor = "w.{i}"
file = ")") + file + R"("
[buffers.y]
dtype = "i32"
shape = [2, 1]
role = "output"
[[steps]]
copy = { from = "w", to = "y" }
)");
    write_bundle(Program::from_file(folder() / "s.toml"), bundle(), everything());
    const fs::path moved = bundle().parent_path() / "moved";
    fs::rename(folder(), moved);
    Executable executable(LoadedProgram::load(Bundle::open(bundle()), open_device()));
    executable.run();
    EXPECT_EQ(values<int>(executable.output("y")), (std::vector<int>{7, 9})) << file;
    fs::rename(moved, folder());
  }
}

TEST_F(BundleTest, TakesTheBestImageForTheDevice) {
  BundleOptions options = everything();
  options.architectures = {"sm_80", "compute_80", "sm_90a", "sm_100a"};
  build(options);
  const Bundle opened = Bundle::open(bundle());
  const auto taken = [&](const char* device) {
    const auto definitions =
        bundle::read_definitions(opened, opened.program(), Device::open(device));
    const std::string& name = definitions[0].compiled->ptx.name();
    return name.substr(name.rfind("scale"));
  };
  EXPECT_EQ(taken("sim:h200"), "scale.sm_90a.ptx");
  EXPECT_EQ(taken("sim:b200"), "scale.sm_100a.ptx");
  options.architectures = {"sm_100a", "sm_80"};
  build(options);
  const Bundle other = Bundle::open(bundle());
  const auto definitions =
      bundle::read_definitions(other, other.program(), Device::open("sim:h200"));
  EXPECT_THAT(definitions[0].compiled->ptx.name(), HasSubstr("scale.sm_80.ptx"));
}

TEST_F(BundleTest, RefusesADeviceThatNoImageSuits) {
  BundleOptions options = everything();
  options.architectures = {"sm_100a"};
  build(options);
  try {
    LoadedProgram::load(Bundle::open(bundle()), Device::open("sim:h200"));
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.what(), HasSubstr("has scale.cu for sm_100a, and sim:h200"));
    EXPECT_THAT(failure.what(), HasSubstr("build it for sm_90a, too"));
  }
}

TEST_F(BundleTest, HoldsImagesThatAProgramNames) {
  const std::string text =
      buffer("t", "i32", "[64]", "output", "zeros") + edge_kernel("never") + edge_kernel("late") +
      "[[steps]]\nlaunch = \"never\"\ngrid = [2]\nblock = [32]\nargs = [\"t\", \"t\"]\n";
  const Program program = session_test::program(text);
  write_bundle(program, bundle(), everything());
  const Bundle opened = Bundle::open(bundle());
  const auto parts = opened.parts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "images/never.ptx");
  EXPECT_EQ(LoadedProgram::load(opened, open_device()).modules().size(), 1u);
}

// What a bundle decides about edges is what the program file decides, for every rewriting.
TEST_F(BundleTest, DecidesEdgesAsTheProgramFileDoes) {
  const std::string step =
      "[[steps]]\nlaunch = \"never\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"y\"]\n";
  const Program program = session_test::program(
      buffer("x", "i32", "[64]", "input", "zeros") + buffer("y", "i32", "[64]", "output", "zeros") +
      edge_kernel("never") + edge_kernel("late") + step + step +
      "[[steps]]\nlaunch = \"late\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"y\"]\n" + step);
  BundleOptions options = everything();
  options.sources = false;
  write_bundle(program, bundle(), options);
  const Bundle opened = Bundle::open(bundle());
  for (const RewriteMode mode : {RewriteMode::kOff, RewriteMode::kAuto, RewriteMode::kExit}) {
    LoadOptions load;
    load.rewrite = mode;
    const auto expected = LoadedProgram::load(program, open_device(), load).check().edges;
    const auto found = LoadedProgram::load(opened, open_device(), load).check().edges;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].verdict, expected[i].verdict);
      EXPECT_EQ(found[i].reason, expected[i].reason);
      EXPECT_EQ(found[i].programmatic, expected[i].programmatic);
      EXPECT_EQ(found[i].decision_reason, expected[i].decision_reason);
    }
  }
}

TEST_F(BundleTest, RefusesToBuildWhatItCannot) {
  const auto refusal_of = [](auto&& work) -> std::string {
    try {
      work();
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      return failure.what();
    }
    return "nothing was refused";
  };
  BundleOptions options;
  options.architectures = {"sm_90a", "sm_90a"};
  EXPECT_THAT(refusal_of([&] { build(options); }), HasSubstr("sm_90a is given twice"));
  ProgramBuilder builder("built");
  builder.kernel({.name = "k", .text = "__global__ void k(float) {}"});
  builder.launch({.kernel = "k",
                  .grid = {1},
                  .block = {1},
                  .args = {TypedValue{DType::kF32, Expression("1 + 2")}}});
  EXPECT_THAT(refusal_of([&] { write_bundle(builder.build(), bundle()); }),
              HasSubstr("cannot be in a program file"));
  build(everything());
  EXPECT_THAT(refusal_of([&] { write_bundle(Bundle::open(bundle()).program(), bundle()); }),
              HasSubstr("is a bundle already"));
}

// A file that shrinks after it was opened.
TEST_F(BundleTest, NoticesAFileThatShrinks) {
  build(everything());
  const Bundle opened = Bundle::open(bundle());
  opened.program();
  fs::resize_file(bundle(), 5000);
  try {
    run(LoadedProgram::load(opened, open_device()));
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("shrank from"));
  }
}

// What was read stays, and what was not is an error for each part.
TEST_F(BundleTest, SurvivesAFileThatShrinks) {
  build(everything());
  const Device device = open_device();
  const Bundle opened = Bundle::open(bundle());
  std::map<std::string, std::string> before;
  for (const BundlePart& part : opened.parts())
    before[std::string(part.name)] = opened.bytes(part.name);
  const LoadedProgram loaded = LoadedProgram::load(opened, device);
  const Bundle unread = Bundle::open(bundle());
  fs::resize_file(bundle(), 4096);
  for (const auto& [name, bytes] : before) {
    if (name.starts_with("files/")) {
      EXPECT_THROW(opened.bytes(name), Error) << name;
    } else {
      EXPECT_EQ(opened.bytes(name), bytes) << name;
    }
    EXPECT_THROW(unread.bytes(name), Error) << name;
  }
  EXPECT_THROW(unread.verify(), Error);
  EXPECT_THROW(unread.program(), Error);
  EXPECT_THROW(LoadedProgram::load(unread, device), Error);
  EXPECT_EQ(loaded.modules().size(), 2u);
}

}  // namespace
}  // namespace baton::session_test::bundle_file_test
