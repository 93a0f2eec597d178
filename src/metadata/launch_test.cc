#include <gmock/gmock.h>

#include <numeric>

#include "baton/device.h"
#include "metadata/test_support.h"

namespace baton::metadata::launch_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Kernels and metadata that apache-tvm 0.27.0 put into a library, on the simulated GPU.
class MetadataLaunchTest : public testing::Test {
 protected:
  const Device device_ = Device::open("sim:h200");
  const ModuleMetadata metadata_ =
      read_metadata(std::filesystem::path(golden("tvm_0_27_ptx.so"))).modules.at(0);
  const Module module_ = Module::load(device_, *metadata_.image());

  void launch(const std::string& symbol, std::vector<Operand> operands,
              LaunchConfig::StreamRef stream = {}) {
    metadata_.function(symbol).launch(module_.kernel(symbol), stream, operands);
  }

  LaunchConfig config(const FunctionMetadata& function, std::vector<Operand> operands,
                      LaunchConfig::StreamRef stream = {}) {
    return function.config(function.pack(operands).values(), stream, device_);
  }
};

TEST_F(MetadataLaunchTest, LaunchesByThePackedConvention) {
  std::vector<float> values(512);
  std::iota(values.begin(), values.end(), 0.0f);
  const auto in = Buffer<float>::of(device_, values);
  const auto out = Buffer<float>::of(device_, std::vector<float>(512, -1.0f));
  const Stream stream(device_);
  // out, in, rows, scale; grid, cluster, block, dynamic shared memory. PDL has no value.
  launch("rows_kernel", {out, in, 500, 2.0, 4, 2, 128, 128 * 4}, stream);
  stream.synchronize();
  const auto result = out.download();
  EXPECT_EQ(result[0], 0.0f);
  EXPECT_EQ(result[499], 998.0f);
  EXPECT_EQ(result[500], -1.0f);
}

TEST_F(MetadataLaunchTest, PassesTensorMapsByValue) {
  const Buffer<std::uint8_t> out(device_, 128);
  alignas(128) std::uint8_t map[128];
  std::iota(std::begin(map), std::end(map), std::uint8_t{3});
  launch("map_kernel", {out, map, 1, 128});
  const auto result = out.download();
  EXPECT_TRUE(std::equal(result.begin(), result.end(), map));
}

TEST_F(MetadataLaunchTest, DropsAPreferredClusterOfOne) {
  const Buffer<std::int64_t> out(device_, 6);
  // out, n; grid x and y, block, cluster, preferred cluster. No driver takes a preferred cluster in
  // a cooperative launch: that it runs shows that none was sent.
  launch("whole_kernel", {out, 100, 2, 3, 1, 2, 1});
  EXPECT_EQ(out.download(), (std::vector<std::int64_t>{100, 101, 102, 103, 104, 105}));
  EXPECT_THROW(launch("whole_kernel", {out, 100, 2, 3, 1, 2, 2}), Error);
}

TEST_F(MetadataLaunchTest, BuildsTheConfigThatTheValuesSay) {
  const FunctionMetadata& rows = metadata_.function("rows_kernel");
  const LaunchConfig built = config(rows, {nullptr, nullptr, 1, 1.0, 0, 1, 128, 4096});
  EXPECT_EQ(built.grid, Dim3(1));
  EXPECT_EQ(built.block, Dim3(128));
  EXPECT_EQ(built.shared, 4096u);
  EXPECT_TRUE(built.pdl());
  EXPECT_FALSE(built.cooperative());
  // An explicit cluster of one is sent.
  EXPECT_EQ(built.cluster(), Dim3(1));
  EXPECT_EQ(built.attributes.size(), 2u);
}

