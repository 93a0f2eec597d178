#include <gmock/gmock.h>

#include "base/hash/hash.h"
#include "metadata/base64.h"
#include "metadata/test_support.h"

namespace baton::metadata::canonical_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kMagic =
    "\x93"
    "BATONM\n";

// Every part of the form at once.
ModuleMetadata sample() {
  ModuleMetadata::Parts parts{.name = "sample", .label = "ptx", .sources = {{"cuda", "int x;\n"}}};
  parts.code = ".version 8.0\n.target sm_80\n.address_size 64\n";
  parts.functions.push_back(FunctionMetadata(
      {.symbol = "rows",
       .parameters = {{MetadataType{}}, {MetadataType{}, true}, {*MetadataType::parse("int32")}},
       .operands = {"grid.x", "cluster.x", "block.x", "dynamic_smem_bytes"},
       .flags = {"programmatic_stream_serialization"},
       .rules = OperandRules::kTags}));
  parts.functions.push_back(FunctionMetadata(
      {.symbol = "native",
       .parameters = {{*MetadataType::parse("float8_e4m3fnx4")}, {*MetadataType::parse("bool")}},
       .operands = {"grid.x", "block.x", "stream", "access_policy_window.hit_ratio"},
       .kernel_attributes = {{"max_registers_per_thread", 64}, {"required_block_x", 128}}}));
  return ModuleMetadata(std::move(parts));
}

void expect_same(const ModuleMetadata& a, const ModuleMetadata& b) {
  EXPECT_TRUE(std::ranges::equal(a.functions(), b.functions()));
  EXPECT_EQ(a.label(), b.label());
  EXPECT_EQ(a.sources(), b.sources());
  ASSERT_EQ(a.image().has_value(), b.image().has_value());
  if (a.image()) {
    EXPECT_EQ(a.image()->bytes(), b.image()->bytes());
  }
}

// The golden files are of version 1: what reads and writes them must go on to.
TEST(CanonicalTest, GoldenFilesReadAndWrite) {
  const std::string json = read_file(golden("version_1.json"));
  const std::string binary = read_file(golden("version_1.bin"));
  EXPECT_EQ(metadata_json(sample()), json);
  EXPECT_EQ(metadata_binary(sample()), binary);
  for (const std::string& bytes : {json, binary}) {
    const FoundMetadata found = read_metadata(bytes, "golden");
    EXPECT_THAT(found.remarks, IsEmpty());
    expect_same(found.modules.at(0), sample());
  }
}

// From version 1, with parts that only a later version knows, all of them optional.
TEST(CanonicalTest, ReadsAndRemarksOptionalPartsOfTheFuture) {
  for (const char* file : {"version_1_future.json", "version_1_future.bin"}) {
    const FoundMetadata found = read_metadata(std::filesystem::path(golden(file)));
    EXPECT_THAT(found.remarks, testing::Contains(HasSubstr("\"timing\""))) << file;
    expect_same(found.modules.at(0), sample());
  }
}

// Keys that this version does not know are told of in every object that has them.
TEST(CanonicalTest, JsonRemarksUnknownKeysOfTheCode) {
  const FoundMetadata found = read_metadata(
      R"({"baton_metadata": 1, "functions": [],
          "code": {"label": "ptx", "base64": "", "colour": "red"}})",
      "m.json");
  EXPECT_THAT(found.remarks, ElementsAre(AllOf(HasSubstr("code"), HasSubstr("colour"))));
}

std::string refused_json(const std::string& text) {
  return refusal_of([&] { read_metadata(text, "m.json"); });
}

