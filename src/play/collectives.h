#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/buffer.h"
#include "baton/world.h"
#include "bind/tape.h"
#include "bind/tape_walk.h"
#include "peer/epilogue_kernels.h"
#include "peer/peer_rank.h"
#include "play/nccl_steps.h"
#include "world/frame.h"

namespace baton::play {

class TapeGraph;

// How collectives of a tape are executed: by NCCL, or by kernels between peers, where the ranks
// have chosen that. Otherwise, on any device: a copy to page-locked memory, a host function that
// exchanges the contents with the other ranks, and a copy back, in the order of the stream or as
// nodes of a graph. An epilogue is a part of a kernel between peers, else a kernel of its own
// after the exchange. One thread at a time.
//
// The host function waits for other ranks on the driver's thread. An error there ends the run of
// all ranks: the function returns, and the thread that waits for the run throws the failure.
class Collectives {
 public:
  Collectives(const Device& device, World world);

  const World& world() const { return world_; }

  // Once, before the first step. `nccl`: as NcclSteps takes it. None of both: the host.
  // `peer_bytes`: PeerChoice::default_bytes. `by_nccl`: NCCL executes the other steps that do not
  // say what does. `why_host`: why there is no NCCL, for messages.
  void choose(std::vector<std::shared_ptr<nccl::NcclRank>> nccl,
              std::shared_ptr<peer::PeerRank> peer, std::uint64_t peer_bytes, bool by_nccl,
              std::string why_host);
  // Before the first step of a program in which something else than peers executes an all_reduce
  // with an epilogue.
  void take_epilogues(std::shared_ptr<peer::EpilogueKernels> kernels) {
    epilogues_ = std::move(kernels);
  }
  bool has_epilogues() const { return epilogues_ != nullptr; }
  // The ranks whose all-reduces are launches for the steps around them; 0: there are none. Ranks
  // that share a device have none: what starts early after the kernel of one rank could take the
  // room that the kernel of another rank needs, for which the first one waits.
  bind::PeerChoice peers() const {
    const bool has_them = peer_ != nullptr && !peer_->shares_device();
    return {has_them ? world_.ranks() : 0, peer_bytes_};
  }
  bool has_chosen() const { return has_chosen_; }
  bool by_nccl() const { return nccl_.has_value(); }
  // Whether kernels wait for other ranks.
  bool waits_on_device() const { return nccl_ || peer_ != nullptr; }
  // Whether NCCL executes a step that no kernel between peers executes.
  bool takes_nccl(const bind::TapeCollective& step) const;
  // Throws what NCCL found wrong since.
  void check() const {
    if (nccl_) nccl_->check();
  }
  // Ends what waits for other ranks. The run of the world has failed.
  void abort() noexcept {
    if (nccl_) nccl_->abort();
    if (peer_ != nullptr) peer_->abort();
  }

  // Notes in an error that other programs of this process have kernels that may keep this one's
  // from the device, if the run took too long.
  void note_others(Error& failure) const;

  // Whether one kernel between peers executes the step, which moves bytes.
  bool by_kernel(const bind::TapeCollective& step) const;
  // `at`: with its edge, which is programmatic for kernels between peers alone. Throws kUnsupported
  // for a stream that is captured, and the driver's errors.
  void enqueue(const bind::RunStep& at, const bind::TapeCollective& step,
               const bind::BufferTable& buffers, const Stream& stream);
  // Throws kUnsupported inside of an if or a while.
  void add_to(TapeGraph& graph, const bind::RunStep& at, const bind::TapeCollective& step,
              const bind::BufferTable& buffers);

  // Drops what a run that ended early left.
  void forget_messages() {
    if (nccl_) nccl_->forget();
  }
  // Some messages are kept until a step follows that `joins` does not name: `flush` comes before
  // it.
  bool joins(const bind::TapeCollective& step) const;
  void flush(const Stream& stream) {
    if (nccl_) nccl_->flush({.stream = &stream});
  }
  void flush(TapeGraph& graph) {
    if (nccl_) nccl_->flush({.graph = &graph});
  }
  // The same for the host, which waits for what was enqueued. A send that is kept stays so: on this
  // rank it is done, and the other side may wait too.
  void flush_receives(const Stream& stream) {
    if (nccl_ && nccl_->keeps_receives()) flush(stream);
  }

 private:
  struct Exchange;
  using Staging = std::shared_ptr<const PinnedMemory>;

  // Without the epilogue, of several ranks.
  void exchange(const bind::PlannedStep& at, const bind::TapeCollective& step,
                const bind::BufferTable& buffers, const Stream& stream);
  void add_exchange(TapeGraph& graph, const bind::PlannedStep& at, const bind::TapeCollective& step,
                    const bind::BufferTable& buffers);
  std::string way_around_host(const bind::PlannedCollective& step) const;
  std::unique_ptr<Exchange> exchange_of(const bind::PlannedStep& at,
                                        const bind::TapeCollective& step);
  Staging staging_for(const bind::PlannedStep& at, std::uint64_t bytes);
  Exchange& enqueued(std::unique_ptr<Exchange> exchange);

  Device device_;
  World world_;
  bool has_chosen_ = false;
  std::optional<NcclSteps> nccl_;
  std::shared_ptr<peer::PeerRank> peer_;
  std::uint64_t peer_bytes_ = 0;
  bool nccl_by_default_ = false;
  std::shared_ptr<peer::EpilogueKernels> epilogues_;
  std::string why_host_;
  // By step, the largest last.
  std::unordered_map<const bind::PlannedStep*, std::vector<Staging>> staging_;
  // Those on streams, until they are done.
  std::list<std::shared_ptr<Exchange>> enqueued_;
};

// Notes how a step is executed. Called for each step before it is sent.
inline void note_execution(bind::RunStep& at, const bind::TapeCollective& step,
                           const Collectives& collectives) {
  at.own_kernel = collectives.by_kernel(step) || !step.planned->epilogue.is_none();
}
template <typename Action>
void note_execution(bind::RunStep&, const Action&, const Collectives&) {}

// The stage that ranks compare at the step, with its text for messages.
world::Stage stage_of(const bind::PlannedStep& at, const bind::PlannedCollective& step,
                      const bind::PlannedCollective::Values& values);

}  // namespace baton::play
