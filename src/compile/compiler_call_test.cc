// Compilers in threads of their own.

#include "compile/compiler_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

namespace baton::compiler::compiler_call_test {
namespace {

struct Interrupt {};

// Waits for the compiler, or ends early.
class TestWait : public CompilerWait {
 public:
  bool serves_this_thread() noexcept override { return serves; }
  void until(const std::function<bool()>& wait) override {
    if (interrupts) throw Interrupt{};
    while (!wait()) ++moments;
  }

  bool serves = true, interrupts = false;
  int moments = 0;
};

class CompilerCall : public testing::Test {
 protected:
  void SetUp() override { set_compiler_wait(&wait_); }
  void TearDown() override {
    set_compiler_wait(nullptr);
    await_compilers();
  }

  TestWait wait_;
};

TEST_F(CompilerCall, GivesResultsAndErrorsOfAnotherThread) {
  const auto caller = std::this_thread::get_id();
  EXPECT_NE(call_compiler([] { return std::this_thread::get_id(); }), caller);
  EXPECT_EQ(call_compiler([text = std::string("made")] { return text; }), "made");
  EXPECT_THROW(call_compiler([]() -> int { throw std::runtime_error("refused"); }),
               std::runtime_error);
  EXPECT_EQ(call_compiler([] {
              std::this_thread::sleep_for(3 * CompilerWait::kMoment);
              return 5;
            }),
            5);
  EXPECT_GT(wait_.moments, 0);
}

TEST_F(CompilerCall, NeedsNoWait) {
  const auto own_thread = [] { return std::this_thread::get_id(); };
  wait_.serves = false;
  EXPECT_NE(call_compiler(own_thread), std::this_thread::get_id());
  EXPECT_EQ(wait_.moments, 0);
  set_compiler_wait(nullptr);
  EXPECT_EQ(call_compiler(own_thread), std::this_thread::get_id());
}

// What they do then would run while the process ends, as a compiler would that begins later.
TEST_F(CompilerCall, OtherThreadsStayOnceTheProcessEnds) {
  EXPECT_EXIT(
      {
        std::atomic<bool> compiles = false;
        std::atomic<bool> went_on = false;
        const auto slow = [&] {
          compiles = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        };
        std::thread([&] {
          call_compiler(slow);
          went_on = true;
        }).detach();
        while (!compiles) std::this_thread::yield();
        await_compilers();
        std::thread([&] {
          call_compiler([] { return 1; });
          went_on = true;
        }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const bool has_own = call_compiler([] { return 2; }) == 2;
        std::_Exit(has_own && !went_on ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CompilerCall, GoesOnWhereTheWaitEndsEarly) {
  static std::atomic<bool> may_end, has_ended;
  may_end = has_ended = false;
  wait_.interrupts = true;
  const auto slow = [] {
    while (!may_end) std::this_thread::yield();
    has_ended = true;
    return 1;
  };
  EXPECT_THROW(call_compiler(slow), Interrupt);
  EXPECT_FALSE(has_ended);
  // Others do not wait for it.
  wait_.interrupts = false;
  EXPECT_EQ(call_compiler([] { return 2; }), 2);
  may_end = true;
  await_compilers();
  EXPECT_TRUE(has_ended);
  await_compilers();  // nothing is left
}

TEST_F(CompilerCall, RunsBesideItsCaller) {
  const auto own_thread = [] { return std::this_thread::get_id(); };
  for (const bool has_wait : {true, false}) {
    set_compiler_wait(has_wait ? &wait_ : nullptr);
    std::atomic<bool> may_end = false;
    CompilerBeside<bool> beside([&] {
      while (!may_end) std::this_thread::yield();
      return call_compiler(own_thread) == own_thread();  // no thread more
    });
    EXPECT_NE(call_compiler([&] { return may_end = true; }), false);
    EXPECT_TRUE(beside.result());
    CompilerBeside<int> refused([]() -> int { throw std::runtime_error("refused"); });
    EXPECT_THROW(refused.result(), std::runtime_error);
  }
}

// Its result is not needed, and it must not outlive the process.
TEST_F(CompilerCall, BesideIsLeftOrAwaited) {
  static std::atomic<bool> may_end, has_ended;
  const auto slow = [] {
    while (!may_end) std::this_thread::yield();
    has_ended = true;
    return 1;
  };
  may_end = has_ended = false;
  { const CompilerBeside<int> left(slow); }
  EXPECT_FALSE(has_ended);
  may_end = true;
  await_compilers();
  EXPECT_TRUE(has_ended);

  may_end = has_ended = false;
  wait_.interrupts = true;
  CompilerBeside<int> interrupted(slow);
  EXPECT_THROW(interrupted.result(), Interrupt);
  EXPECT_FALSE(has_ended);
  may_end = true;
  await_compilers();

  has_ended = false;
  set_compiler_wait(nullptr);
  { const CompilerBeside<int> left(slow); }
  EXPECT_TRUE(has_ended) << "no CompilerWait: nothing waits for it at the end of the process";
}

}  // namespace
}  // namespace baton::compiler::compiler_call_test
