#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/stream.h"
#include "play/node_updates.h"
#include "play/player.h"
#include "play/tape_graph.h"

namespace baton::play {

// What is to be known of a graph's steps once they run.
struct GraphLayout {
  std::vector<std::uint32_t> rows;    // of the report, by launch that is a node
  std::vector<std::uint32_t> idle;    // of the report, by step for which there is nothing to do
  bind::RunStep first;                // of the steps that are nodes
  std::vector<bind::RunStep> places;  // all of them, where there are marks; conditions stand for
                                      // the steps in them
  std::vector<std::size_t> marks;     // how many of the places each event ends
  std::uint64_t steps = 0;            // those that are not nodes too
};

struct GraphLayoutRequest {
  const PlayTarget& context;
  const PlayContext* run;      // has the log; null: nothing is logged
  TapeGraph* graph;            // null: the graph exists already
  DeviceTests* tests;          // of a tape with conditions; else null
  std::uint64_t stride;        // steps between marks; 0: no marks
  std::vector<Event>& events;  // for the marks; made as needed
  NodeUpdates& nodes;          // gets the launches of a graph that is made
};

// Lays a tape out as a graph, or, if the graph exists already, goes through it for the log alone.
// Throws the errors of the steps, and of the run's watch.
GraphLayout lay_out(const GraphLayoutRequest& request);

// The conditions of a walk over the tape.
std::size_t count_conditions(bind::Tape& tape);
// Logs the conditions of a run that is done, and the steps in them. `counts`: how often the steps
// of each were executed, by number.
void log_conditions(const PlayContext& context, DeviceTests& tests,
                    const std::vector<std::uint64_t>& counts);

}  // namespace baton::play
