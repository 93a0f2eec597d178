#include "metadata/tags.h"

#include <gmock/gmock.h>

#include "metadata/test_support.h"

namespace baton::metadata::tags_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

FunctionMetadata decoded(std::vector<std::string> tags) {
  FunctionMetadata::Parts parts;
  parts.symbol = "k";
  decode_tags(tags, parts);
  return FunctionMetadata(std::move(parts));
}

std::string refused(const std::vector<std::string>& tags) {
  return refusal_of([&] { decoded(tags); });
}

TEST(TagsTest, SixTagsAreFiveValues) {
  const auto function =
      decoded({"blockIdx.x", "blockIdx.y", "clusterCtaIdx.x", "threadIdx.x",
               "tirx.use_programtic_dependent_launch", "tirx.use_dyn_shared_memory"});
  EXPECT_THAT(to_strings(function.operands()),
              ElementsAre("grid.x", "grid.y", "cluster.x", "block.x", "dynamic_smem_bytes"));
  EXPECT_TRUE(function.pdl());
  EXPECT_TRUE(function.cluster());
  EXPECT_FALSE(function.cooperative());
  EXPECT_EQ(function.rules(), OperandRules::kTags);
}

TEST(TagsTest, BothPrefixesMeanTheSame) {
  EXPECT_EQ(decoded({"threadIdx.x", "tir.use_cooperative_launch", "tir.use_dyn_shared_memory"}),
            decoded({"threadIdx.x", "tirx.use_cooperative_launch", "tirx.use_dyn_shared_memory"}));
  EXPECT_TRUE(decoded({"tir.use_programtic_dependent_launch"}).pdl());
  EXPECT_THAT(to_strings(decoded({"tirx.use_required_block_dimension"}).flags()),
              ElementsAre("required_block_size"));
}

TEST(TagsTest, TheForkHasItsOwnClusterTagsAndRules) {
  const auto function = decoded({"blockIdx.x", "tir.cluster_dim_x", "tir.cluster_dim_y",
                                 "tir.cluster_dim_z", "tirx.use_dyn_shared_memory"});
  EXPECT_THAT(to_strings(function.operands()),
              ElementsAre("grid.x", "cluster.x", "cluster.y", "cluster.z", "dynamic_smem_bytes"));
  EXPECT_EQ(function.rules(), OperandRules::kForkTags);
  EXPECT_THAT(encode_tags(function, TagPrefix::kTirx),
              ElementsAre("blockIdx.x", "tir.cluster_dim_x", "tir.cluster_dim_y",
                          "tir.cluster_dim_z", "tirx.use_dyn_shared_memory"));
}

TEST(TagsTest, RefusesWhatItDoesNotKnowWithTheNearestName) {
  EXPECT_THAT(refused({"blokIdx.x"}), AllOf(HasSubstr("blokIdx.x"), HasSubstr("\"blockIdx.x\"?")));
  // The right spelling is not a tag of the format.
  EXPECT_THAT(refused({"tirx.use_programmatic_dependent_launch"}),
              HasSubstr("did you mean \"tirx.use_programtic_dependent_launch\"?"));
  EXPECT_THAT(refused({"use_dyn_shared_memory"}), HasSubstr("unknown"));
  EXPECT_THAT(refused({"tirx.blockIdx.x"}), HasSubstr("unknown"));
  EXPECT_THAT(refused({"vthread.x"}), HasSubstr("virtual thread"));
  EXPECT_THAT(refused({"cthread"}), HasSubstr("virtual thread"));
  EXPECT_THAT(refused({std::string(100000, 'b')}), HasSubstr("unknown"));
}

TEST(TagsTest, RefusesDuplicatesAndSharedMemoryThatIsNotLast) {
  EXPECT_THAT(refused({"blockIdx.x", "blockIdx.x"}), HasSubstr("grid.x is given twice"));
  EXPECT_THAT(refused({"clusterCtaIdx.x", "tir.cluster_dim_x"}), HasSubstr("twice"));
  EXPECT_THAT(refused({"tirx.use_cooperative_launch", "tir.use_cooperative_launch"}),
              HasSubstr("twice"));
  EXPECT_THAT(refused({"tirx.use_dyn_shared_memory", "blockIdx.x"}),
              AllOf(HasSubstr("number 1 of 2"), HasSubstr("must be the last")));
}

