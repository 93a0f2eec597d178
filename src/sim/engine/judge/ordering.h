#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/simulator.h"

namespace baton::sim {

struct DecodedKernel;

// What comes after what: grids, copies and whatever else is submitted to any device, by the edges
// that streams, events, graphs and waiting hosts make. It does not depend on when anything ran, so
// what is found by it does not depend on the schedule. Thread-safe.
//
// A grid with a programmatic edge begins before the earlier grid is done, and is ordered after it
// in those threads that griddepcontrol.wait let go. At its beginning it is ordered after what every
// block of the earlier grid was ordered after when it triggered. A grid of which no thread waits
// may be done before its prerequisites are: who waits for it alone is not ordered after them.
//
// A stream's wait for a value in memory comes after what wrote the value, which may have been
// submitted later than the wait. That edge is added when the wait ends.
//
// A conditional node is one operation, and those that its turns submit are inside of it. To all
// that is outside they lie as the conditional lies, whatever their numbers are. A turn begins when
// the one before it is done.
class Ordering {
 public:
  static Ordering& instance();  // never destroyed

  // Numbers count up from 1 in the order of submission. Only the last kRemembered are known;
  // earlier ones count as ordered before everything.
  using Number = std::uint64_t;
  static constexpr std::size_t kRemembered = 65536;

  enum class Kind : std::uint8_t {
    kFull,       // after the earlier one is done
    kTriggered,  // after it triggered; griddepcontrol.wait waits until it is done
    kBegun,      // after it began; likewise
    kLoose,      // after it began, and nothing more
  };
  struct Edge {
    Number from = 0;
    Kind kind = Kind::kFull;
  };
  // What was submitted, as far as findings tell of it.
  struct Operation {
    std::string name;  // "copy", "fill", "free", a kernel's name
    std::shared_ptr<const DecodedKernel> kernel = nullptr;  // null for what is not a grid
    std::array<std::uint32_t, 3> blocks = {};
    std::array<std::uint32_t, 3> threads = {};                 // of a block
    std::shared_ptr<const driver::LaunchNote> note = nullptr;  // null: without one
    int device = -1;                                           // ordinal
  };

  // Where an operation is that a conditional's turn submits.
  struct Inside {
    Number conditional = 0;  // 0: it is outside of all
    Number turn = 0;         // what is inside up to this number was done before the turn
  };

  Number add(std::span<const Edge> after, Operation operation);
  // The edges come from the same turn.
  Number add(std::span<const Edge> after, Operation operation, const Inside& inside);
  // The host knows that it is done: all that is submitted from now on comes after it.
  void host_learns(Number done);

  // A stream's wait ended by values that these wrote. Without any, the host may have written them:
  // the wait comes after what the host knows to be done.
  void came_after(Number wait, std::span<const Number> writers);

  // Some thread of the grid returned from griddepcontrol.wait.
  void note_wait(Number grid);
  // Some block of the grid let dependents start before it was ordered after its prerequisites.
  void note_early_trigger(Number grid);

  enum class Relation : std::uint8_t {
    kUnknown,
    kBefore,   // done before the grid began
    kAwaited,  // done for threads that waited, or are ordered after one that did
    kNone,
  };
  // How `earlier` lies to `grid`.
  Relation relation(Number grid, Number earlier) const;
  // Grids without a wait on the way from `grid` to `earlier`, the nearest first: had they waited,
  // `grid` would be ordered after `earlier`. Empty where nothing leads there.
  std::vector<Number> missing_links(Number grid, Number earlier) const;

  // Empty where it is no longer known, or done before all that can still be submitted or run.
  Operation operation(Number number) const;

  // The ordinal of its device; -1 where the operation is no longer known.
  int device(Number number) const;

  Number last() const;

 private:
  struct Node {
    std::vector<Edge> after;
    Operation operation;
    Number floor = 0;  // everything up to it was done before this began
    Inside inside;
    bool waited = false;
    bool early_trigger = false;
  };
  struct Search;

  const Node* find(Number number) const;
  Number conditional_of(Number number) const;
  bool to_one_level(Number* grid, Number* earlier) const;
  bool reaches(Number grid, Number earlier, bool waits, bool all_wait,
               std::vector<Number>* links) const;
  Number add(std::span<const Edge> after, Operation operation, bool is_host);

  // What was found of two operations. It stays, but for what a wait since may have added to it.
  struct Found {
    Relation relation = Relation::kUnknown;
    std::uint64_t waits = 0;
  };

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, Found> found_;
  std::uint64_t waits_ = 1;  // and early triggers, that were noted
  std::deque<Node> nodes_;
  std::set<Number> upward_;  // waits that come after something which was submitted later
  Number first_ = 1;         // of nodes_
  Number host_ = 0;
  Number forgotten_before_ = 0;  // operations before it are empty
};

}  // namespace baton::sim
