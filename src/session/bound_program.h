#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "play/launch_tags.h"
#include "play/player.h"
#include "session/exclusive_use.h"
#include "session/loaded_program.h"
#include "session/memory/program_memory.h"
#include "trace/launch_records.h"

namespace baton {

class SimulatedRun;

// A loaded program with values, memory and a tape of its own; runs it and keeps what came of it.
// One thread at a time.
class BoundProgram {
 public:
  BoundProgram(LoadedProgram program, std::shared_ptr<const LoadedProgramState> state,
               ExecutorKind executor);

  void bind(Bindings given);
  void run(const RunOptions& options);

  // The other calls need a bound program, and throw kInvalidInput without one.
  void set(std::span<const SymbolValue> values);
  void set_memory(std::string_view buffer, const DeviceArray& array);
  void initialise(const Stream& stream);
  void prepare(const Stream& stream);
  void enqueue(const Stream& stream);
  void reset(std::string_view buffer, const Stream& stream);
  void wait(const Stream& stream, const WaitOptions& options);

  void gather_outputs();
  // The world of the last `bind`; before the first one, a world of one rank.
  const World& world() const { return world_; }

  const LoadedProgram loaded;
  RunReport report;
  ProgramMemory::Arrays outputs;
  ThreadGate in_use;

  bool bound() const { return tape_ != nullptr; }
  // Whether work of a run that was stopped is still under way.
  bool still_runs() const noexcept;
  const bind::BufferTable& buffers() const { return memory_.table(); }
  // The number of a buffer. Throws kNotFound.
  std::size_t buffer(std::string_view name) const { return memory_.number_of(name); }
  // Waits, and downloads.
  Array contents(std::string_view buffer) const;
  const std::vector<BoundSymbol>& symbols() const { return symbols_; }
  const std::vector<EdgeReport>& edges() const { return edges_; }
  const std::vector<CollectiveEdgeReport>& collective_edges() const { return collective_edges_; }

 private:
  // Decides the world of a binding, and notes it there.
  void enter_world(Bindings& given);
  // Calls a function on all ranks. An exception ends the run of all of them.
  void in_world(const std::function<void()>& act);
  void end_collectives() noexcept;
  void bind_rank(Bindings given);
  // Once the ranks are known to have bound the same.
  void choose_collectives(const std::vector<BoundSymbol>& symbols, CollectiveExecutor wanted);
  // Once something has been chosen.
  void prepare_epilogues(const std::vector<BoundSymbol>& symbols);
  void keep_groups(const std::vector<BoundSymbol>& symbols);
  bool is_first_of_equal(const ProgramBuffer& buffer, std::uint32_t rank) const;
  void run_rank(const RunOptions& options);
  void wait_for_rank(const Stream& stream, const WaitOptions& options);
  void require_bound(std::string_view call) const;
  // Throws what the program refuses for its values: a write of a weight, an edge that cannot be.
  ResolvedProgram accept(ResolvedProgram resolved) const;
  // Ends what belongs to other parts of the SMs, and waits for it.
  void change_parts(const std::shared_ptr<const SharedParts>& parts);
  // Makes the tape for values whose memory is allocated.
  void take(ResolvedProgram resolved, std::vector<BoundSymbol> symbols);
  // Evaluates again what depends on changed symbols, in place. Returns false if the tape must be
  // rebuilt; then nothing has changed.
  bool update(std::span<const std::int64_t> symbols);
  // The values of a `set` that begins. Throws kNotFound.
  void read_next(std::span<const SymbolValue> values);
  // Throws kInvalidInput if only another binding can change the symbol.
  void require_changeable(std::size_t symbol) const;
  // The tape has other values.
  void note_changes(const bind::TapeChanges& changes);
  // The values now, with other symbols. Throws kInvalidInput if they change a shape.
  ProgramValues values_with(std::vector<BoundSymbol> symbols) const;
  // Whether the setup steps must be executed for the binding: never, if there are none.
  bool needs_setup(const ProgramValues& values, const ProgramMemory::Next& next) const;
  // Executes them and waits.
  void execute_setup(ResolvedProgram resolved, const WaitOptions& limits);
  void play(const RunOptions& options, const SimulatedRun& simulated);
  // Notes work that is still under way after its time limit.
  void note_stop(const Error& failure, const Stream& stream, const play::RunWatch& watch);
  play::PlayTarget target(const Stream& stream);
  // Memory for what the tape's instrumented kernels note; null where none is instrumented.
  trace::LaunchRecords* records() { return is_instrumented_ ? make_records() : nullptr; }
  trace::LaunchRecords* make_records();
  // Whether the collectives of a run go well; null for one rank.
  std::function<void()> watch_collectives(std::function<void()> tick) const;

  const std::shared_ptr<const LoadedProgramState> state_;
  // The members are in the order in which they are made. Memory is freed before the stream and the
  // modules go.
  std::shared_ptr<const SharedParts> parts_;  // of the tape, or null
  const play::LaunchTags tags_;
  const ExecutorKind executor_;
  const bool is_instrumented_;
  Stream stream_;
  std::unique_ptr<play::Player> player_;
  World world_;
  std::vector<world::RankGroup> groups_;          // of the first binding
  std::optional<play::Collectives> collectives_;  // of the first binding's world
  CollectiveExecutor wanted_collectives_ = CollectiveExecutor::kAuto;  // by the first binding
  std::optional<CollectivesReport> collectives_report_;
  ProgramMemory memory_;              // the tape refers to it
  std::unique_ptr<bind::Tape> tape_;  // null: not bound
  std::optional<play::Lanes> lanes_;  // of the tape, made for the first one: others differ in parts
  bind::DecidedByValues decided_by_values_;
  std::optional<bind::TapeUses> uses_;  // of the tape; made by the first `update`
  bind::TapeUpdate update_;
  std::vector<BoundSymbol> symbols_;
  std::vector<std::int64_t> next_symbols_;  // of a `set` that goes on
  std::vector<EdgeReport> edges_;
  std::vector<CollectiveEdgeReport> collective_edges_;
  std::vector<std::string> warnings_;  // of the last `bind`
  std::vector<bool> written_;          // by buffer: whether a step that is executed may write it
  std::uint64_t steps_ = 0;            // of one run
  bool is_set_up_ = false;             // the setup steps were executed for the memory as it is
  std::uint64_t binding_ = 0;          // the number of the last change of the tape
  std::optional<trace::LaunchRecords> records_;  // of instrumented kernels
  std::uint64_t records_of_ = 0;                 // the binding that they are for
  std::optional<Event> stopped_;  // the end of work that a time limit or the user stopped
};

}  // namespace baton
