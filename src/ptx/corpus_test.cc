// The corpus: everything parses, prints and parses again to the same; nothing that is done to it
// crashes the parser.

#include <random>

#include "ptx/cfg.h"
#include "ptx/equal.h"
#include "ptx/printer.h"
#include "ptx/testdata_test.h"

namespace baton::ptx::corpus_test {
namespace {

TEST(PtxCorpus, IsThere) {
  EXPECT_GE(corpus().size(), 80u);
}

TEST(PtxCorpus, PrintsToAnEqualTree) {
  for (const auto& path : corpus()) {
    const auto first = ParsedModule::parse(read_text(path), path.filename());
    const std::string printed = print(*first);
    const auto second = ParsedModule::parse(printed, "printed " + path.filename().string());
    EXPECT_TRUE(equal(*first, *second)) << path;
    EXPECT_EQ(printed, print(*second)) << path;
  }
}

TEST(PtxCorpus, EveryKernelHasAControlFlowGraph) {
  for (const auto& path : corpus()) {
    const auto module = ParsedModule::parse(read_text(path), path.filename());
    ASSERT_FALSE(module->entries().empty()) << path;
    for (const Function* entry : module->entries()) {
      const FlatFunction flat(*entry);
      const ControlFlow flow(flat);
      for (std::uint32_t b = 0; b < flow.blocks().size(); ++b) {
        ASSERT_NE(flow.immediate_post_dominator(b), kNoNode) << path << " " << entry->name;
        EXPECT_TRUE(flow.post_dominates(flow.exit(), b)) << path << " " << entry->name;
      }
    }
  }
}

// Parses what may be damaged: anything but an Error fails the test (or crashes it).
void survive(std::string text) {
  try {
    const auto module = ParsedModule::parse(std::move(text), "damaged");
    for (const TopLevel& item : module->items()) {
      const auto* function = std::get_if<Function>(&item);
      if (function == nullptr) continue;
      try {
        function->body();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
        EXPECT_GT(error.where().line, 0);
      }
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
  }
}

TEST(PtxCorpus, TruncationNeverCrashes) {
  std::mt19937 random(1);
  for (const auto& path : corpus()) {
    const std::string text = read_text(path);
    for (int i = 0; i < 8; ++i) survive(text.substr(0, random() % text.size()));
  }
}

TEST(PtxCorpus, FlippedBitsNeverCrash) {
  std::mt19937 random(2);
  for (const auto& path : corpus()) {
    const std::string text = read_text(path);
    for (int i = 0; i < 8; ++i) {
      std::string damaged = text;
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
      }
      survive(std::move(damaged));
    }
  }
}

}  // namespace
}  // namespace baton::ptx::corpus_test
