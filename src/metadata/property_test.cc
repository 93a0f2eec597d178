#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "metadata/fields.h"
#include "metadata/tags.h"
#include "metadata/test_support.h"

// What is written reads back: random functions through every form that can hold them.

namespace baton::metadata::property_test {
namespace {

FunctionMetadata::Parameter random_parameter() {
  static const std::vector<std::string> kTypes = {"handle", "int8",      "int32",
                                                  "uint64", "float16",   "bfloat16",
                                                  "bool",   "float32x4", "float8_e5m2"};
  FunctionMetadata::Parameter parameter{*MetadataType::parse(*rc::gen::elementOf(kTypes))};
  parameter.tensor_map = parameter.type == MetadataType{} && *rc::gen::arbitrary<bool>();
  return parameter;
}

std::vector<std::string> some_of(std::vector<std::string> names) {
  std::vector<std::string> picked;
  while (!names.empty() && *rc::gen::inRange(0, 4) != 0) {
    const auto at = *rc::gen::inRange<std::size_t>(0, names.size());
    picked.push_back(names[at]);
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return picked;
}

const std::vector<std::string> kTagged = {
    "grid.x",  "grid.y",    "grid.z",    "block.x",   "block.y",
    "block.z", "cluster.x", "cluster.y", "cluster.z", "preferred_cluster.x"};

// A function that launch-parameter tags can say.
FunctionMetadata random_tagged(const std::string& symbol) {
  FunctionMetadata::Parts parts{.symbol = symbol, .rules = OperandRules::kTags};
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) parts.parameters.push_back(random_parameter());
  parts.operands = some_of(kTagged);
  if (*rc::gen::arbitrary<bool>()) parts.operands.emplace_back("dynamic_smem_bytes");
  parts.flags = some_of({std::begin(kFlags), std::end(kFlags)});
  return FunctionMetadata(std::move(parts));
}

// Any function.
FunctionMetadata random_function(const std::string& symbol) {
  if (*rc::gen::arbitrary<bool>()) return random_tagged(symbol);
  FunctionMetadata::Parts parts{.symbol = symbol};
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) parts.parameters.push_back(random_parameter());
  const auto names = field_names();
  parts.operands = some_of({names.begin(), names.end()});
  for (const std::string& name : some_of({"min_blocks_per_sm", "required_block_x", "unheard_of"})) {
    parts.kernel_attributes[name] = *rc::gen::arbitrary<std::int64_t>();
  }
  return FunctionMetadata(std::move(parts));
}

ModuleMetadata random_module() {
  ModuleMetadata::Parts parts{.name = "random"};
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) parts.functions.push_back(random_function(fmt::format("k{}", i)));
  if (*rc::gen::arbitrary<bool>()) {
    parts.label = "ptx";
    parts.code = ".version 8.0\n.target sm_80\n.address_size 64\n";
  }
  if (*rc::gen::arbitrary<bool>()) {
    parts.sources["cuda"] = *rc::gen::string<std::string>();
  }
  return ModuleMetadata(std::move(parts));
}

void require_same(const ModuleMetadata& a, const ModuleMetadata& b) {
  RC_ASSERT(std::ranges::equal(a.functions(), b.functions()));
  RC_ASSERT(a.label() == b.label());
  RC_ASSERT(a.sources() == b.sources());
  RC_ASSERT(a.image().has_value() == b.image().has_value());
  if (a.image()) {
    RC_ASSERT(a.image()->bytes() == b.image()->bytes());
  }
}

TEST(MetadataProperty, TheCanonicalFormsKeepEverything) {
  EXPECT_TRUE(rc::check([] {
    const ModuleMetadata module = random_module();
    require_same(read_metadata(metadata_binary(module), "b").modules.at(0), module);
    const std::string json = [&]() -> std::string {
      try {
        return metadata_json(module);
      } catch (const Error&) {
        return {};  // a source that is not UTF-8
      }
    }();
    if (!json.empty()) require_same(read_metadata(json, "j").modules.at(0), module);
  }));
}

TEST(MetadataProperty, TvmFormsKeepWhatTagsCanSay) {
  EXPECT_TRUE(rc::check([] {
    const FunctionMetadata function = random_tagged("k");
    const auto prefix = *rc::gen::element(TagPrefix::kTirx, TagPrefix::kTir);
    const FoundMetadata binary = read_metadata(tvm_function_info(function, prefix), "b");
    RC_ASSERT(binary.modules.at(0).function("k") == function);
    const ModuleMetadata module({.name = "m", .functions = {function}});
    const FoundMetadata json = read_metadata(tvm_metadata_json(module, prefix), "j");
    RC_ASSERT(json.modules.at(0).function("k") == function);
  }));
}

TEST(MetadataProperty, AnyChangedByteIsReadOrRefused) {
  EXPECT_TRUE(rc::check([] {
    std::string bytes = tvm_function_info(random_tagged("k"));
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    try {
      read_metadata(bytes, "b");
    } catch (const Error& refused) {
      RC_ASSERT(refused.code() == ErrorCode::kInvalidInput);
    }
  }));
}

}  // namespace
}  // namespace baton::metadata::property_test
