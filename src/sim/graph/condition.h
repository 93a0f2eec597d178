#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace baton::sim {

// The value that kernels set, by its handle.
struct ConditionValue {
  explicit ConditionValue(int device) : ordinal(device) {}

  const int ordinal;  // of the device whose kernels may set it
  std::atomic<unsigned> value{0};
};

// The value by which a conditional node decides. Graphs that have it, their instances and what is
// under way of them share it; its handle is of no use after that.
struct SimCondition {
  SimCondition(int ordinal, unsigned initial_value, bool assigned);
  ~SimCondition();
  SimCondition(const SimCondition&) = delete;
  SimCondition& operator=(const SimCondition&) = delete;

  const std::shared_ptr<ConditionValue> value;
  const unsigned initial;
  const bool is_assigned;  // it gets the initial value when a launch of its graph begins
  bool has_node = false;
  const CUgraphConditionalHandle handle;
};

// What callers hold is a number (CUgraphConditionalHandle); a table of handles wants a pointer.
using ConditionHandle = const struct ConditionTag*;

inline ConditionHandle to_handle(CUgraphConditionalHandle number) {
  return reinterpret_cast<ConditionHandle>(static_cast<std::uintptr_t>(number));
}

}  // namespace baton::sim
