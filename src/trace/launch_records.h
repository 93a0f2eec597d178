#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/buffer.h"
#include "baton/device.h"
#include "baton/stream.h"
#include "trace/block_record.h"

namespace baton::trace {

// A step of a traced run, as it was sent.
struct NotedStep {
  std::uint64_t number = 0;  // among the steps of the run
  std::string move;          // "copy", "fill", "collective"; empty for a launch
  // The rest is of launches.
  std::uint32_t launch = 0;            // its number in the program
  std::optional<std::uint32_t> after;  // that of the launch right before it
  bool early = false;                  // it may start before that one has ended
  std::string kernel;                  // as the image names it
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared = 0;              // dynamic shared memory, in bytes
  std::optional<std::uint64_t> records;  // the index of its first record; none: it is not traced

  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
};

// The records of the launches of a run: memory of the device, and which of it is whose. The steps
// of a graph are noted once, and every launch of the graph writes to the same places. One thread at
// a time.
class LaunchRecords {
 public:
  // More blocks than this have no place: 128 MiB.
  static constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 21;

  // `blocks`: for so many there is a place, but at most kMostBlocks.
  LaunchRecords(const Device& device, std::uint64_t blocks);

  std::uint64_t blocks() const { return blocks_; }

  // Forgets the steps: others follow.
  void begin();
  // Notes a launch, and returns the address of its records; 0 for a kernel that is not instrumented
  // and where no place is left.
  DeviceAddress add(NotedStep launch, bool is_instrumented);
  // Notes a launch that a device executes any number of times, as in a loop of a graph: its
  // executions would write to one place, and mix.
  void add_repeated(NotedStep launch, bool is_instrumented);
  void add_move(std::uint64_t number, std::string kind);

  // Enqueues that nothing was recorded.
  void clear(const Stream& stream);
  // Waits, and downloads the records of all launches.
  std::vector<BlockRecord> read(const Stream& stream) const;

  const std::vector<NotedStep>& steps() const { return steps_; }
  // Launches of instrumented kernels that had no place.
  std::uint64_t crowded_out() const { return crowded_out_; }
  // Launches of instrumented kernels that are repeated by the device.
  std::uint64_t repeated() const { return repeated_; }

 private:
  std::uint64_t blocks_;
  Memory memory_;
  std::vector<NotedStep> steps_;
  std::uint64_t used_ = 0;
  std::uint64_t crowded_out_ = 0;
  std::uint64_t repeated_ = 0;
};

}  // namespace baton::trace
