#include "play/collectives.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "driver/driver.h"
#include "play/tape_graph.h"
#include "runtime/context.h"
#include "world/exchange.h"

namespace baton::play {
namespace {

// Where the part of a step begins that is written.
constexpr std::uint64_t kStagingAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

// Elements that are read and written in place have one place.
std::uint64_t target_offset(const bind::PlannedCollective& step,
                            const bind::CollectiveBytes& bytes) {
  return step.facts().moves ? aligned(bytes.read) : 0;
}

// Between ranks.
bool moves_bytes(const bind::TapeCollective& step) {
  const bind::CollectiveBytes bytes = bind::bytes_of(*step.planned, step.values);
  return bytes.read != 0 || bytes.written != 0;
}

peer::Epilogue epilogue_of(const bind::TapeCollective& step, const bind::BufferTable& buffers) {
  const bind::PlannedEpilogue& planned = step.planned->epilogue;
  const bind::PlannedEpilogue::Values& values = step.values.epilogue;
  peer::Epilogue epilogue;
  if (planned.add) epilogue.add = buffers[planned.add->buffer].address() + values.add;
  if (planned.norm) {
    epilogue.weight = buffers[planned.norm->weight.buffer].address() + values.weight;
    epilogue.normed = buffers[planned.norm->to.buffer].address() + values.to;
    epilogue.row = values.row;
    epilogue.epsilon = planned.norm->epsilon;
  }
  return epilogue;
}

// A step that is for them, and moves bytes.
peer::AllReduce all_reduce_of(const bind::TapeCollective& step, const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  return {buffers[planned.from].address() + step.values.from,
          buffers[planned.to].address() + step.values.to,
          step.values.count,
          planned.dtype,
          planned.op,
          epilogue_of(step, buffers)};
}

peer::EpilogueKernels::Step finish_of(const bind::TapeCollective& step,
                                      const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  return {buffers[planned.to].address() + step.values.to, step.values.count, planned.dtype,
          epilogue_of(step, buffers)};
}

DeviceAddress address_of(const PinnedMemory& memory) {
  return reinterpret_cast<DeviceAddress>(memory.data());
}

}  // namespace

// One execution of a step, in host memory.
struct Collectives::Exchange {
  Staging staging;
  World world;
  world::RankGroup group;
  world::Stage stage;
  CollectiveKind kind;
  ReduceOp op;
  DType dtype;
  std::uint64_t count;  // elements
  std::uint64_t to;     // in the staging memory
  std::uint32_t peer;
  std::atomic<bool> is_done{false};

  void run() noexcept {
    world::Communicator& all = *world.communicator();
    try {
      exchange({all, group});
    } catch (const Error& failure) {
      all.fail(failure);
    } catch (const std::exception& failure) {
      all.fail(Error(ErrorCode::kOutOfMemory, failure.what()));
    }
    is_done.store(true, std::memory_order_release);
  }