TEST(TagsTest, WritesWhatItReads) {
  const std::vector<std::string> tags = {"blockIdx.x", "threadIdx.x",
                                         "tir.use_programtic_dependent_launch",
                                         "tir.use_dyn_shared_memory"};
  EXPECT_EQ(encode_tags(decoded(tags), TagPrefix::kTir), tags);
}

TEST(TagsTest, RefusesToWriteWhatNoTagSays) {
  FunctionMetadata::Parts parts{.symbol = "k", .operands = {"grid.x", "priority"}};
  EXPECT_THAT(refusal_of([&] { encode_tags(FunctionMetadata(parts), TagPrefix::kTirx); }),
              HasSubstr("\"priority\""));
  parts.operands = {"dynamic_smem_bytes", "grid.x"};
  EXPECT_THAT(refusal_of([&] { encode_tags(FunctionMetadata(parts), TagPrefix::kTirx); }),
              HasSubstr("must be the last"));
  // As a value it is none of the tags, which are flags.
  parts.operands = {"cooperative"};
  EXPECT_THAT(refusal_of([&] { encode_tags(FunctionMetadata(parts), TagPrefix::kTirx); }),
              HasSubstr("\"cooperative\""));
}

TEST(FunctionMetadataTest, RefusesPartsThatMakeNoSense) {
  const auto refuse = [](FunctionMetadata::Parts parts) {
    return refusal_of([&] { FunctionMetadata{parts}; });
  };
  EXPECT_THAT(refuse({.symbol = ""}), HasSubstr("no kernel"));
  EXPECT_THAT(refuse({.symbol = "a b"}), HasSubstr("no kernel"));
  EXPECT_THAT(refuse({.symbol = "k", .operands = {"grid.w"}}), HasSubstr("\"grid."));
  EXPECT_THAT(refuse({.symbol = "k", .operands = {"synchronization_policy"}}),
              HasSubstr("unknown"));
  EXPECT_THAT(refuse({.symbol = "k", .flags = {"coperative"}}), HasSubstr("\"cooperative\"?"));
  EXPECT_THAT(refuse({.symbol = "k", .operands = {"cooperative"}, .flags = {"cooperative"}}),
              HasSubstr("both"));
  EXPECT_THAT(refuse({.symbol = "k", .parameters = {{*MetadataType::parse("int32"), true}}}),
              AllOf(HasSubstr("tensor map"), HasSubstr("int32")));
}

TEST(FunctionMetadataTest, HasNoRulesWithoutValues) {
  EXPECT_EQ(FunctionMetadata({.symbol = "k", .rules = OperandRules::kTags}),
            FunctionMetadata({.symbol = "k"}));
  const FunctionMetadata fork(
      {.symbol = "k", .operands = {"grid.x"}, .rules = OperandRules::kForkTags});
  EXPECT_THAT(refusal_of([&] { tvm_function_info(fork); }), HasSubstr("fork_tags"));
}

TEST(FunctionMetadataTest, KnowsEveryLaunchField) {
  const std::vector<std::string> fields = {"grid.x",
                                           "grid.y",
                                           "grid.z",
                                           "block.x",
                                           "block.y",
                                           "block.z",
                                           "cluster.x",
                                           "cluster.y",
                                           "cluster.z",
                                           "preferred_cluster.x",
                                           "preferred_cluster.y",
                                           "preferred_cluster.z",
                                           "dynamic_smem_bytes",
                                           "stream",
                                           "cooperative",
                                           "programmatic_stream_serialization",
                                           "cluster_scheduling_policy",
                                           "priority",
                                           "mem_sync_domain",
                                           "mem_sync_domain_map.default",
                                           "mem_sync_domain_map.remote",
                                           "access_policy_window.base_ptr",
                                           "access_policy_window.num_bytes",
                                           "access_policy_window.hit_ratio",
                                           "access_policy_window.hit_prop",
                                           "access_policy_window.miss_prop",
                                           "preferred_shared_memory_carveout",
                                           "nvlink_util_centric_scheduling",
                                           "portable_cluster_size_mode",
                                           "shared_memory_mode",
                                           "programmatic_event.event",
                                           "programmatic_event.flags",
                                           "programmatic_event.trigger_at_block_start",
                                           "launch_completion_event.event",
                                           "launch_completion_event.flags"};
  EXPECT_EQ(fields.size(), 35u);
  const FunctionMetadata function({.symbol = "k", .operands = fields});
  EXPECT_EQ(to_strings(function.operands()), fields);
  EXPECT_TRUE(function.pdl() && function.cooperative() && function.cluster());
}

}  // namespace
}  // namespace baton::metadata::tags_test
