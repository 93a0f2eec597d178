#include "image/container/fatbin.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/file/file.h"
#include "baton/error.h"
#include "baton/image.h"
#include "image/container/lz4.h"

namespace baton::image::fatbin_test {
namespace {

std::string bytes_of(std::string_view vector) {
  return read_file(fmt::format("{}/src/image/testdata/{}.fatbin", BATON_SOURCE_DIR, vector));
}

class FatbinModes : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, FatbinModes, testing::Values("default", "none", "speed", "size"),
                         [](const auto& mode) { return std::string(mode.param); });

TEST_P(FatbinModes, UnpacksEveryMember) {
  const std::string bytes = bytes_of(fmt::format("packed_{}", GetParam()));
  const Fatbin fatbin(bytes, "<fatbin>");
  EXPECT_TRUE(fatbin.remarks().empty());
  ASSERT_EQ(fatbin.members().size(), 3u);
  for (const FatbinMember& member : fatbin.members()) {
    const Image inner = Image::from_bytes(fatbin.unpack(member), "member");
    EXPECT_EQ(inner.kind(),
              member.facts.kind == FatbinMember::Kind::kPtx ? ImageKind::kPtx : ImageKind::kCubin);
    EXPECT_EQ(read_facts(inner).arch, member.facts.arch);
  }
  EXPECT_EQ(fatbin.newest(FatbinMember::Kind::kCubin)->facts.arch, "sm_90a");
  EXPECT_EQ(fatbin.newest(FatbinMember::Kind::kPtx)->facts.arch, "sm_90");
  EXPECT_EQ(fatbin.newest(FatbinMember::Kind::kLto), nullptr);
  EXPECT_EQ(Fatbin::size_of(bytes.data()), bytes.size());
}

TEST_P(FatbinModes, GivesTheFactsOfAllMembers) {
  const Image image = Image::from_bytes(bytes_of(fmt::format("packed_{}", GetParam())), "<fatbin>");
  EXPECT_EQ(image.kind(), ImageKind::kFatbin);
  const ImageFacts facts = read_facts(image);
  EXPECT_EQ(facts.kind, ImageKind::kFatbin);
  EXPECT_EQ(facts.arch, "sm_90a");
  EXPECT_EQ(facts.members.size(), 3u);
  EXPECT_TRUE(facts.remarks.empty()) << facts.remarks[0];
  ASSERT_EQ(facts.kernels.size(), 1u);
  const KernelFacts& kernel = facts.kernels[0];
  EXPECT_EQ(kernel.arch, "sm_90a");
  EXPECT_GT(kernel.registers.value(), 0u);
  EXPECT_EQ(kernel.static_shared, 512u);
  EXPECT_EQ(kernel.max_threads, 128u);
  // Types come from the PTX member.
  EXPECT_EQ(kernel.params.value()[0].kind, ParamKind::kPointer);
  EXPECT_EQ(kernel.params.value()[2].dtype, DType::kI32);
}

TEST(Fatbin, SaysTheFamily) {
  EXPECT_EQ(read_facts(Image::from_bytes(bytes_of("family"), "x")).arch, "sm_100f");
}

TEST(Fatbin, SeveralMayFollowOneAnother) {
  const std::string one = bytes_of("packed_default");
  const std::string bytes = one + one;
  EXPECT_EQ(Fatbin(bytes, "x").members().size(), 6u);
}

// Every cut and every damaged header byte gives an answer or a refusal.
TEST(Fatbin, SurvivesDamage) {
  const auto survives = [](const std::string& bytes) {
    try {
      read_facts(Image::from_bytes(bytes, "x"));
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
    }
  };
  for (const char* mode : {"packed_size", "packed_speed"}) {
    const std::string whole = bytes_of(mode);
    for (std::size_t size = 0; size < whole.size(); size += 64) survives(whole.substr(0, size));
    for (std::size_t at = 0; at < whole.size(); at += at < 256 ? 1 : 101) {
      for (const char mask : {'\xff', '\x01'}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ mask);
        survives(damaged);
      }
    }
  }
}

TEST(Fatbin, ADeclaredSizeIsNotBelieved) {
  std::string bytes = bytes_of("packed_size");
  const std::uint64_t huge = std::uint64_t{1} << 40;
  // The first member's header follows the container's 16 bytes.
  std::memcpy(bytes.data() + 16 + 0x38, &huge, sizeof huge);
  const Fatbin fatbin(bytes, "x");
  EXPECT_THROW(fatbin.unpack(fatbin.members()[0]), Error);
}

TEST(Lz4, UnpacksBlocks) {
  EXPECT_EQ(unpack_lz4(std::string("\x50hello", 6), 5), "hello");
  // 1 literal, then a match of 4 + 7 bytes at distance 1, then 5 literals.
  EXPECT_EQ(unpack_lz4(std::string("\x17"
                                   "a\x01\x00"
                                   "\x50"
                                   "bcdef",
                                   10),
                       17),
            "aaaaaaaaaaaabcdef");
  // A literal run of 15 + 255 + 3.
  EXPECT_EQ(unpack_lz4("\xf0\xff\x03" + std::string(273, 'x'), 273), std::string(273, 'x'));
}

TEST(Lz4, RefusesBrokenBlocks) {
  EXPECT_FALSE(unpack_lz4(std::string("\x50hell", 5), 5));
  EXPECT_FALSE(unpack_lz4(std::string("\x50hello", 6), 4));
  EXPECT_FALSE(unpack_lz4(std::string("\x50hello", 6), 6));
  EXPECT_FALSE(unpack_lz4(std::string("\x10"
                                      "a\x02\x00",
                                      4),
                          5));  // before the beginning
  EXPECT_FALSE(unpack_lz4(std::string("\x10"
                                      "a\x00\x00",
                                      4),
                          5));
  EXPECT_FALSE(unpack_lz4(std::string("\x1f"
                                      "a\x01\x00\xff",
                                      5),
                          500));
  EXPECT_FALSE(unpack_lz4("", 1));
}

}  // namespace
}  // namespace baton::image::fatbin_test
