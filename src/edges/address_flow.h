#pragma once

// Which memory of a program may hold addresses of buffers that its kernels stored, or what was
// computed from several. A kernel that loads from other memory alone loads no such values.
//
// The rule is by time. As long as no kernel has loaded such a value from memory that is not listed,
// each kernel has stored what its analysis says. So none is the first to load one, if the list is
// closed: a step that may get such a value may leave it wherever it writes.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pdl/footprint/bound.h"

namespace baton::edges {

using MemoryNames = std::function<const std::string&(overlap::MemoryId)>;

// Memory by its name, which another judge of the same program gives it, too.
class KeptAddresses {
 public:
  static KeptAddresses anywhere();

  bool is_empty() const { return !anywhere_ && names_.empty(); }
  bool may_be_in(const std::string& name) const { return anywhere_ || names_.contains(name); }
  // Whether the launch may load from such memory.
  bool may_reach(const overlap::BoundLaunch& launch, const MemoryNames& names) const;

  friend bool operator==(const KeptAddresses&, const KeptAddresses&) = default;

 private:
  friend class AddressFlow;
  bool anywhere_ = false;
  std::set<std::string> names_;
};

// Follows addresses through the steps of a program. A step may pass all that it reads to all that
// it writes.
class AddressFlow {
 public:
  // What decides whether a step is executed: memory that conditions around it test. That the step
  // wrote something tells what is there.
  using Tested = std::span<const overlap::MemoryId>;

  // An execution of a launch. `receives`: it may also get what other devices have stored.
  void add(const overlap::BoundLaunch& launch, Tested tested = {}, bool receives = false);
  // An access of a step other than a launch. `step` is the same for all accesses of one.
  void add(const void* step, overlap::MemoryId memory, bool writes, Tested tested = {},
           bool receives = false);
  // A step whose accesses are not known. Does nothing for one that has some.
  void add(const void* step);

  // `kept`, and all memory that may hold such values if that does.
  KeptAddresses spread(KeptAddresses kept, const MemoryNames& names) const;

 private:
  struct Step {
    bool leaves = false;      // addresses that it knows
    bool reads_any = false;   // also memory that is not known
    bool writes_any = false;  // the same
    std::set<overlap::MemoryId> reads, writes;

    friend auto operator<=>(const Step&, const Step&) = default;
  };

  std::set<Step> launches_;
  // What the last execution of each launch touched, and by which footprint.
  struct Last {
    const overlap::Footprint* footprint = nullptr;
    std::vector<overlap::MemoryId> touched;

    friend bool operator==(const Last&, const Last&) = default;
  };
  std::map<std::uint32_t, Last> last_;
  std::map<const void*, Step> others_;
};

}  // namespace baton::edges
