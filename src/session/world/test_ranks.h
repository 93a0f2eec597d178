#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/test_program.h"
#include "world/test_ranks.h"

// Programs of several ranks: a simulated GPU and a thread for each.

namespace baton::session_test {

// The work of one rank with its device in its world.
using Rank = std::function<void(const Device& device, const World& world)>;

// Devices of one kind, which ranks must have.
inline Device device_of(std::uint32_t rank) {
  return Device::open(rank == 0 ? "sim:tiny" : "sim:tiny:" + std::to_string(rank));
}

// Runs the ranks, and returns the error that each threw.
inline std::vector<std::optional<Error>> on_ranks(std::uint32_t ranks, const Rank& act) {
  auto failures = world::on_ranks(ranks, [&](const World& world) {
    try {
      act(device_of(world.rank()), world);
    } catch (const Error& failure) {
      throw Error(world.fail(failure));
    }
  });
  // A kernel that faulted or was stopped leaves its context in an error.
  for (std::uint32_t rank = 0; rank < ranks; ++rank) device_of(rank).recover();
  return failures;
}

inline void expect_none(const std::vector<std::optional<Error>>& failures) {
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->what();
}

// All ranks end with one error.
inline Error one_error(const std::vector<std::optional<Error>>& failures) {
  for (const auto& failure : failures) {
    EXPECT_TRUE(failure.has_value());
    if (!failure) return Error(ErrorCode::kInternal, "");
    EXPECT_STREQ(failure->what(), failures[0]->what());
  }
  return *failures[0];
}

inline Bindings bindings_of(const World& world) {
  Bindings bindings;
  bindings.world = world;
  return bindings;
}

// A bound and run executable.
inline Executable ran(const std::string& text, const Device& device, const World& world,
                      Bindings bindings = {}, ExecutorKind executor = ExecutorKind::kStream) {
  PrepareOptions options;
  options.executor = executor;
  Executable executable = Executable::prepare(program(text), device, options);
  bindings.world = world;
  executable.bind(std::move(bindings));
  executable.run();
  return executable;
}

// What a simulated rank 0 refuses. These tests run so wherever the others of this room run.
inline Error refused(const std::string& text, Bindings bindings) {
  return refusal_on([] { return device_of(0); }, text, std::move(bindings));
}

inline const std::string kWorld = "[world]\n";

inline std::string step(const std::string& text) {
  return "[[steps]]\n" + text + "\n";
}

// Tests of both executors.
class Executors : public ::testing::TestWithParam<ExecutorKind> {};
inline std::string executor_name(const ::testing::TestParamInfo<ExecutorKind>& each) {
  return each.param == ExecutorKind::kGraph ? "Graph" : "Stream";
}

}  // namespace baton::session_test
