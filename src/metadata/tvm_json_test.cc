#include <gmock/gmock.h>

#include "metadata/test_support.h"

namespace baton::metadata::tvm_json_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FoundMetadata read(const std::string& text) {
  return read_metadata(text, "k.tvm_meta.json");
}

// One function "k" with these members.
std::string sidecar(const std::string& members) {
  return R"({"tvm_version": "0.1.0", "func_info": {"k": {)" + members + "}}}";
}

FunctionMetadata function_of(const std::string& members) {
  return read(sidecar(members)).modules.at(0).function("k");
}

std::string refused(const std::string& text) {
  return refusal_of([&] { read(text); });
}

// Written by apache-tvm 0.27.0 (SaveMetaDataToFile).
TEST(TvmJsonTest, ReadsWhatTvmWrote) {
  const FoundMetadata found =
      read_metadata(std::filesystem::path(golden("tvm_0_27.tvm_meta.json")));
  EXPECT_EQ(found.format, "TVM sidecar JSON");
  EXPECT_THAT(found.remarks, IsEmpty());
  const ModuleMetadata& module = found.modules.at(0);
  ASSERT_EQ(module.functions().size(), 3u);
  const FunctionMetadata& rows = module.function("rows_kernel");
  EXPECT_TRUE(rows.pdl() && rows.cluster() && !rows.cooperative());
  EXPECT_THAT(to_strings(rows.operands()),
              ElementsAre("grid.x", "cluster.x", "block.x", "dynamic_smem_bytes"));
  EXPECT_TRUE(module.function("map_kernel").parameters()[1].tensor_map);
  EXPECT_TRUE(module.function("whole_kernel").cooperative());
}

TEST(TvmJsonTest, ReadsOldAndShortForms) {
  const auto old = function_of(
      R"("name": "", "arg_types": ["handle", "int32"], "thread_axis_tags": ["blockIdx.x"])");
  EXPECT_THAT(to_strings(old.operands()), ElementsAre("grid.x"));
  EXPECT_FALSE(old.pdl());
  const auto shorter = function_of(R"("arg_types": ["handle", "handle"], "arg_extra_tags": [1])");
  EXPECT_TRUE(shorter.parameters()[0].tensor_map);
  EXPECT_FALSE(shorter.parameters()[1].tensor_map);
  EXPECT_THAT(shorter.operands(), IsEmpty());
}

TEST(TvmJsonTest, ReadsTheDraftsBoolean) {
  const std::string key = R"("arg_types": [], "has_programmatic_dependent_launch": )";
  EXPECT_TRUE(function_of(key + "true").pdl());
  EXPECT_FALSE(function_of(key + "false").pdl());
  EXPECT_FALSE(function_of(R"("arg_types": [])").pdl());
  const std::string tag = R"(, "launch_param_tags": ["tir.use_programtic_dependent_launch"])";
  EXPECT_TRUE(function_of(key + "true" + tag).pdl());
  EXPECT_THAT(refused(sidecar(key + "false" + tag)), HasSubstr("the opposite"));
  EXPECT_THAT(refused(sidecar(key + "1")), HasSubstr("true or false"));
}

TEST(TvmJsonTest, ReadsLaunchFieldsAndKernelAttributes) {
  const auto function = function_of(
      R"("arg_types": [], "launch_param_tags": [], "cuda_launch_fields": ["grid.x", "block.x",
         "priority"], "cuda_kernel_attrs": {"required_block_x": 128})");
  EXPECT_THAT(to_strings(function.operands()), ElementsAre("grid.x", "block.x", "priority"));
  EXPECT_EQ(function.rules(), OperandRules::kStrict);
  EXPECT_EQ(function.kernel_attributes().at("required_block_x"), 128);
  EXPECT_THAT(refused(sidecar(R"("arg_types": [], "launch_param_tags": ["blockIdx.x"],
                                 "cuda_launch_fields": ["grid.x"])")),
              HasSubstr("both"));
}

