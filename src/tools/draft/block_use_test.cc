#include "tools/draft/block_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "baton/image.h"
#include "image/image_content.h"
#include "ptx/ast.h"

namespace baton::tools::block_use_test {
namespace {

using testing::ElementsAre;

BlockUse use_of(const std::string& body) {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      "  .reg .b32 %r<8>;\n  .reg .b64 %rd<4>;\n  .reg .f32 %f<16>;\n" +
      body + "  ret;\n}\n";
  const auto module = image::ptx_of(Image::from_bytes(ptx, "k.ptx"));
  return block_use(*module->function("k"));
}

TEST(BlockUse, AConstantFactorOfTheIndexIsATile) {
  EXPECT_THAT(use_of("  mov.u32 %r1, %ctaid.x;\n  shl.b32 %r2, %r1, 5;\n"
                     "  mov.u32 %r3, %ctaid.y;\n  mul.lo.s32 %r4, %r3, 16;\n"
                     "  mov.u32 %r5, %ctaid.z;\n  mad.lo.s32 %r6, %r5, 8, %r2;\n")
                  .tile,
              ElementsAre(32, 16, 8));
}

// Sizes of elements, factors that differ, sizes of a whole, and indexes of threads.
TEST(BlockUse, OtherFactorsAreNone) {
  for (const char* body : {
           "  mov.u32 %r1, %ctaid.x;\n  mul.wide.u32 %rd1, %r1, 32;\n",
           "  mov.u32 %r1, %ctaid.x;\n  shl.b32 %r2, %r1, 5;\n  shl.b32 %r3, %r1, 6;\n",
           "  mov.u32 %r1, %ctaid.x;\n  shl.b32 %r2, %r1, 20;\n",
           "  mov.u32 %r1, %ctaid.x;\n  mul.lo.s32 %r2, %r1, 100;\n",
           "  mov.u32 %r1, %ctaid.x;\n  mul.lo.s32 %r2, %r1, %r3;\n",
           "  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 5;\n",
       }) {
    EXPECT_THAT(use_of(body).tile, ElementsAre(0, 0, 0)) << body;
  }
}

TEST(BlockUse, TheExtentOfABlockIsATileToo) {
  const BlockUse use = use_of(
      "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
      "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
      "  mov.u32 %r5, %ctaid.z;\n  mov.u32 %r6, %ntid.z;\n"
      "  cvt.u64.u32 %rd1, %r5;\n  cvt.u64.u32 %rd2, %r6;\n  mul.lo.s64 %rd3, %rd2, %rd1;\n");
  EXPECT_TRUE(use.tells_tiles);
  EXPECT_THAT(use.is_tiled, ElementsAre(true, false, true));
  EXPECT_THAT(use.tile, ElementsAre(0, 0, 0));
  EXPECT_THAT(use_of("  mov.u32 %r1, %ctaid.y;\n  shl.b32 %r2, %r1, 3;\n").is_tiled,
              ElementsAre(false, true, false));
  // The extent along another axis, and a size of the whole.
  EXPECT_THAT(use_of("  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.y;\n"
                     "  mul.lo.s32 %r3, %r1, %r2;\n  mul.lo.s32 %r4, %r1, %r5;\n")
                  .is_tiled,
              ElementsAre(false, false, false));
  EXPECT_FALSE(use_of("  call.uni vprintf, (%rd1, %rd2);\n").tells_tiles);
}

TEST(BlockUse, ReadsTheIndexOfAThread) {
  EXPECT_FALSE(use_of("  mov.u32 %r1, %ctaid.x;\n").reads_thread);
  for (const char* body :
       {"  mov.u32 %r1, %tid.y;\n", "  mov.u32 %r1, %laneid;\n",
        "  { .reg .b32 t;\n  mov.u32 t, %tid.x; }\n", "  call.uni vprintf, (%rd1, %rd2);\n"}) {
    EXPECT_TRUE(use_of(body).reads_thread) << body;
  }
  EXPECT_TRUE(BlockUse().reads_thread);  // without code
  EXPECT_TRUE(BlockUse().reads_block);
}

TEST(BlockUse, ReadsTheIndexOfABlock) {
  EXPECT_FALSE(use_of("  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ntid.x;\n").reads_block);
  for (const char* body : {"  mov.u32 %r1, %ctaid.z;\n", "  mov.u32 %r1, %cluster_ctarank;\n",
                           "  call.uni vprintf, (%rd1, %rd2);\n"}) {
    EXPECT_TRUE(use_of(body).reads_block) << body;
  }
}

}  // namespace
}  // namespace baton::tools::block_use_test
