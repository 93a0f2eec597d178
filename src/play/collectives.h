#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "baton/buffer.h"
#include "baton/world.h"
#include "bind/tape.h"
#include "world/frame.h"

namespace baton::play {

class TapeGraph;

// How collectives of a tape are executed on any device: a copy to page-locked memory, a host
// function that exchanges the contents with the other ranks, and a copy back, in the order of the
// stream or as nodes of a graph. One thread at a time.
//
// The host function waits for other ranks on the driver's thread. An error there ends the run of
// all ranks: the function returns, and the thread that waits for the run throws the failure.
class Collectives {
 public:
  Collectives(const Device& device, World world);

  const World& world() const { return world_; }

  // Throws kUnsupported for a stream that is captured, and the driver's errors.
  void enqueue(const bind::PlannedStep& at, const bind::TapeCollective& step,
               const bind::BufferTable& buffers, const Stream& stream);
  // Throws kUnsupported inside of an if or a while.
  void add_to(TapeGraph& graph, const bind::PlannedStep& at, const bind::TapeCollective& step,
              const bind::BufferTable& buffers);

 private:
  struct Exchange;
  using Staging = std::shared_ptr<const PinnedMemory>;

  std::unique_ptr<Exchange> exchange_of(const bind::PlannedStep& at,
                                        const bind::TapeCollective& step);
  Staging staging_for(const bind::PlannedStep& at, std::uint64_t bytes);
  Exchange& enqueued(std::unique_ptr<Exchange> exchange);

  Device device_;
  World world_;
  std::unordered_map<const bind::PlannedStep*, Staging> staging_;
  // Those on streams, until they are done.
  std::list<std::shared_ptr<Exchange>> enqueued_;
};

// The stage that ranks compare at the step, with its text for messages.
world::Stage stage_of(const bind::PlannedStep& at, const bind::PlannedCollective& step,
                      const bind::PlannedCollective::Values& values);

}  // namespace baton::play
