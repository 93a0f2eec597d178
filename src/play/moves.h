#pragma once

// How a copy or a fill of a tape is sent, and what it, or a collective, moves.

#include <cstdint>

#include "baton/report.h"
#include "bind/tape.h"
#include "play/tape_graph.h"

namespace baton::play {

// The bytes that the step reads and writes. Zero: there is nothing to send.
std::uint64_t bytes_moved(const bind::TapeCopy& copy, const bind::BufferTable& buffers);
std::uint64_t bytes_moved(const bind::TapeFill& fill, const bind::BufferTable& buffers);
std::uint64_t bytes_moved(const bind::TapeCollective& step, const bind::BufferTable& buffers);

// Throw the driver's errors.
void enqueue(const bind::TapeCopy& copy, const bind::BufferTable& buffers, const Stream& stream);
void enqueue(const bind::TapeFill& fill, const bind::BufferTable& buffers, const Stream& stream);
void add_to(TapeGraph& graph, const bind::TapeCopy& copy, const bind::BufferTable& buffers);
void add_to(TapeGraph& graph, const bind::TapeFill& fill, const bind::BufferTable& buffers);

// How reports call a step. A group has no row of its own.
StepReport::Kind report_kind(const bind::PlannedStep& step);

}  // namespace baton::play