TEST(TvmJsonTest, UnknownKeysAreRemarksUnlessTheySayHowToCall) {
  const FoundMetadata found = read(sidecar(R"("arg_types": [], "comment": "x")"));
  EXPECT_THAT(found.remarks, ElementsAre(HasSubstr("\"comment\"")));
  EXPECT_THAT(refused(sidecar(R"("arg_types": [], "launch_params_tags": [])")),
              AllOf(HasSubstr("launch_params_tags"), HasSubstr("\"launch_param_tags\"?")));
  EXPECT_THAT(refused(sidecar(R"("arg_types": [], "has_graph_launch": true)")),
              HasSubstr("has_graph_launch"));
}

TEST(TvmJsonTest, SaysWhereAndWhat) {
  EXPECT_THAT(refused(sidecar(R"("arg_types": ["handle", "strange"])")),
              AllOf(HasSubstr("func_info.k.arg_types[1]"), HasSubstr("strange")));
  EXPECT_THAT(refused(sidecar(R"("arg_types": "handle")")), HasSubstr("must be an array"));
  EXPECT_THAT(refused(sidecar(R"("arg_types": [1])")), HasSubstr("must be a string"));
  EXPECT_THAT(refused(sidecar(R"("launch_param_tags": [])")), HasSubstr("no arg_types"));
  EXPECT_THAT(refused(sidecar(R"("arg_types": [], "arg_extra_tags": [1.5])")),
              HasSubstr("must be an integer"));
  EXPECT_THAT(refused(sidecar(R"("arg_types": [], "arg_extra_tags": [18446744073709551615])")),
              HasSubstr("18446744073709551615"));
  EXPECT_THAT(refused("{\"func_info\": []}"), HasSubstr("must be an object"));
  EXPECT_THAT(refused("{}"), HasSubstr("neither"));
  EXPECT_THAT(refused("{\n  \"func_info\": {,}\n}"), HasSubstr("k.tvm_meta.json:2:17: "));
  EXPECT_THAT(refused(R"({"func_info": {"k": {"arg_types": []}, "k": {"arg_types": []}}})"),
              HasSubstr("occurs twice"));
  EXPECT_THAT(refused("{\"a\": " + std::string(100000, '[')), HasSubstr("deeper"));
  EXPECT_THAT(refused("{\"func_info\": 1e999999}"),
              HasSubstr("k.tvm_meta.json:1:15: the number 1e999999 exceeds"));
}

TEST(TvmJsonTest, WritesWhatItReads) {
  const ModuleMetadata module =
      read_metadata(std::filesystem::path(golden("tvm_0_27.tvm_meta.json"))).modules.at(0);
  const FoundMetadata again = read(tvm_metadata_json(module));
  EXPECT_TRUE(std::ranges::equal(again.modules.at(0).functions(), module.functions()));
  EXPECT_THAT(tvm_metadata_json(module, TagPrefix::kTir),
              AllOf(HasSubstr("\"tir.use_programtic_dependent_launch\""),
                    testing::Not(HasSubstr("tirx."))));
  // Fields and attributes have keys of their own, which older readers would refuse.
  EXPECT_THAT(tvm_metadata_json(module), testing::Not(HasSubstr("cuda_")));
  const ModuleMetadata native(
      {.name = "n",
       .functions = {FunctionMetadata({.symbol = "k",
                                       .operands = {"grid.x", "priority"},
                                       .kernel_attributes = {{"min_blocks_per_sm", 2}}})}});
  EXPECT_EQ(read(tvm_metadata_json(native)).modules.at(0).function("k"), native.function("k"));
  const ModuleMetadata constant(
      {.name = "n",
       .functions = {
           FunctionMetadata({.symbol = "k", .operands = {"priority"}, .flags = {"cooperative"}})}});
  EXPECT_THAT(refusal_of([&] { tvm_metadata_json(constant); }), HasSubstr("cooperative"));
}

}  // namespace
}  // namespace baton::metadata::tvm_json_test
