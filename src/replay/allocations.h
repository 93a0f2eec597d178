#pragma once

// The allocations of a recorded process, and the variables of its modules, in a replay.

#include <cuda.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "baton/device.h"
#include "record/call_meaning.h"
#include "record/events.h"
#include "replay/replay_memory.h"
#include "replay/replay_modules.h"

namespace baton::replay {

// A function returns why it did not follow an event; empty: it did. Not thread-safe.
class ReplayAllocations {
 public:
  ReplayAllocations(const Device& device, ReplayMemory& memory)
      : device_(device), memory_(memory) {}
  // No work may use them any more.
  ~ReplayAllocations();
  ReplayAllocations(const ReplayAllocations&) = delete;
  ReplayAllocations& operator=(const ReplayAllocations&) = delete;

  // `stream`: that of the call, where it has one.
  std::string allocate(const record::RecordedEvent& event, const record::RecordedCall& row,
                       CUstream stream);
  std::string free(const record::RecordedEvent& event, const record::RecordedCall& row,
                   CUstream stream);
  std::string map(const record::RecordedEvent& event);
  void unmap(const record::RecordedEvent& event);

  // False if its module is not replayed.
  bool add_variable(const record::RecordedEvent& event, ReplayModules& modules);
  // Those that were asked for, of the handle that has them.
  const std::set<std::size_t>& variables(std::uint64_t owner) { return variables_[owner]; }

 private:
  std::string add(std::uint64_t recorded, ReplayedMemory memory, CUstream stream, bool ordered);
  void release(const ReplayedMemory& memory);

  const Device device_;
  ReplayMemory& memory_;
  std::map<std::uint64_t, std::set<std::size_t>> variables_;
  std::uint64_t allocations_ = 0;  // as check numbers them
};

}  // namespace baton::replay
