#include "play/nccl_steps.h"

#include <algorithm>
#include <utility>

#include "driver/driver.h"
#include "play/tape_graph.h"
#include "runtime/context.h"

namespace baton::play {
namespace {

bool overlap(const nccl::NcclMessage& a, const nccl::NcclMessage& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

}  // namespace

bool NcclSteps::takes(const bind::PlannedCollective& step,
                      const bind::PlannedCollective::Values& values) const {
  if (bind::is_message(step.kind)) return values.peer != values.rank;
  return !step.facts().reduces ||
         nccl::type_of(step.dtype, all().device().architecture()).has_value();
}

void NcclSteps::check() const {
  for (const auto& group : groups_) {
    if (group != nullptr) group->check();
  }
}

void NcclSteps::abort() noexcept {
  for (const auto& group : groups_) {
    if (group != nullptr) group->abort();
  }
}

// `work` gets the stream, and makes calls of the group's communicator.
template <typename Work>
void NcclSteps::call(const Place& place, std::uint32_t group, Work&& work) const {
  if (place.graph == nullptr) return work(*place.stream);
  place.graph->add_captured(work, groups_[group]);
}

void NcclSteps::copy(const Place& place, DeviceAddress to, DeviceAddress from,
                     std::uint64_t bytes) const {
  if (place.graph != nullptr) return place.graph->add_copy(to, from, bytes);
  const ContextGuard guard(all().device());
  BATON_DRIVER_CALL(all().device().driver(), cuMemcpyDtoDAsync, to, from, bytes,
                    place.stream->native());
}

void NcclSteps::add(const Place& place, const bind::TapeCollective& step,
                    const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  const DeviceAddress from = buffers[planned.from].address() + step.values.from;
  const DeviceAddress to = buffers[planned.to].address() + step.values.to;
  const std::uint64_t count = step.values.count;
  const std::uint64_t bytes = count * size_of(planned.dtype);
  if (bind::is_message(planned.kind)) {
    const bool is_send = planned.kind == CollectiveKind::kSend;
    const std::uint32_t peer =
        step.values.group.in_world(static_cast<std::uint32_t>(step.values.peer));
    return add_message(place, {is_send, is_send ? from : to, bytes, static_cast<int>(peer)});
  }
  flush(place);
  nccl::NcclRank& ranks = *groups_[planned.group];
  const auto type = nccl::type_of(planned.dtype, ranks.device().architecture());
  call(place, planned.group, [&](const Stream& stream) {
    switch (planned.kind) {
      case CollectiveKind::kAllReduce:
        return ranks.all_reduce(from, to, count, *type, planned.op, stream);
      case CollectiveKind::kReduceScatter:
        return ranks.reduce_scatter(from, to, count, *type, planned.op, stream);
      case CollectiveKind::kAllGather:
        return ranks.all_gather(from, to, bytes, stream);
      case CollectiveKind::kBroadcast:
        return ranks.broadcast(to, bytes, step.values.peer, stream);
      case CollectiveKind::kSend:
      case CollectiveKind::kReceive:
        return;  // messages were added before
    }
  });
}

void NcclSteps::add_message(const Place& place, const nccl::NcclMessage& message) {
  const auto comes_before = [&](const nccl::NcclMessage& kept) {
    return !kept.is_send && overlap(kept, message);
  };
  if (std::ranges::any_of(kept_, comes_before)) flush(place);
  for (std::size_t i = 0; !message.is_send && i < kept_.size(); ++i) {
    nccl::NcclMessage& kept = kept_[i];
    if (!kept.is_send || !overlap(kept, message)) continue;
    const DeviceAddress aside = staging(i, kept.bytes);
    copy(place, aside, std::exchange(kept.address, aside), kept.bytes);
  }
  kept_.push_back(message);
}

DeviceAddress NcclSteps::staging(std::size_t number, std::uint64_t bytes) {
  if (staging_.size() <= number) staging_.resize(number + 1);
  std::vector<Memory>& memory = staging_[number];
  if (memory.empty() || memory.back().bytes() < bytes) {
    memory.emplace_back(all().device(), bytes);
  }
  return memory.back().address();
}

void NcclSteps::flush(const Place& place) {
  if (kept_.empty()) return;
  const std::vector<nccl::NcclMessage> messages = std::exchange(kept_, {});
  call(place, 0, [&](const Stream& stream) { all().exchange(messages, stream); });
}

bool NcclSteps::keeps_receives() const {
  return !std::ranges::all_of(kept_, &nccl::NcclMessage::is_send);
}

}  // namespace baton::play
