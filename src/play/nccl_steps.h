#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baton/buffer.h"
#include "bind/tape.h"
#include "nccl/nccl_rank.h"

namespace baton::play {

class TapeGraph;

// The collectives of a tape, executed by NCCL on a stream or in a graph. One thread at a time.
//
// A message of NCCL waits for its other side. Messages that follow one another are therefore kept
// until something else comes, and sent as one group. A receive into what such a message sends gets
// that copied first, so that a ring of ranks may send and receive in one place.
class NcclSteps {
 public:
  // Where steps go: a stream that is not captured, or a graph.
  struct Place {
    const Stream* stream = nullptr;
    TapeGraph* graph = nullptr;
  };

  // `groups`: the communicators by the number of the group. The first one is that of all ranks,
  // which messages use too. Null for a group of one rank.
  explicit NcclSteps(std::vector<std::shared_ptr<nccl::NcclRank>> groups)
      : groups_(std::move(groups)) {}

  // Throws what NCCL found wrong since.
  void check() const;
  // Ends what waits for other ranks.
  void abort() noexcept;

  // Whether NCCL has what the step needs. It lacks reductions of some dtypes, and a rank's messages
  // to itself.
  bool takes(const bind::PlannedCollective& step,
             const bind::PlannedCollective::Values& values) const;

  // A step that it takes and that moves bytes.
  void add(const Place& place, const bind::TapeCollective& step, const bind::BufferTable& buffers);
  // Sends the messages that are kept. Something else follows.
  void flush(const Place& place);
  void forget() { kept_.clear(); }
  // Whether some of these are received: the others are done as far as this rank can tell.
  bool keeps_receives() const;

 private:
  void add_message(const Place& place, const nccl::NcclMessage& message);
  DeviceAddress staging(std::size_t number, std::uint64_t bytes);
  void copy(const Place& place, DeviceAddress to, DeviceAddress from, std::uint64_t bytes) const;
  template <typename Work>
  void call(const Place& place, std::uint32_t group, Work&& work) const;
  nccl::NcclRank& all() const { return *groups_.front(); }

  std::vector<std::shared_ptr<nccl::NcclRank>> groups_;
  std::vector<nccl::NcclMessage> kept_;
  // By the message's place in its group, the largest last: graphs refer to all of them.
  std::vector<std::vector<Memory>> staging_;
};

}  // namespace baton::play
