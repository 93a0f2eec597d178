#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "instructions/golden.h"
#include "instructions/suite.h"

namespace baton::instructions {

// What became of one case.
struct Outcome {
  const Case* one = nullptr;
  std::size_t values = 0;                       // rows compared
  std::size_t mismatches = 0;                   // rows that differ
  std::string detail;                           // the first rows that differ, or why it did not run
  std::optional<Record> record = std::nullopt;  // of what the device gave, where it ran
  bool passed() const { return detail.empty(); }
};

// Runs groups on one device and compares. A case that the device refuses or faults on is an outcome
// of its own: the others run on, on a fresh context, where the device still gives one. Not
// thread-safe.
class Runner {
 public:
  // What Device::open takes.
  explicit Runner(std::string device_spec);
  // Null where the device can be used, else why it cannot, or cannot any more.
  const std::string* unavailable() const { return unavailable_ ? &*unavailable_ : nullptr; }

  std::vector<Outcome> run(const Family& family, const Group& group);

 private:
  struct Context;
  Context& context();
  void reopen(const Case& culprit);
  // Runs cases until one breaks the context; gives how many it ran.
  std::size_t run_some(const std::string& name, const Group& group,
                       std::span<const Case* const> cases, std::vector<Outcome>& outcomes);

  std::string spec_;
  std::optional<std::string> unavailable_;
  std::shared_ptr<Context> context_;
};

}  // namespace baton::instructions
