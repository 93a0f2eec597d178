#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/judge/access_notes.h"
#include "sim/engine/judge/peer_clock.h"

namespace baton::sim {

// Order between grids of several devices that passes through flags in memory: a thread releases a
// flag, and a thread of another device acquires it, both with the scope of the system (PTX ISA 9.0,
// "Scope" and "Release and Acquire Patterns"). Unlike between grids of one device (flags.h), it is
// known which accesses a release comes after. Of the whole process; thread-safe.
class PeerOrder {
 public:
  static PeerOrder& instance();  // never destroyed

  // Some device may access the memory of another one from now on. Before that nothing is followed.
  void begin() { active_.store(true, std::memory_order_release); }
  bool is_active() const { return active_.load(std::memory_order_acquire); }

  // Who writes a flag. A strong write of another warp begins anew.
  struct Writer {
    int device = 0;
    Ordering::Number grid = 0;
    std::uint64_t cluster = 0;
    std::uint32_t warp = 0;
    bool operator==(const Writer&) const = default;
  };
  // The flag now tells `all` to every device, and `device` to that of the writer. An update adds to
  // what the flag told before.
  void tell(std::uint64_t flag, const Writer& writer, bool updates, const PeerClock& all,
            const PeerClock& device);
  // What a reader of the flag is told: by all devices, by its own one, and by what does not count.
  struct Told {
    PeerClock all, device, narrow;
  };
  // `for_system`: the scope of the read.
  Told told(std::uint64_t flag, int device, bool for_system) const;

  // The grid executes strong accesses by an instruction, by its number among touchers, whose scope
  // has no other device.
  void note_narrow(Ordering::Number grid, std::uint32_t insn);
  bool is_narrow(Ordering::Number grid, std::uint32_t insn) const;

  // A thread of the grid learned that. `has_waited`: and had waited for what its grid waits for.
  void learn(Ordering::Number grid, bool has_waited, const PeerClock& told);
  // What threads of the operation know from its beginning, or from its wait on, as grids that were
  // done before it had learned it.
  PeerClock inherited(Ordering::Number number, bool has_waited) const;

  // Whether the accesses by `other` of these bytes come before who knows the clock.
  static bool comes_after(const PeerClock& clock, Ordering::Number other, bool other_writes,
                          const AccessNotes& notes, std::uint64_t offset, std::uint64_t bytes);

 private:
  struct Flag {
    Writer writer;
    PeerClock all;
    std::map<int, PeerClock> by_device;
  };
  void forget_old_flags();
  PeerClock inherited_locked(Ordering::Number number, bool has_waited) const;

  std::atomic<bool> active_{false};
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Flag> flags_;
  std::map<Ordering::Number, PeerClock> learned_;  // of the latest grids that learned anything
  std::set<std::pair<Ordering::Number, std::uint32_t>> narrow_;  // of the latest grids
};

}  // namespace baton::sim
