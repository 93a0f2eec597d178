#include "image/kernel_index.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "baton/error.h"

namespace baton::image::kernel_index_test {
namespace {

ImageFacts many(int count) {
  ImageFacts facts;
  for (int i = 0; i < count; ++i) {
    KernelFacts kernel;
    kernel.name = fmt::format("_ZN2ns5norm{}IfEEvPT_", i);
    kernel.demangled = fmt::format("ns::norm{}<float>(float*)", i);
    facts.kernels.push_back(std::move(kernel));
  }
  return facts;
}

TEST(KernelIndex, FindsEachOfThousandsByEveryName) {
  const ImageFacts facts = many(3000);
  const KernelIndex index(facts);
  for (int i = 0; i < 3000; ++i) {
    const KernelFacts* kernel = &facts.kernels[static_cast<std::size_t>(i)];
    EXPECT_EQ(index.symbol(kernel->name), kernel);
    for (const std::string& name :
         {kernel->name, kernel->demangled, fmt::format("norm{}", i), fmt::format("ns::norm{}", i),
          fmt::format("::ns::norm{}< float >", i), fmt::format("norm{}<float>", i)}) {
      ASSERT_EQ(&index.find(name, "image"), kernel) << name;
    }
  }
  EXPECT_EQ(index.symbol("norm1"), nullptr);
  EXPECT_THROW(index.find("norm3000", "image"), Error);
}

ImageFacts named(std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  ImageFacts facts;
  for (const auto& [symbol, demangled] : names) {
    KernelFacts& kernel = facts.kernels.emplace_back();
    kernel.name = std::string(symbol);
    kernel.demangled = std::string(demangled);
  }
  return facts;
}

TEST(KernelIndex, OverloadsAreListedInFull) {
  const ImageFacts facts =
      named({{"a", "over(int)"}, {"b", "over(float)"}, {"c", "once(int)"}, {"d", ""}});
  try {
    KernelIndex(facts).find("nothing", "image");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "image has no kernel \"nothing\"; it has: over(int), over(float), once, d");
  }
}

TEST(KernelIndex, TheStricterReadingWins) {
  const ImageFacts facts = named({{"a", "a(int)"}, {"b", "ns::a(int)"}});
  const KernelIndex index(facts);
  EXPECT_EQ(&index.find("a", "image"), &facts.kernels[0]);
  EXPECT_EQ(&index.find("ns::a", "image"), &facts.kernels[1]);
  const ImageFacts equal = named({{"b", "other::a(int)"}, {"c", "ns::a(int)"}});
  EXPECT_THROW(KernelIndex(equal).find("a", "image"), Error);
}

TEST(KernelIndex, ANameThatNothingInsistsOnYieldsToTheOnlyKernel) {
  const ImageFacts one = named({{"b", "ns::b(int)"}});
  EXPECT_EQ(&KernelIndex(one).find_or_only("a", "image"), &one.kernels[0]);
  const ImageFacts two = named({{"a", "a(int)"}, {"b", "ns::b(int)"}});
  EXPECT_EQ(&KernelIndex(two).find_or_only("b", "image"), &two.kernels[1]);
  EXPECT_THROW(KernelIndex(two).find_or_only("c", "image"), Error);
  const ImageFacts overloads = named({{"x", "a(int)"}, {"y", "a(float)"}});
  EXPECT_THROW(KernelIndex(overloads).find_or_only("a", "image"), Error);
}

}  // namespace
}  // namespace baton::image::kernel_index_test
