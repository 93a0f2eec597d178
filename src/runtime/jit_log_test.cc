#include "runtime/jit_log.h"

#include <gtest/gtest.h>

namespace baton::jit_log_test {
namespace {

TEST(JitLog, NamesTheImage) {
  EXPECT_EQ(with_image_name("<ptx>:4:34: this is wrong\n   4 | x", "k.ptx"),
            "k.ptx:4:34: this is wrong\n   4 | x");
  EXPECT_EQ(with_image_name("ptxas application ptx input, line 27; error   : Not a name: 'x'\n"
                            "ptxas fatal   : Ptx assembly aborted due to errors",
                            "k.ptx"),
            "k.ptx:27: error: Not a name: 'x'\nptxas fatal   : Ptx assembly aborted due to errors");
  EXPECT_EQ(with_image_name("ptxas application ptx input, line x; y", "k.ptx"),
            "ptxas application ptx input, line x; y");
}

TEST(JitLog, TheFirstComplaintHasItsPlace) {
  const auto simulated = first_complaint("k.ptx:4:34: this is wrong\n   4 | x", "k.ptx");
  EXPECT_STREQ(simulated->what(), "k.ptx:4:34: this is wrong");
  const auto ptxas = first_complaint("ptxas info : 0 bytes\nk.ptx:27: error: Not a: name", "k.ptx");
  EXPECT_STREQ(ptxas->what(), "k.ptx:27: Not a: name");
  for (const char* other : {"", "k.ptx", "k.ptx:", "k.ptx: no line", "x.ptx:1: error: y"}) {
    EXPECT_FALSE(first_complaint(other, "k.ptx")) << other;
  }
}

}  // namespace
}  // namespace baton::jit_log_test
