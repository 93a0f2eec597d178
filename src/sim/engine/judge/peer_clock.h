#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/engine/judge/cluster_times.h"
#include "sim/engine/judge/ordering.h"

namespace baton::sim {

// What is known by flags of grids that run meanwhile, on any device: which segments of their warps
// are over. What comes before one of the grids is known as well (ordering.h). Immutable: a copy
// costs a pointer. Empty: nothing is known.
class PeerClock {
 public:
  struct Grid {
    Ordering::Number number = 0;
    bool has_waited = false;  // so had a thread that told it: what the grid waits for was done
    ClusterTimes over;
  };

  PeerClock() = default;
  explicit PeerClock(Grid grid);

  bool empty() const { return grids_ == nullptr; }
  void clear() { grids_.reset(); }
  void merge(const PeerClock& other);
  // Forgets grids that were done before the operation began, which is known without flags.
  void drop_before(Ordering::Number operation);
  // Whether this knows all that the other one knows.
  bool covers(const PeerClock& other) const;
  // By number.
  std::span<const Grid> grids() const {
    return grids_ == nullptr ? std::span<const Grid>() : std::span<const Grid>(*grids_);
  }

 private:
  std::shared_ptr<const std::vector<Grid>> grids_;
};

// What a warp knows of grids of its own and of other devices. A copy costs a pointer.
class PeerKnowledge {
 public:
  struct Parts {
    PeerClock known;
    // What flags told that do not count, as the scope of the writer or of the reader leaves out the
    // other one's device. A race that this would have ordered has a name of its own.
    PeerClock narrow;
    // What flags that were read without an acquire add after a fence: of the scope of the system,
    // and of the device.
    PeerClock seen, seen_on_device, seen_narrow;
    // What a flag that is written without a release tells, by a fence before: of the scope of the
    // system, and of the device.
    PeerClock released, released_on_device;
  };

  bool empty() const { return parts_ == nullptr; }
  void clear() { parts_.reset(); }
  const Parts& parts() const {
    static const Parts kNone;
    return parts_ == nullptr ? kNone : *parts_;
  }
  template <class Change>
  void change(Change change) {
    auto changed = std::make_shared<Parts>(parts());
    change(*changed);
    parts_ = std::move(changed);
  }
  void merge(const PeerKnowledge& other) {
    if (other.parts_ == nullptr || other.parts_ == parts_) return;
    if (parts_ == nullptr) {
      parts_ = other.parts_;
    } else if (!covers(other)) {
      merge_parts(other.parts());
    }
  }
  bool covers(const PeerKnowledge& other) const;

 private:
  void merge_parts(const Parts& other);

  std::shared_ptr<const Parts> parts_;
};

}  // namespace baton::sim
