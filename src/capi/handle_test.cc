#include "capi/handle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "capi/kinds.h"

namespace baton::capi {
namespace {

// Counts the objects that live.
struct CountedObject {
  explicit CountedObject(std::atomic<int>& live) : count(&live) { ++*count; }
  CountedObject(const CountedObject&) = delete;
  ~CountedObject() { --*count; }
  std::atomic<int>* count;
};

struct ThrowingObject {
  ThrowingObject() { throw 1; }
};

}  // namespace

struct ThrowingKind final : Handle<ThrowingKind, ThrowingObject> {
  static constexpr std::string_view kName = "throwing_kind";
};
struct CountedKind final : Handle<CountedKind, CountedObject> {
  static constexpr std::string_view kName = "counted_kind";
};

namespace {

TEST(Handles, TheLastReferenceDestroysTheObject) {
  std::atomic<int> live = 0;
  CountedKind* const handle = make_handle<CountedKind>(live);
  retain(handle);
  release(handle);
  EXPECT_EQ(live, 1);
  EXPECT_TRUE(handle->alive());
  release(handle);
  EXPECT_EQ(live, 0);
  EXPECT_FALSE(handle->alive());
}

TEST(Handles, AReleasedOneStaysReleased) {
  std::atomic<int> live = 0;
  CountedKind* const handle = make_handle<CountedKind>(live);
  release(handle);
  release(handle);
  retain(handle);
  release(handle);
  EXPECT_EQ(live, 0);
  EXPECT_FALSE(handle->alive());
}

TEST(Handles, MemoryServesAgainAfterManyReleases) {
  std::atomic<int> live = 0;
  std::set<CountedKind*> seen;
  CountedKind* before = nullptr;
  for (int i = 0; i < 10000; ++i) {
    CountedKind* const handle = make_handle<CountedKind>(live);
    EXPECT_NE(handle, before);
    seen.insert(before = handle);
    release(handle);
  }
  EXPECT_LT(seen.size(), 400u);
  EXPECT_GT(seen.size(), 200u);
  EXPECT_EQ(live, 0);
}

TEST(Handles, ReferencesOfSeveralThreads) {
  std::atomic<int> live = 0;
  CountedKind* const handle = make_handle<CountedKind>(live);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    retain(handle);
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const HandleReference<CountedKind> reference(handle);
        release(make_handle<CountedKind>(live));
      }
      release(handle);
    });
  }
  release(handle);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live, 0);
  EXPECT_FALSE(handle->alive());
}

TEST(Handles, KindsHaveMarksOfTheirOwn) {
  const std::set<std::uint64_t> marks = {
      handle_mark(baton_error::kName),  handle_mark(baton_findings::kName),
      handle_mark(baton_device::kName), handle_mark(baton_stream::kName),
      handle_mark(baton_event::kName),  handle_mark(baton_memory::kName),
      handle_mark(baton_module::kName), handle_mark(baton_kernel::kName),
      handle_mark(baton_plan::kName),   handle_mark(baton_program::kName),
      handle_mark(baton_check::kName),  handle_mark(baton_bundle::kName)};
  EXPECT_EQ(marks.size(), 12u);
}

TEST(Handles, AnObjectThatThrowsWhileItIsMadeLeavesNoHandle) {
  EXPECT_THROW(make_handle<ThrowingKind>(), int);
}

}  // namespace
}  // namespace baton::capi