TEST_F(MetadataLaunchTest, BuildsAttributesOfManyFields) {
  const FunctionMetadata function({.symbol = "k",
                                   .operands = {"cluster.y", "mem_sync_domain_map.remote",
                                                "cluster.x", "mem_sync_domain_map.default",
                                                "programmatic_stream_serialization", "priority"}});
  const LaunchConfig built = config(function, {2, 1, 4, 0, 0, -3});
  EXPECT_EQ(built.cluster(), Dim3(4, 2));
  EXPECT_FALSE(built.pdl());  // a value of 0 equals leaving it out
  EXPECT_EQ(*built.attributes.find(AttributeId::kMemSyncDomainMap), mem_sync_domain_map(0, 1));
  EXPECT_EQ(*built.attributes.find(AttributeId::kPriority), priority(-3));
}

TEST_F(MetadataLaunchTest, StrictValuesAreSentAsTheyAre) {
  const FunctionMetadata strict(
      {.symbol = "k", .operands = {"grid.x", "preferred_cluster.x", "cluster.x"}});
  EXPECT_THAT(refusal_of([&] {
                config(strict, {0, 1, 1});
              }),
              AllOf(HasSubstr("grid.x is 0"), HasSubstr("from 1 to 4294967295")));
  EXPECT_TRUE(config(strict, {1, 1, 1}).attributes.has(AttributeId::kPreferredCluster));
  EXPECT_THAT(refusal_of([&] {
                config(strict, {std::int64_t{1} << 32, 1, 1});
              }),
              HasSubstr("4294967296"));
  EXPECT_THAT(refusal_of([&] { config(strict, {1, 1, -1}); }), HasSubstr("cluster.x is -1"));
  EXPECT_THAT(refusal_of([&] { config(strict, {1.5, 1, 1}); }), HasSubstr("grid.x is 1.5"));
}

TEST_F(MetadataLaunchTest, TakesTheStreamAsAValueOrBesideThem) {
  const FunctionMetadata function({.symbol = "k", .operands = {"stream"}});
  const Stream stream(device_);
  const LaunchConfig built = config(function, {static_cast<const void*>(stream.native())});
  EXPECT_EQ(built.stream.native, stream.native());
  EXPECT_THAT(
      refusal_of([&] { config(function, {static_cast<const void*>(stream.native())}, stream); }),
      HasSubstr("another one"));
}

TEST_F(MetadataLaunchTest, RefusesAnotherKernelOrBlock) {
  const FunctionMetadata& rows = metadata_.function("rows_kernel");
  const std::vector<Operand> operands = {nullptr, nullptr, 0, 1.0, 1, 1, 32, 128};
  EXPECT_THAT(refusal_of([&] { rows.launch(module_.kernel("map_kernel"), {}, operands); }),
              AllOf(HasSubstr("rows_kernel"), HasSubstr("map_kernel")));
  const FunctionMetadata fixed({.symbol = "whole_kernel",
                                .parameters = {{}, {*MetadataType::parse("int64")}},
                                .operands = {"grid.x", "block.x"},
                                .kernel_attributes = {{"required_block_x", 64}}});
  const std::vector<Operand> wrong_block = {nullptr, 1, 1, 32};
  EXPECT_THAT(refusal_of([&] { fixed.launch(module_.kernel("whole_kernel"), {}, wrong_block); }),
              AllOf(HasSubstr("block.x is 32"), HasSubstr("64")));
}

// Metadata that does not fit its image is found by the image.
TEST_F(MetadataLaunchTest, TheImageHasTheLastWord) {
  const FunctionMetadata wrong(
      {.symbol = "rows_kernel",
       .parameters = {{}, {}, {*MetadataType::parse("int64")}, {*MetadataType::parse("float32")}},
       .operands = {"block.x"}});
  const std::vector<Operand> operands = {nullptr, nullptr, 1, 1.0, 32};
  EXPECT_THAT(refusal_of([&] { wrong.launch(module_.kernel("rows_kernel"), {}, operands); }),
              AllOf(HasSubstr("argument 2 has 8 bytes"), HasSubstr("has 4")));
}

TEST_F(MetadataLaunchTest, NamesTheNearestFunction) {
  const Error failure = failure_of([&] { metadata_.function("row_kernel"); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("\"rows_kernel\"?"));
}

}  // namespace
}  // namespace baton::metadata::launch_test
