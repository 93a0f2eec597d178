#pragma once

// Sparse propagation of constants and ranges along what a thread can reach.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/thread.h"
#include "pdl/value/value.h"
#include "ptx/dataflow.h"

namespace baton::overlap {

// Restricts what is followed to threads that have passed no wait (signals.h).
class EarlyThreads {
 public:
  virtual ~EarlyThreads() = default;
  // Whether a thread that comes there is after a wait.
  virtual bool is_behind(std::uint32_t operation) const = 0;
  // Whether a thread that has executed the operation is after a wait.
  virtual bool holds(std::uint32_t operation) const = 0;
  // The value that the operation gives each thread that no wait comes before. `follower` knows the
  // operands. Nothing: the value is not known.
  virtual std::optional<std::uint64_t> value_of(std::uint32_t operation,
                                                const class Follower& follower) const = 0;
};

// Operations and branches count once they can be reached. What an operation reads has by then been
// written on the way there, or is unset, which may hold anything. Refers to its arguments.
class Follower {
 public:
  using Value = overlap::Value;
  using Solver = ptx::SparseSolver<Follower>;
  enum class Guard : std::uint8_t { kTrue, kFalse, kEither };

  // `wanted`: the values that are followed, by value of Code; the others may hold anything.
  Follower(const Code& code, const KnownThread& thread, const std::vector<bool>& wanted);
  // Those that decide where threads go, and which signals they give.
  Follower(const Code& code, const KnownThread& thread) : Follower(code, thread, code.deciding) {}
  // Follows some of the threads, or a part of what they do. `everything`: what all threads of their
  // warp do. `early`: they have passed no wait; null: they may be.
  Follower(const Code& code, const KnownThread& thread, const Follower& everything,
           const EarlyThreads* early = nullptr);

  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  const Code& code() const { return code_; }
  const std::vector<Value>& values() const { return values_; }  // by register
  bool is_reached(std::uint32_t at) const { return reached_[at]; }
  // Whether the thread may execute the operation.
  bool may_execute(std::uint32_t at) const {
    return reached_[at] && guard(code_.operations[at]) != Guard::kFalse;
  }
  Guard guard(const Operation& operation) const;
  // Where the thread may go on.
  std::span<const std::uint32_t> followers(const Operation& operation) const;
  Value of(const ValueSource& source) const;
  std::uint64_t evaluations() const { return evaluations_; }  // of operations

  void evaluate(std::uint32_t at, Solver& solver) const;
  // Ranges grow to their hull, a few times.
  static bool widen(Value& old, const Value& value, std::uint32_t changes);

 private:
  void run();
  void give_up_parts();
  bool may_tell_more(const Operation& operation) const;
  void define(std::uint32_t at, Solver& solver) const;
  Value special(SpecialRegister name) const;
  Value of_warp(std::size_t index) const;
  Value lane() const;
  Value result(std::uint32_t at) const;
  bool elects(const Operation& operation) const;
  std::optional<Value> of_all_lanes(std::uint32_t at) const;
  bool joins_others(std::uint32_t at) const;
  std::optional<Value> selected(const Operation& operation) const;
  Value passed(const Operation& operation) const;
  Value loaded(const Operation& operation) const;
  Value field(const Operation& operation) const;

  const Code& code_;
  const KnownThread& thread_;
  const std::vector<bool>& wanted_;
  const EarlyThreads* const early_ = nullptr;
  const Follower* const everything_ = this;
  std::vector<Value> values_;  // by register
  std::vector<bool> reached_;  // by operation
  std::uint64_t evaluations_ = 0;
};

}  // namespace baton::overlap
