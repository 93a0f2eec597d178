// Texts that cross an interface as bytes meet the module that was parsed from them before.

#include <thread>

#include "ptx/testdata_test.h"

namespace baton::ptx::module_test {
namespace {

TEST(ParsedModule, OfFindsTheLiveModuleOfAnEqualText) {
  const std::string text = kernel("ret; // of one");
  const auto first = ParsedModule::parse(text, "a.ptx");
  EXPECT_EQ(ParsedModule::of(text, "<ptx>"), first);
  // Compilers and containers put NULs after a text.
  EXPECT_EQ(ParsedModule::of(text + std::string(3, '\0'), "<ptx>"), first);
  EXPECT_NE(ParsedModule::of(text + "\n", "<ptx>"), first);
  EXPECT_EQ(ParsedModule::parse(text, "a.ptx"), first);
  // Messages show the name that the text was given here; the last one parsed decides elsewhere.
  const auto second = ParsedModule::parse(text, "b.ptx");
  EXPECT_EQ(second->name(), "b.ptx");
  EXPECT_NE(second, first);
  EXPECT_EQ(ParsedModule::of(text, "<ptx>"), second);
}

TEST(ParsedModule, OfKeepsNoModuleAlive) {
  const std::string text = kernel("ret; // kept by nothing");
  std::weak_ptr<const ParsedModule> seen = ParsedModule::parse(text, "a.ptx");
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(ParsedModule::of(text, "<ptx>")->name(), "<ptx>");
}

TEST(ParsedModule, OfRefusesWhatParseRefuses) {
  const std::string text = kernel("ret; // two modules");
  const auto alive = ParsedModule::parse(text, "a.ptx");
  EXPECT_THROW(ParsedModule::of(text + '\0' + text, "<ptx>"), Error);
  EXPECT_THROW(ParsedModule::of("no PTX", "<ptx>"), Error);
}

TEST(ParsedModule, OfForgetsTextsRatherThanGrowing) {
  std::vector<std::shared_ptr<const ParsedModule>> alive;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = kernel("ret; // " + std::to_string(i));
    alive.push_back(ParsedModule::parse(text, "many.ptx"));
    EXPECT_EQ(ParsedModule::of(text, "<ptx>"), alive.back());
  }
}

TEST(ParsedModule, ThreadsMayParseAndFindAtOnce) {
  const std::string text = kernel("ret; // of many threads");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(ParsedModule::of(text, "<ptx>")->entries().size(), 1u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace baton::ptx::module_test
