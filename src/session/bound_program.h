#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "play/launch_tags.h"
#include "play/player.h"
#include "session/loaded_program.h"

namespace baton {

// A loaded program with values, memory and a tape of its own; runs it and keeps what came of it.
// One thread at a time.
class BoundProgram {
 public:
  BoundProgram(LoadedProgram program, std::shared_ptr<const LoadedProgramState> state,
               ExecutorKind executor);

  void bind(Bindings given);
  void run(const RunOptions& options);

  const LoadedProgram loaded;
  RunReport report;
  std::map<std::string, Array, std::less<>> outputs;

  bool bound() const { return tape_ != nullptr; }
  // Whether work of a run that was stopped is still under way.
  bool still_runs() const noexcept;
  const bind::BufferTable& buffers() const { return *buffers_; }
  const std::vector<BoundSymbol>& symbols() const { return symbols_; }
  const std::vector<EdgeReport>& edges() const { return edges_; }

 private:
  using Contents = std::map<std::string, Array, std::less<>>;  // by buffer

  // Gives the bound program other values where its tape and its memory can stay. Returns whether
  // they could; if not, nothing has changed.
  bool rebind(ProgramValues& values, Bindings& given);

  // Reads the files that the program names, and checks them and the given arrays against the
  // buffers. A weight that stays is not read.
  Contents read_contents(Bindings& given, const bind::BufferTable& table) const;
  // Whether the weight that is bound now is the one that a new table wants.
  bool stays(const bind::BoundBuffer& wanted, const Bindings& given) const;
  void allocate(bind::BufferTable& table, const std::vector<bool>& kept);
  // The memory of the variable that the buffer is.
  Memory variable(const bind::BoundBuffer& buffer) const;
  const Array* contents(const ProgramBuffer& buffer) const;
  // Weights are uploaded by `bind`, everything else by each run.
  void initialise(bool weights, const std::vector<bool>& kept);
  void play(const RunOptions& options);
  void download(const play::RunWatch& watch);
  void note_unwritten();

  const std::shared_ptr<const LoadedProgramState> state_;
  // The members are in the order in which they are made. Memory is freed before the stream and the
  // modules go.
  const play::LaunchTags tags_;
  Stream stream_;
  std::unique_ptr<play::Player> player_;
  std::unique_ptr<bind::BufferTable> buffers_;  // the tape refers to it
  std::unique_ptr<bind::Tape> tape_;            // null: not bound
  bind::DecidedByValues decided_by_values_;
  std::optional<bind::TapeUses> uses_;  // of the tape; made by the first `rebind`
  std::vector<BoundSymbol> symbols_;
  std::vector<EdgeReport> edges_;
  std::vector<std::string> warnings_;  // of the last `bind`
  std::vector<bool> written_;          // by buffer: whether a step that is executed may write it
  std::uint64_t steps_ = 0;            // of one run
  std::uint64_t seed_ = 0;
  std::uint64_t binding_ = 0;  // the number of the last `bind`
  Contents contents_;
  std::vector<bool> given_weights_;  // by buffer: its contents came with the last `bind`
  bool stopped_ = false;             // the last run, by its time limit or its user
};

}  // namespace baton
