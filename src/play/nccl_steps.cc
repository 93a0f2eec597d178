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

bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

}  // namespace

bool NcclSteps::takes(const bind::PlannedCollective& step,
                      const bind::PlannedCollective::Values& values) const {
  if (is_message(step.kind)) return values.peer != values.rank;
  return !step.facts().reduces ||
         nccl::type_of(step.dtype, ranks_->device().architecture()).has_value();
}

template <typename Work>
void NcclSteps::call(const Place& place, Work&& work) const {
  if (place.graph == nullptr) return work(*place.stream);
  place.graph->add_captured(work, ranks_);
}

void NcclSteps::copy(const Place& place, DeviceAddress to, DeviceAddress from,
                     std::uint64_t bytes) const {
  if (place.graph != nullptr) return place.graph->add_copy(to, from, bytes);
  const ContextGuard guard(ranks_->device());
  BATON_DRIVER_CALL(ranks_->device().driver(), cuMemcpyDtoDAsync, to, from, bytes,
                    place.stream->native());
}

void NcclSteps::add(const Place& place, const bind::TapeCollective& step,
                    const bind::BufferTable& buffers) {
  const bind::PlannedCollective& planned = *step.planned;
  const DeviceAddress from = buffers[planned.from].address() + step.values.from;
  const DeviceAddress to = buffers[planned.to].address() + step.values.to;
  const std::uint64_t count = step.values.count;
  const std::uint64_t bytes = count * size_of(planned.dtype);
  const int peer = step.values.peer;
  if (is_message(planned.kind)) {
    const bool is_send = planned.kind == CollectiveKind::kSend;
    return add_message(place, {is_send, is_send ? from : to, bytes, peer});
  }
  flush(place);
  const auto type = nccl::type_of(planned.dtype, ranks_->device().architecture());
  call(place, [&](const Stream& stream) {
    switch (planned.kind) {
      case CollectiveKind::kAllReduce:
        return ranks_->all_reduce(from, to, count, *type, planned.op, stream);
      case CollectiveKind::kReduceScatter:
        return ranks_->reduce_scatter(from, to, count, *type, planned.op, stream);
      case CollectiveKind::kAllGather:
        return ranks_->all_gather(from, to, bytes, stream);
      case CollectiveKind::kBroadcast:
        return ranks_->broadcast(to, bytes, peer, stream);
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
  std::vector<Memory>& all = staging_[number];
  if (all.empty() || all.back().bytes() < bytes) all.emplace_back(ranks_->device(), bytes);
  return all.back().address();
}

void NcclSteps::flush(const Place& place) {
  if (kept_.empty()) return;
  const std::vector<nccl::NcclMessage> messages = std::exchange(kept_, {});
  call(place, [&](const Stream& stream) { ranks_->exchange(messages, stream); });
}

bool NcclSteps::keeps_receives() const {
  return !std::ranges::all_of(kept_, &nccl::NcclMessage::is_send);
}

}  // namespace baton::play
