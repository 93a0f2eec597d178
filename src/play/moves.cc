#include "play/moves.h"

#include "base/error.h"
#include "base/overloaded.h"

namespace baton::play {

std::uint64_t bytes_moved(const bind::TapeCopy& copy, const bind::BufferTable&) {
  return 2 * copy.values.bytes;
}

std::uint64_t bytes_moved(const bind::TapeFill& fill, const bind::BufferTable& buffers) {
  return buffers[fill.planned->buffer].bytes;
}

std::uint64_t bytes_moved(const bind::TapeCollective& step, const bind::BufferTable&) {
  std::uint64_t bytes = 0;
  bind::for_each_access(*step.planned, step.values,
                        [&](const bind::BufferAccess& access) { bytes += access.bytes; });
  return bytes;
}

void enqueue(const bind::TapeCopy& copy, const bind::BufferTable& buffers, const Stream& stream) {
  buffers[copy.planned->to].memory->copy_from(*buffers[copy.planned->from].memory,
                                              copy.values.bytes, copy.values.from, copy.values.to,
                                              stream);
}

void enqueue(const bind::TapeFill& fill, const bind::BufferTable& buffers, const Stream& stream) {
  const bind::BoundBuffer& buffer = buffers[fill.planned->buffer];
  buffer.memory->fill(fill.values.bits, static_cast<unsigned>(buffer.element_size()),
                      static_cast<std::size_t>(buffer.elements), 0, stream);
}

void add_to(TapeGraph& graph, const bind::TapeCopy& copy, const bind::BufferTable& buffers) {
  graph.add_copy(buffers[copy.planned->to].address() + copy.values.to,
                 buffers[copy.planned->from].address() + copy.values.from, copy.values.bytes);
}

void add_to(TapeGraph& graph, const bind::TapeFill& fill, const bind::BufferTable& buffers) {
  const bind::BoundBuffer& buffer = buffers[fill.planned->buffer];
  graph.add_fill(buffer.address(), fill.values.bits, static_cast<unsigned>(buffer.element_size()),
                 static_cast<std::uint64_t>(buffer.elements));
}

StepReport::Kind report_kind(const bind::PlannedStep& step) {
  return std::visit(
      Overloaded{[](const bind::PlannedLaunch&) { return StepReport::Kind::kLaunch; },
                 [](const bind::PlannedCopy&) { return StepReport::Kind::kCopy; },
                 [](const bind::PlannedFill&) { return StepReport::Kind::kFill; },
                 [](const bind::PlannedCollective&) { return StepReport::Kind::kCollective; },
                 [](const auto&) -> StepReport::Kind {
                   throw error(ErrorCode::kInternal, "a group of steps has no row in a report");
                 }},
      step.action);
}

}  // namespace baton::play
