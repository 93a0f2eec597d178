// discard: what it leaves, and what it refuses.

#include "sim/engine/memory/discard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::discard_test {
namespace {

constexpr const char* kHead = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .shared .align 128 .b8 s[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  setp.eq.u32 %p1, %r1, 0;
)";

// Runs such bodies one after the other, in one warp each, on 64 words of 7.
struct Bodies {
  explicit Bodies(const std::vector<std::string>& bodies, std::uint64_t offset = 0) {
    TestDevice device;
    address = device.upload(std::vector<std::uint32_t>(64, 7));
    for (const std::string& body : bodies) {
      const auto module = device.load(kHead + body + "\n  ret;\n}\n");
      fault = device.run(module, "k", {1}, {32}, address + offset)->fault();
    }
    findings = device.engine.findings();
    words = device.download<std::uint32_t>(address, 64);
  }
  std::uint64_t address = 0;
  CUresult fault = CUDA_SUCCESS;
  std::vector<driver::Finding> findings;
  std::vector<std::uint32_t> words;
};

constexpr const char* kDiscards = "@%p1 discard.global.L2 [%rd1], 128;";

TEST(Discard, DestroysWhatIsThere) {
  const Bodies ran({kDiscards});
  EXPECT_TRUE(ran.findings.empty());
  EXPECT_EQ(std::count(ran.words.begin(), ran.words.begin() + 32, 7u), 0);
  EXPECT_EQ(std::count(ran.words.begin() + 32, ran.words.end(), 7u), 32);
}

TEST(Discard, LeavesNothingToRead) {
  const Bodies ran({kDiscards, "ld.global.u32 %r2, [%rd2];"});
  ASSERT_EQ(ran.findings.size(), 1u);
  EXPECT_EQ(to_string(ran.findings[0].kind), "uninitialized");
}

TEST(Discard, IsOverWhereTheBytesAreWrittenAgain) {
  EXPECT_TRUE(
      Bodies({"discard.L2 [%rd1], 128;\nst.global.u32 [%rd2], %r1;", "ld.global.u32 %r2, [%rd2];"})
          .findings.empty());
  EXPECT_TRUE(Bodies({kDiscards, "st.global.u32 [%rd2], %r1;", "ld.global.u32 %r2, [%rd2];"})
                  .findings.empty());
  // The other line was not discarded.
  EXPECT_TRUE(Bodies({kDiscards, "ld.global.u32 %r2, [%rd2+128];"}).findings.empty());
}

TEST(Discard, RefusesWhatIsNotDocumented) {
  const Bodies unaligned({kDiscards}, 64);
  ASSERT_EQ(unaligned.findings.size(), 1u);
  EXPECT_EQ(to_string(unaligned.findings[0].kind), "misaligned");
  const Bodies beyond({kDiscards}, 256);
  ASSERT_EQ(beyond.findings.size(), 1u);
  EXPECT_EQ(to_string(beyond.findings[0].kind), "out_of_bounds");
  const Bodies shared({"cvta.shared.u64 %rd3, s;\n@%p1 discard.L2 [%rd3], 128;"});
  ASSERT_EQ(shared.findings.size(), 1u);
  EXPECT_EQ(to_string(shared.findings[0].kind), "unsupported");
}

}  // namespace
}  // namespace baton::sim::discard_test
