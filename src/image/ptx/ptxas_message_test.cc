#include "image/ptx/ptxas_message.h"

#include <gtest/gtest.h>

namespace baton::image::ptxas_message_test {
namespace {

TEST(PtxasMessage, IsReadWithItsPadding) {
  const auto said =
      parse_ptxas_message("ptxas application ptx input, line 12; error   : Unknown symbol 'a: b'");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->line, 12);
  EXPECT_EQ(said->severity, "error");
  EXPECT_EQ(said->message, "Unknown symbol 'a: b'");
}

TEST(PtxasMessage, AnyOtherLineIsNone) {
  for (const char* text :
       {"", "ptxas fatal   : Ptx assembly aborted due to errors",
        "ptxas application ptx input, line ", "ptxas application ptx input, line x; error : y",
        "ptxas application ptx input, line 0; error : y",
        "ptxas application ptx input, line 99999999999; error : y",
        "ptxas application ptx input, line 12, error : y",
        "ptxas application ptx input, line 12; error"}) {
    EXPECT_FALSE(parse_ptxas_message(text)) << text;
  }
}

}  // namespace
}  // namespace baton::image::ptxas_message_test
