#pragma once

// Gives symbols of a bound program other values, and evaluates again only what depends on them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "bind/plan.h"
#include "bind/tape.h"
#include "bind/tape_changes.h"

namespace baton::bind {

// What was decided by the values of launches, so that other values take a new decision.
struct DecidedByValues {
  std::vector<bool> arguments;    // by launch: by its arguments and its grid
  std::set<std::uint32_t> moves;  // leaves: by the places of a copy, a fill or a collective
  bool configs = false;           // by the grid or the shared memory of any launch
  bool collectives = false;       // by the values of any collective
};

// The parts of a settled tape that depend on symbols. Refers to the tape and to its plan.
class TapeUses {
 public:
  // Goes through the tape once.
  TapeUses(const Plan& plan, std::size_t symbols, Tape& tape, const DecidedByValues& decided);

 private:
  friend class TapeUpdate;
  class Builder;

  // Arguments that depend on one symbol: those of one execution, or those that all executions of
  // the launch share.
  struct Arguments {
    const TapeLaunch* launch = nullptr;
    std::vector<std::uint32_t> numbers;
    std::uint32_t context = 0;
    bool shared = false;  // by all executions of the launch
  };
  struct Config {
    const PlannedLaunch* launch = nullptr;
    LaunchSite* site = nullptr;
    std::uint32_t context = 0;
  };
  template <typename Planned>
  struct Move {
    TapeMove<Planned>* move = nullptr;
    std::uint32_t context = 0;
  };
  struct Users {
    bool is_fixed = false;  // a change of the symbol takes a new tape
    std::vector<Config> configs;
    std::vector<Arguments> arguments;
    std::vector<std::variant<Move<PlannedCopy>, Move<PlannedFill>, Move<PlannedCollective>>> moves;
  };

  std::vector<Users> symbols_;  // by symbol
  // Values of all slots at a step: those of symbols, then the indexes of the groups around it.
  std::vector<std::vector<std::int64_t>> contexts_;
};

// New values, evaluated and checked. The tape keeps the old ones until `commit`. Memory is used
// again by the next values.
class TapeUpdate {
 public:
  // `symbols`: the new values, in the program's order. The shapes and the memory of buffers stay
  // the same. Returns false if the program must be bound anew: a count of a repeat or a while, the
  // shape of a block or an attribute depends on what changes, a grid becomes empty or ceases to be,
  // edges were judged by what changes, a kernel between peers has something or nothing to do, or a
  // new value is wrong.
  bool evaluate(const Tape& tape, TapeUses& uses, std::span<const std::int64_t> symbols,
                const BufferTable& buffers);

  // Gives the tape the values that were evaluated. Throws what the driver throws for a config that
  // it refuses. The tape is not usable then.
  void commit(Tape& tape);

  const TapeChanges& changes() const { return changes_; }

 private:
  struct Bytes {
    void* target = nullptr;
    std::uint32_t size = 0;
  };
  struct NewConfig {
    LaunchSite* site = nullptr;
    LaunchForm* form = nullptr;
    LaunchConfig config;
  };
  template <typename Planned>
  struct NewMove {
    TapeMove<Planned>* move = nullptr;
    typename Planned::Values values;
  };

  void clear();
  void evaluate(const TapeUses::Arguments& use, Slots slots, const BufferTable& buffers);
  // Returns whether the tape stays as it is but for the config.
  bool evaluate(const TapeUses::Config& use, Slots slots, const BufferTable& buffers);
  // Returns whether the same executes it as before: edges were judged for that.
  template <typename Planned>
  bool evaluate(const Tape& tape, const TapeUses::Move<Planned>& use, Slots slots,
                const BufferTable& buffers) {
    changes_.moves = true;
    TapeMove<Planned> next{use.move->planned, bind::evaluate(*use.move->planned, slots, buffers)};
    const bool stays = tape.is_kernel(next) == tape.is_kernel(*use.move);
    moves_.push_back(NewMove<Planned>{use.move, std::move(next.values)});
    return stays;
  }

  TapeChanges changes_;
  std::vector<std::int64_t> symbols_;
  std::vector<Bytes> targets_;
  std::vector<std::byte> bytes_;  // of all targets
  std::vector<NewConfig> configs_;
  std::vector<std::variant<NewMove<PlannedCopy>, NewMove<PlannedFill>, NewMove<PlannedCollective>>>
      moves_;
};

}  // namespace baton::bind
