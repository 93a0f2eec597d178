#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "session/loaded_program.h"

namespace baton {

// Steps that follow one another and exchange equal contents.
struct TracedRun {
  std::string where;    // of the step
  std::string content;  // "all_reduce x (sum of 4 f32)"; of a message "4 f32"
  std::uint64_t times = 0;

  friend bool operator==(const TracedRun&, const TracedRun&) = default;
};

// In the order of a run. Unknown where it is too long, or where values decide it that a bind does
// not know.
class TracedSequence {
 public:
  bool is_known() const { return is_known_; }
  const std::vector<TracedRun>& runs() const { return runs_; }

  void add(TracedRun run);
  void append(const TracedSequence& other, std::uint64_t times);
  void forget();

 private:
  std::vector<TracedRun> runs_;
  bool is_known_ = true;
};

// What one rank exchanges in a run.
struct CollectiveTrace {
  std::vector<TracedSequence> groups;  // by the number of the group: all steps but messages
  // By the other rank's number in the world.
  std::map<std::uint32_t, TracedSequence> sent, received;
  bool knows_messages = true;
};

// Follows the program's repeats with the values of the symbols. Each if and while counts as
// executed once. Throws what the evaluation of the steps throws.
CollectiveTrace trace_collectives(const LoadedProgramState& state, const ProgramValues& values);

}  // namespace baton
