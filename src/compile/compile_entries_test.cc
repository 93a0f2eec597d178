// Which kernel an entry names.

#include "compile/compile_test.h"

namespace baton::compile_entries_test {
namespace {

class CompileEntries : public CompileTest {};

TEST_F(CompileEntries, EntriesAreNameExpressions) {
  const Compiled named =
      compiled(kKernels, {"scale<float>", "sized<3, true>", "ns::plain", "internal", "c_name"});
  std::vector<std::string> symbols;
  for (const auto& [expression, symbol] : named.symbols) symbols.push_back(symbol);
  EXPECT_THAT(symbols, testing::ElementsAre("_Z5scaleIfEvPT_", "_Z5sizedILi3ELb1EEvPi",
                                            "_ZN2ns5plainEPi", "_Z8internalPi", "c_name"));
  const ImageFacts facts = read_facts(named.ptx);
  for (const std::string& symbol : symbols) EXPECT_NE(facts.kernel(symbol), nullptr) << symbol;
}

TEST_F(CompileEntries, TemplatesExistOnlyWhereTheyAreNamed) {
  const ImageFacts facts = read_facts(compiled(kKernels).ptx);
  EXPECT_EQ(facts.kernel("_Z5scaleIfEvPT_"), nullptr);
  EXPECT_NE(facts.kernel("c_name"), nullptr);
}

TEST_F(CompileEntries, APlainNameServesWhereItIsUnique) {
  const Compiled named =
      compiled(std::string(kKernels) + "template __global__ void scale<double>(double*);",
               {"scale", "ns::plain", "plain"});
  ASSERT_EQ(named.symbols.size(), 3u);
  for (const auto& [expression, symbol] : named.symbols) {
    EXPECT_EQ(symbol, expression == "scale" ? "_Z5scaleIdEvPT_" : "_ZN2ns5plainEPi");
  }
}

TEST_F(CompileEntries, AnUnknownEntryListsThoseThereAre) {
  const Error error = refusal(Source::from_text(kKernels, "k.cu"),
                              {.arch = "sm_90a", .entries = {"c_name", "c_nam"}});
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("k.cu has no kernel \"c_nam\"; it has: "));
  EXPECT_THAT(error.message(), HasSubstr("; did you mean \"c_name\"?"));
  EXPECT_THAT(error.message(), HasSubstr("ns::plain"));
  const Error no_args =
      refusal(Source::from_text(kKernels, "k.cu"), {.arch = "sm_90a", .entries = {"scale"}});
  EXPECT_EQ(no_args.code(), ErrorCode::kNotFound);
  EXPECT_THAT(no_args.what(), HasSubstr("name<float>"));
  const Error wrong_args = refusal(Source::from_text(kKernels, "k.cu"),
                                   {.arch = "sm_90a", .entries = {"scale<nothing>"}});
  EXPECT_EQ(wrong_args.code(), ErrorCode::kNotFound);
  EXPECT_THAT(wrong_args.message(),
              HasSubstr("the entry \"scale<nothing>\" names \"nothing\", which is not declared"));
  // A wrong source is a wrong source, whatever entries are asked for.
  EXPECT_EQ(
      refusal(Source::from_text("int x", "k.cu"), {.arch = "sm_90a", .entries = {"k"}}).code(),
      ErrorCode::kCompile);
}

}  // namespace
}  // namespace baton::compile_entries_test
