#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bind/buffers.h"
#include "bind/slots.h"

namespace baton::bind {

// The test of an if or a while with its buffer and names resolved. It looks at the first element of
// the buffer.
struct PlannedTest {
  struct Values {
    std::uint64_t at_most = 1;  // executions of the steps
    std::uint64_t unroll = 1;   // of a while: iterations in one turn of a graph's loop
  };

  std::uint32_t buffer = 0;
  std::optional<BoundExpression> at_most, unroll;  // of a while; an if has neither

  bool is_loop() const { return at_most.has_value(); }
};

PlannedTest plan_test(const IfStep& step, const NameSlots& names, const BufferTable& buffers);
PlannedTest plan_test(const WhileStep& step, const NameSlots& names, const BufferTable& buffers);
// "if go", "while go".
std::string label_of(const IfStep& step);
std::string label_of(const WhileStep& step);
bool uses_slot(const PlannedTest& test, std::size_t slot);
// Throws kInvalidInput for a buffer without elements and for counts out of range.
PlannedTest::Values evaluate(const PlannedTest& test, Slots slots, const BufferTable& buffers);

}  // namespace baton::bind
