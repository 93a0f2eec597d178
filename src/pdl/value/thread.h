#pragma once

// What one thread of a kernel certainly does, given what is known of its indexes and of the
// kernel's arguments. An index that may be any of the launch's is a range.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/value.h"

namespace baton::overlap {

inline constexpr std::uint32_t kWarpThreads = 32;

struct KnownThread {
  std::optional<std::array<std::uint32_t, 3>> tid = {{0, 0, 0}};
  std::optional<std::uint32_t> warp;  // where `tid` is not known; nothing: any of the block
  bool leads = false;                 // it is the one that elect.sync elects of its whole warp
  std::optional<std::array<std::uint32_t, 3>> block;     // extents
  std::optional<std::array<std::uint32_t, 3>> grid;      // extents
  std::optional<std::array<std::uint32_t, 3>> index;     // of the block; nothing: any
  std::span<const std::optional<std::uint64_t>> params;  // values of scalars, by index
  // Numbers in structs: what a load of so many bits at that byte of the parameter gives, without a
  // sign, or nothing. May be empty.
  std::function<std::optional<std::uint64_t>(std::uint32_t param, std::int64_t byte,
                                             unsigned width)>
      fields;
};

// Where all threads meet that have not ended: barrier 0 of their block, or the barrier of their
// cluster.
enum class Meeting : std::uint8_t { kBlock, kCluster };

// Whether the thread arrives there, and whether it is after the others' arrivals then.
bool arrives_at(Meeting meeting, const Operation& operation);
bool passes(Meeting meeting, const Operation& operation);

// Of a thread, and of an operation that it executes: its wait, or another.
struct MeetingFacts {
  // How often at the most the thread arrives there before the operation; kNone: there is no
  // telling.
  std::uint32_t arrivals_before = kNone;
  // It always executes the operation, and arrives there after that before it ends. What the other
  // threads pass when it has ended orders nothing.
  bool meets_others = false;
};

struct ThreadFacts {
  bool always_executes = false;        // on every path that ends the thread without an error
  std::vector<MeetingFacts> meetings;  // as asked for
};

// Whether an operation is the one in question.
using Landmark = std::function<bool(const Operation&)>;
bool is_wait(const Operation& operation);

ThreadFacts follow_thread(const Code& code, const KnownThread& thread,
                          std::span<const Meeting> meetings = {},
                          const Landmark& landmark = is_wait);

// By register: what it may hold, over all times that such a thread has it.
std::vector<Value> find_values(const Code& code, const KnownThread& thread);

// By operation: whether the thread may come there without passing one of `stops`.
std::vector<bool> find_reachable_unordered(const Code& code, const KnownThread& thread,
                                           const std::vector<bool>& stops);

}  // namespace baton::overlap
