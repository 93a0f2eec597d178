#include "image/cubin/kept_ptx.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "baton/error.h"
#include "baton/image.h"
#include "image/cubin/cubin.h"

namespace baton::image::kept_ptx_test {
namespace {

constexpr std::string_view kText = ".version 8.0\n.target sm_90\n.address_size 64\n";

class KeptPtx : public testing::TestWithParam<std::string_view> {
 protected:
  const std::string cubin_ =
      read_file(fmt::format("{}/src/image/testdata/{}.cubin", BATON_SOURCE_DIR, GetParam()));
};

TEST_P(KeptPtx, ComesBack) {
  EXPECT_EQ(kept_ptx(cubin_), "");
  const std::string with = keep_ptx(cubin_, kText, "<cubin>");
  EXPECT_EQ(kept_ptx(with), kText);
}

TEST_P(KeptPtx, LeavesTheCubinAsItWas) {
  const std::string with = keep_ptx(cubin_, kText, "<cubin>");
  const Cubin before(cubin_, "<before>");
  const Cubin after(with, "<after>");
  ASSERT_EQ(after.sections().size(), before.sections().size() + 1);
  for (std::size_t k = 0; k < before.sections().size(); ++k) {
    EXPECT_EQ(after.sections()[k].name, before.sections()[k].name);
    // The table of names has one more.
    EXPECT_TRUE(after.sections()[k].bytes.starts_with(before.sections()[k].bytes));
    EXPECT_EQ(after.sections()[k].flags, before.sections()[k].flags);
  }
  EXPECT_EQ(after.symbols().size(), before.symbols().size());
  const ImageFacts facts = read_facts(Image::from_bytes(cubin_, "<before>"));
  const ImageFacts same = read_facts(Image::from_bytes(with, "<after>"));
  ASSERT_EQ(same.kernels.size(), facts.kernels.size());
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    EXPECT_EQ(same.kernels[k].name, facts.kernels[k].name);
    EXPECT_EQ(same.kernels[k].registers, facts.kernels[k].registers);
  }
  EXPECT_EQ(ElfFile::extent_of(with), with.size());
  EXPECT_EQ(ElfFile::size_of(with.data()), with.size());
}

TEST_P(KeptPtx, TakesThePlaceOfWhatWasKept) {
  const std::string once = keep_ptx(cubin_, "old", "<cubin>");
  const std::string twice = keep_ptx(once, kText, "<cubin>");
  EXPECT_EQ(kept_ptx(twice), kText);
  EXPECT_EQ(Cubin(twice, "<twice>").sections().size(), Cubin(once, "<once>").sections().size());
}

INSTANTIATE_TEST_SUITE_P(Cubins, KeptPtx, testing::Values("debug_lines", "linked_sm_90"),
                         [](const auto& each) { return std::string(each.param); });

TEST(KeptPtx, OtherBytesHaveNone) {
  EXPECT_EQ(kept_ptx(""), "");
  EXPECT_EQ(kept_ptx(kText), "");
  EXPECT_EQ(kept_ptx("\177ELF\2\1\1 and then nothing of use"), "");
  EXPECT_THROW(keep_ptx("\177ELF\2\1\1", kText, "<short>"), Error);
}

}  // namespace
}  // namespace baton::image::kept_ptx_test