  void exchange(const world::GroupLink& ranks) const {
    char* const from = static_cast<char*>(staging->data());
    char* const target = from + to;
    const std::size_t bytes = count * size_of(dtype);
    switch (kind) {
      case CollectiveKind::kAllReduce:
        return world::all_reduce(ranks, stage, op, dtype, count, target);
      case CollectiveKind::kAllGather:
        return world::all_gather(ranks, stage, bytes, from, target);
      case CollectiveKind::kReduceScatter:
        return world::reduce_scatter(ranks, stage, op, dtype, count, from, target);
      case CollectiveKind::kBroadcast:
        return world::broadcast(ranks, stage, peer, bytes, target);
      case CollectiveKind::kSend:
        return world::send(ranks, stage, peer, bytes, from);
      case CollectiveKind::kReceive:
        return world::receive(ranks, stage, peer, bytes, target);
    }
  }
};

world::Stage stage_of(const bind::PlannedStep& at, const bind::PlannedCollective& step,
                      const bind::PlannedCollective::Values& values) {
  const std::string content = bind::content_text(step, values);
  // The two sides of a message are different steps.
  std::string key = bind::is_message(step.kind)
                        ? "message " + content
                        : fmt::format("{} {} of step {}, rank {}", to_string(step.kind), content,
                                      at.leaf, values.peer);
  return {std::move(key),
          fmt::format("{} ({}), at {}", at.label, content, at.source->where.to_string())};
}

Collectives::Collectives(const Device& device, World world)
    : device_(device), world_(std::move(world)) {}

// Executions of a step follow one another, so that they share their memory. What is too small for a
// later one stays: to free it may wait for all devices of the process, and so for a rank that waits
// for this one.
Collectives::Staging Collectives::staging_for(const bind::PlannedStep& at, std::uint64_t bytes) {
  std::vector<Staging>& all = staging_[&at];
  if (all.empty() || all.back()->bytes() < bytes) {
    const std::uint64_t before = all.empty() ? 0 : all.back()->bytes();
    all.push_back(std::make_shared<const PinnedMemory>(device_, std::max(bytes, 2 * before)));
  }
  return all.back();
}

// What to do that the host does not exchange the step.
std::string Collectives::way_around_host(const bind::PlannedCollective& step) const {
  if (step.by == CollectiveExecutor::kHost) return ", or leave out by = \"host\"";
  const bool wants_nccl = step.by ? *step.by == CollectiveExecutor::kNccl : nccl_by_default_;
  if (wants_nccl) return ": NCCL lacks this step";
  return ", or let NCCL exchange it: here " + why_host_;
}

std::unique_ptr<Collectives::Exchange> Collectives::exchange_of(const bind::PlannedStep& at,
                                                                const bind::TapeCollective& step) {
  // A CUDA driver may call the host functions of all devices on one thread, where the first one
  // would never end, because it waits for the next.
  if (world_.is_of_threads() && world_.ranks() > 1 && device_.driver().simulator == nullptr) {
    throw error_at(at.source->where, ErrorCode::kUnsupported,
                   "{} is exchanged by host functions, which a GPU's driver executes one after "
                   "another for all ranks of a process; start a process for each rank, by mpirun "
                   "-n {}{}",
                   at.label, world_.ranks(), way_around_host(*step.planned));
  }
  const bind::PlannedCollective& planned = *step.planned;
  const bind::CollectiveBytes bytes = bind::bytes_of(planned, step.values);
  const std::uint64_t to = target_offset(planned, bytes);
  return std::unique_ptr<Exchange>(new Exchange{
      staging_for(at, std::max(bytes.read, to + bytes.written)), world_, step.values.group,
      stage_of(at, planned, step.values), planned.kind, planned.op, planned.dtype,
      step.values.count, to, static_cast<std::uint32_t>(step.values.peer)});
}

Collectives::Exchange& Collectives::enqueued(std::unique_ptr<Exchange> exchange) {
  std::erase_if(enqueued_, [](const std::shared_ptr<Exchange>& each) {
    return each->is_done.load(std::memory_order_acquire);
  });
  return *enqueued_.emplace_back(std::move(exchange));
}

void Collectives::choose(std::vector<std::shared_ptr<nccl::NcclRank>> nccl,
                         std::shared_ptr<peer::PeerRank> peer, std::uint64_t peer_bytes,
                         bool by_nccl, std::string why_host) {
  peer_ = std::move(peer);
  peer_bytes_ = peer_bytes;
  nccl_by_default_ = by_nccl;
  if (!nccl.empty()) nccl_.emplace(std::move(nccl));
  why_host_ = std::move(why_host);
  has_chosen_ = true;
}

// The kernel of each program waits for that on the other device, and what starts early after it
// takes room.
void Collectives::note_others(Error& failure) const {
  if (failure.code() != ErrorCode::kTimeout || peer_ == nullptr) return;
  const std::size_t programs = peer::PeerRank::count_on(device_);
  if (programs < 2) return;
  failure.note(fmt::format(
      "{} programs of this process have kernels between peers on this device, which may "
      "keep each other from it; let the run of one end on all ranks before that of "
      "another begins",
      programs));
}

bool Collectives::joins(const bind::TapeCollective& step) const {
  return bind::is_message(step.planned->kind) && takes_nccl(step);
}

bool Collectives::takes_nccl(const bind::TapeCollective& step) const {
  const std::optional<CollectiveExecutor>& by = step.planned->by;
  const bool is_chosen = by ? *by == CollectiveExecutor::kNccl : nccl_by_default_;
  return nccl_ && is_chosen && nccl_->takes(*step.planned, step.values);
}

bool Collectives::by_kernel(const bind::TapeCollective& step) const {
  return peer_ != nullptr &&
         bind::is_for_peers(*step.planned, step.values, {world_.ranks(), peer_bytes_});
}

void Collectives::enqueue(const bind::RunStep& at, const bind::TapeCollective& step,
                          const bind::BufferTable& buffers, const Stream& stream) {
  const bind::PlannedCollective& planned = *step.planned;
  if (bind::is_local(planned, step.values)) {
    return buffers[planned.to].memory->copy_from(*buffers[planned.from].memory,
                                                 bind::bytes_of(planned, step.values).written,
                                                 step.values.from, step.values.to, stream);
  }
  if (by_kernel(step)) {
    const peer::AllReduce reduce = all_reduce_of(step, buffers);
    return peer::enqueue(peer_->launch_of(reduce, peer_->shots_of(reduce), at.programmatic),
                         stream);
  }
  if (moves_bytes(step)) exchange(*at.step, step, buffers, stream);
  if (planned.epilogue.is_none()) return;
  peer::enqueue(epilogues_->launch_of(finish_of(step, buffers)), stream);
}

void Collectives::exchange(const bind::PlannedStep& at, const bind::TapeCollective& step,
                           const bind::BufferTable& buffers, const Stream& stream) {
  const bind::PlannedCollective& planned = *step.planned;
  const bind::CollectiveBytes bytes = bind::bytes_of(planned, step.values);
  const Memory& from = *buffers[planned.from].memory;
  const Memory& to = *buffers[planned.to].memory;
  if (stream.is_capturing()) {
    throw error(ErrorCode::kUnsupported,
                "{} is exchanged by {}, which a capture of the caller cannot take; enqueue the "
                "program outside of the capture",
                at.label, takes_nccl(step) ? "NCCL" : "the host");
  }
  if (takes_nccl(step)) {
    return nccl_->add({.stream = &stream}, step, buffers);
  }
  Exchange& exchange = enqueued(exchange_of(at, step));
  char* const staging = static_cast<char*>(exchange.staging->data());
  if (bytes.read != 0) from.download(staging, bytes.read, step.values.from, stream);
  {
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL(
        device_.driver(), cuLaunchHostFunc, stream.native(),
        [](void* data) { static_cast<Exchange*>(data)->run(); }, &exchange);
  }
  if (bytes.written != 0) to.upload(staging + exchange.to, bytes.written, step.values.to, stream);
}

void Collectives::add_to(TapeGraph& graph, const bind::RunStep& at,
                         const bind::TapeCollective& step, const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  if (bind::is_local(planned, step.values)) {
    return graph.add_copy(buffers[planned.to].address() + step.values.to,
                          buffers[planned.from].address() + step.values.from,
                          bind::bytes_of(planned, step.values).written);
  }
  if (by_kernel(step)) {
    const peer::AllReduce reduce = all_reduce_of(step, buffers);
    const auto launch = peer_->launch_of(reduce, peer_->shots_of(reduce));
    return graph.add_own(*launch.plan, launch.arguments, at.programmatic, peer_);
  }
  if (moves_bytes(step)) add_exchange(graph, *at.step, step, buffers);
  if (planned.epilogue.is_none()) return;
  const auto launch = epilogues_->launch_of(finish_of(step, buffers));
  graph.add_own(*launch.plan, launch.arguments, false, epilogues_);
}

void Collectives::add_exchange(TapeGraph& graph, const bind::PlannedStep& at,
                               const bind::TapeCollective& step, const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  const bind::CollectiveBytes bytes = bind::bytes_of(planned, step.values);
  const DeviceAddress from = buffers[planned.from].address() + step.values.from;
  const DeviceAddress to = buffers[planned.to].address() + step.values.to;
  if (graph.in_condition()) {
    const bool has_peers =
        planned.kind == CollectiveKind::kAllReduce && peer::PeerRank::takes(planned.dtype);
    throw error_at(at.source->where, ErrorCode::kUnsupported,
                   "{} is exchanged by {}, which the if and while of a graph do not take; use the "
                   "stream executor{}",
                   at.label, takes_nccl(step) ? "NCCL" : "host functions",
                   has_peers ? ", or kernels between peers (collectives: peer)" : "");
  }
  if (takes_nccl(step)) {
    return nccl_->add({.graph = &graph}, step, buffers);
  }
  flush(graph);
  const std::shared_ptr<Exchange> exchange = exchange_of(at, step);
  const DeviceAddress staging = address_of(*exchange->staging);
  if (bytes.read != 0) graph.add_copy(staging, from, bytes.read);
  graph.add_host([exchange] { exchange->run(); });
  if (bytes.written != 0) graph.add_copy(to, staging + exchange->to, bytes.written);
}

}  // namespace baton::play
