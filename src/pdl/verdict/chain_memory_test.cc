// What a chain remembers of earlier launches: many accesses of one memory, launches of one kernel
// before and after a gap, and counters of frozen rows.

#include "pdl/verdict/chain_test.h"

namespace baton::overlap::chain_memory_test {
namespace {

// Two accesses certainly meet if the earlier one is of that launch.
class MeetsAt : public LaunchChain::Evidence {
 public:
  explicit MeetsAt(std::uint32_t position) : position_(position) {}
  bool meet(const AccessGroup&, std::uint32_t position, const AccessGroup&, bool) override {
    return position == position_;
  }
  bool never_meet(const AccessGroup&, std::uint32_t, const AccessGroup&, MemoryId) override {
    return false;
  }
  bool triggers_early(std::uint32_t) override { return true; }

 private:
  std::uint32_t position_;
};

// A kernel is launched before a launch that never waits, and after it. The wait of the last launch
// covers the second one.
TEST_F(ChainTest, ALaunchAfterAGapIsNoWitnessOfOneBeforeIt) {
  const BoundLaunch writer = launch(kGood, kX, kWeight, kY);
  chain_.follow(writer, false);
  chain_.follow(launch(kIdle, kZ, kZ, kZ), true);
  chain_.follow(again(writer, at(kX), at(kWeight), at(kY)), true);
  const BoundLaunch reader = launch(kGood, kY, kWeight, kZ);
  MeetsAt before(0), after(2);
  const Verdict certain = chain_.judge(reader, &before);
  expect(certain, Kind::kUnsafe, Cause::kTransitiveGap);
  EXPECT_EQ(certain.other_number, writer.number);
  const Verdict open = chain_.judge(reader, &after);
  expect(open, Kind::kUnknown, Cause::kTransitiveGap);
  EXPECT_EQ(open.other_number, writer.number);
}

// Each view of a buffer is written by a launch of its own, more of them than are kept apart.
class ManyWrites : public ChainTest {
 protected:
  static constexpr unsigned kViews = 20;
  static GivenArgument view(std::uint64_t k) { return GivenArgument::pointer(kX, 256 * k, 256); }

  // The launch of `whole`, if there is one, writes all of the buffer.
  void write_all(unsigned whole = kViews) {
    chain_.cut();
    const BoundLaunch one = launch(kEager, at(kWeight), at(kWeight), view(0));
    for (unsigned k = 0; k < kViews; ++k) {
      chain_.follow(again(one, at(kWeight), at(kWeight), k == whole ? at(kX) : view(k)), k != 0);
    }
  }
  Kind kind_of(const std::string& body, std::uint64_t k) {
    return chain_.judge(launch(body, view(k), at(kWeight), at(kY))).kind;
  }
};

TEST_F(ManyWrites, NoneIsForgotten) {
  const std::string non_coherent = "griddepcontrol.wait;\nld.global.nc.f32 %f1, [%a];";
  for (const std::string& body : {std::string(kHasty), non_coherent}) {
    write_all();
    for (unsigned k = 0; k < kViews; ++k) EXPECT_NE(kind_of(body, k), Kind::kProven) << body << k;
    EXPECT_EQ(kind_of(body, kViews), Kind::kProven) << body;
    for (const unsigned whole : {0u, 1u, 2u, 3u, kViews - 1}) {
      write_all(whole);
      EXPECT_NE(kind_of(body, 3 * kViews), Kind::kProven) << body << whole;
    }
  }
}

TEST_F(ManyWrites, NoneIsForgottenAfterAGap) {
  const std::string reads = "griddepcontrol.wait;\nld.global.f32 %f1, [%a];";
  write_all();
  EXPECT_EQ(kind_of(reads, 0), Kind::kProven);
  chain_.follow(launch(kIdle, kZ, kZ, kZ), true);
  for (unsigned k = 0; k < kViews; ++k) EXPECT_NE(kind_of(reads, k), Kind::kProven) << k;
  EXPECT_EQ(chain_.judge(launch(reads, view(kViews), at(kWeight), at(kY))).cause, Cause::kHolds);
}

// kX has frozen rows, and kZ is their counter.
class FrozenRows : public ChainTest {
 protected:
  void SetUp() override {
    chain_ = LaunchChain(
        [](MemoryId id) { return id == kWeight; },
        [](MemoryId id) { return id == kX ? std::optional<MemoryId>(kZ) : std::nullopt; });
  }
  // The verdict about an early access. The launch before it writes other rows.
  Verdict after_writes(const std::string& body, MemoryId counter_read, MemoryId counter_written,
                       GivenArgument rows) {
    chain_.cut();
    const std::string before =
        "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\nld.global.f32 %f1, [%b];\n"
        "st.global.f32 [%c], %f1;\n";
    first(launch(before, at(kWeight), at(counter_read), at(counter_written)));
    chain_.follow(launch(kEager, at(kWeight), at(kWeight), rows), true);
    return chain_.judge(launch(body, at(kX), at(kWeight), at(kY)));
  }
};

TEST_F(FrozenRows, AreReadEarlyWhileNoLaunchWritesTheirCounter) {
  const GivenArgument elsewhere = at(kX, kUnknownOffset);
  const Verdict frozen = after_writes(kHasty, kWeight, kY, elsewhere);
  expect(frozen, Kind::kProven, Cause::kHolds);
  EXPECT_EQ(frozen.frozen, kX);
  EXPECT_EQ(after_writes(kHasty, kZ, kY, elsewhere).frozen, kX) << "the counter is read";
  EXPECT_EQ(after_writes(kHasty, kWeight, kZ, elsewhere).kind, Kind::kUnknown) << "it is written";
  EXPECT_EQ(after_writes(kHasty, kWeight, kY, at(kX)).kind, Kind::kUnsafe) << "the row is written";
  const std::string writes_early = "st.global.f32 [%a], %f1;\ngriddepcontrol.wait;";
  EXPECT_EQ(after_writes(writes_early, kWeight, kY, elsewhere).kind, Kind::kUnknown);
  const std::string reads_one_of =
      "selp.b64 %d1, %a, %b, %p1;\nld.global.f32 %f1, [%d1];\ngriddepcontrol.wait;";
  EXPECT_EQ(after_writes(reads_one_of, kWeight, kY, elsewhere).kind, Kind::kUnknown);
}

TEST_F(FrozenRows, CountForNothingAfterAWriteOfUnknownMemory) {
  const std::string writes_anywhere =
      "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\nld.global.u64 %d1, [%b];\n"
      "st.global.f32 [%d1], %f1;";
  first(launch(writes_anywhere, kWeight, kY, kY));
  EXPECT_NE(chain_.judge(launch(kHasty, kX, kWeight, kY)).kind, Kind::kProven);
}

}  // namespace
}  // namespace baton::overlap::chain_memory_test