TEST(CanonicalTest, JsonRefusesByName) {
  EXPECT_THAT(refused_json(R"({"baton_metadata": 1, "requires": ["fuctions"], "functions": []})"),
              AllOf(HasSubstr("requires \"fuctions\""), HasSubstr("\"functions\"?")));
  EXPECT_THAT(refused_json(R"({"baton_metadata": 2, "functions": []})"), HasSubstr("version 2"));
  EXPECT_THAT(refused_json(R"({"baton_metadata": 0, "functions": []})"), HasSubstr("version 0"));
  EXPECT_THAT(refused_json(R"({"baton_metadata": 1})"), HasSubstr("no \"functions\""));
  const auto function = [](const std::string& members) {
    return R"({"baton_metadata": 1, "functions": [{"symbol": "k", "rules": "strict")" + members +
           "}]}";
  };
  EXPECT_THAT(refused_json(function(R"(, "requires": ["warp_group"])")),
              AllOf(HasSubstr("functions[0]"), HasSubstr("warp_group")));
  EXPECT_THAT(refused_json(function(R"(, "operands": ["grid.x", "grd.y"])")),
              HasSubstr("\"grid.y\"?"));
  EXPECT_THAT(refused_json(function(R"(, "parameters": ["int31"])")),
              AllOf(HasSubstr("parameters[0]"), HasSubstr("int31")));
  EXPECT_THAT(
      refused_json(R"({"baton_metadata": 1, "functions": [{"symbol": "k", "rules": "strickt"}]})"),
      HasSubstr("\"strict\"?"));
  EXPECT_THAT(
      refused_json(
          R"({"baton_metadata": 1, "functions": [], "code": {"label": "ptx", "base64": "A"}})"),
      HasSubstr("not base64"));
}

// A whole file of these sections, with the right checksum.
std::string with_sections(std::string_view sections, std::uint32_t version = 1) {
  ByteWriter out;
  out.bytes(kMagic);
  out.number(version);
  out.number(xxh3(sections));
  out.bytes(sections);
  return out.take();
}

std::string section(std::string_view name, std::uint32_t flags, std::string_view body) {
  ByteWriter out;
  out.counted_bytes(name);
  out.number(flags);
  out.counted_bytes(body);
  return out.take();
}

std::string refused_binary(const std::string& bytes) {
  return refusal_of([&] { read_metadata(bytes, "m.bin"); });
}

TEST(CanonicalTest, BinaryRefusesByName) {
  EXPECT_THAT(refused_binary(with_sections(section("launches", 1, ""))),
              HasSubstr("requires the section \"launches\""));
  EXPECT_THAT(refused_binary(with_sections(section("code", 1, std::string(16, '\0')) +
                                           section("code", 1, std::string(16, '\0')))),
              HasSubstr("twice"));
  EXPECT_THAT(refused_binary(with_sections("", 7)), HasSubstr("version 7"));
  EXPECT_THAT(refused_binary(with_sections(section("functions", 1, std::string(8, '\x7f')))),
              HasSubstr("claims"));
  EXPECT_THAT(refused_binary(with_sections(section("functions", 1, std::string(9, '\0')))),
              HasSubstr("left over"));
  const FoundMetadata found = read_metadata(with_sections(section("notes", 0, "x")), "m.bin");
  EXPECT_THAT(found.remarks, ElementsAre(HasSubstr("\"notes\"")));
}

TEST(CanonicalTest, DamageIsFound) {
  const std::string whole = metadata_binary(sample());
  for (std::size_t at = 20; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_EQ(failure_of([&] { read_metadata(damaged, "m.bin"); }).code(), ErrorCode::kDamaged);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_metadata(whole.substr(0, size), "m.bin"), Error) << size;
  }
}

TEST(CanonicalTest, TextThatIsNotUtf8HasNoJson) {
  const ModuleMetadata module({.name = "m", .sources = {{"cuda", "\xff\xfe"}}});
  EXPECT_THAT(refusal_of([&] { metadata_json(module); }), HasSubstr("UTF-8"));
  expect_same(read_metadata(metadata_binary(module), "m").modules.at(0), module);
}

TEST(Base64Test, FollowsTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  for (const char* wrong :
       {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Z===", "Zm9\n", "Zm9_"}) {
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace baton::metadata::canonical_test
