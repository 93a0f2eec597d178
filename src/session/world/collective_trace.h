#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "session/loaded_program.h"

namespace baton {

// Steps that follow one another and exchange equal contents.
struct EqualExchanges {
  std::string where;    // of the step
  std::string content;  // "all_reduce x (sum of 4 f32)"; of a message "4 f32"
  std::uint64_t times = 0;

  friend bool operator==(const EqualExchanges&, const EqualExchanges&) = default;
};

// In the order of a run. Unknown where it is too long, or where values decide it that a bind does
// not know.
class ExchangeSequence {
 public:
  bool is_known() const { return is_known_; }
  const std::vector<EqualExchanges>& runs() const { return runs_; }

  void add(EqualExchanges run);
  void append(const ExchangeSequence& other, std::uint64_t times);
  void forget();

 private:
  std::vector<EqualExchanges> runs_;
  bool is_known_ = true;
};

// What one rank exchanges in a run.
struct CollectiveTrace {
  std::vector<ExchangeSequence> groups;  // by the number of the group: all steps but messages
  // By the other rank's number in the world.
  std::map<std::uint32_t, ExchangeSequence> sent, received;
  bool knows_messages = true;
};

// Follows the program's repeats with the values of the symbols. Each if and while counts as
// executed once. Throws what the evaluation of the steps throws.
CollectiveTrace trace_collectives(const LoadedProgramState& state, const ProgramValues& values);

}  // namespace baton
