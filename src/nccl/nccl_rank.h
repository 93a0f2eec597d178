#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/stream.h"
#include "baton/world.h"
#include "nccl/nccl.h"
#include "world/group_link.h"

namespace baton::nccl {

// A message to another rank of the group, or from it.
struct NcclMessage {
  bool is_send = false;
  DeviceAddress address = 0;
  std::uint64_t bytes = 0;
  int peer = 0;
};

// One rank's communicator of NCCL on its device, for the ranks of a group. Its calls enqueue on the
// stream and return; on a stream that is captured they become nodes. All ranks of the group make
// the same calls in the same order. One thread at a time. Every call throws what ended the run of
// all ranks, and kDriver for what NCCL reports.
//
// It must outlive the graphs that captured its calls: NCCL waits for their end.
class NcclRank {
 public:
  // Called by all ranks of the group, on threads or processes of their own. Waits for the others.
  // Ranks that are in several groups make their communicators in the same order.
  static std::shared_ptr<NcclRank> make(const Nccl& nccl, const Device& device, const World& world,
                                        const world::RankGroup& group);
  // Ends it, or aborts it where the run of the world has failed.
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  const Nccl& nccl() const { return nccl_; }
  const Device& device() const { return device_; }

  // `type`: one of `type_of`. `count`: elements of one rank.
  void all_reduce(DeviceAddress from, DeviceAddress to, std::uint64_t count, Nccl::Type type,
                  ReduceOp op, const Stream& stream);
  void reduce_scatter(DeviceAddress from, DeviceAddress to, std::uint64_t count, Nccl::Type type,
                      ReduceOp op, const Stream& stream);
  // `bytes`: of one rank.
  void all_gather(DeviceAddress from, DeviceAddress to, std::uint64_t bytes, const Stream& stream);
  void broadcast(DeviceAddress data, std::uint64_t bytes, int root, const Stream& stream);
  // At the same time, so that none waits for another of them.
  void exchange(std::span<const NcclMessage> messages, const Stream& stream);

  // Throws what NCCL found wrong since, if anything.
  void check() const;
  // Ends the work that is under way, which may wait for ranks that are lost. Nothing else may be
  // called after it.
  void abort() noexcept;

 private:
  NcclRank(const Nccl& nccl, const Device& device, const World& world, Nccl::Comm comm)
      : nccl_(nccl), device_(device), world_(world), comm_(comm) {}

  template <typename Call>
  void call(const char* name, Call&& act);
  [[noreturn]] void fail(const char* name, Nccl::Result result) const;

  const Nccl& nccl_;
  const Device device_;
  const World world_;
  const Nccl::Comm comm_;
  std::thread aborting_;
};

// The type with which NCCL reduces such elements on a device of that architecture (90 for 9.0);
// nothing where it does not.
std::optional<Nccl::Type> type_of(DType dtype, int architecture);

}  // namespace baton::nccl
