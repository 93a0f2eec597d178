#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/launch_plan.h"
#include "baton/module.h"
#include "baton/world.h"
#include "peer/epilogue.h"
#include "peer/own_launch.h"

namespace baton::peer {

struct PeerOffer;

// One all-reduce: elements of `from` of all ranks become those of `to`, reduced in the order of the
// ranks. `from` and `to` are equal, or lie apart.
struct AllReduce {
  DeviceAddress from = 0, to = 0;
  std::uint64_t count = 0;  // elements, more than 0
  DType dtype = DType::kF32;
  ReduceOp op = ReduceOp::kSum;
  Epilogue epilogue = {};  // of `to`
};

// How often elements pass between ranks: each rank reduces all of them, or one part and sends that
// on. All ranks must say the same.
enum class Shots : std::uint8_t { kOne = 1, kTwo = 2 };

// One rank's side of all-reduces by kernels of Baton's own (all_reduce.cu), on devices that access
// each other's memory. All ranks get the same bits, which are those of the host (world/reduce.h).
// All ranks launch the same ones in the same order; a kernel waits on its device for the kernels of
// the others. One thread at a time, but for `abort`.
//
// It must outlive its launches and the graphs that have them.
class PeerRank {
 public:
  // Called by all ranks of the world, on threads or processes of their own. Waits for the others.
  // Throws kUnsupported where the ranks cannot access each other's memory: more than 8, other
  // machines, devices without a link, simulated devices of several processes.
  // `ptx`: other kernels than Baton's own, for tests.
  static std::shared_ptr<PeerRank> make(const Device& device, const World& world,
                                        std::string_view ptx = {});
  // The same, but null on all ranks where they cannot access each other's memory.
  static std::shared_ptr<PeerRank> make_if_linked(const Device& device, const World& world);
  // Ends the run of the world where an exception ends this rank: others may wait for it.
  ~PeerRank();
  PeerRank(const PeerRank&) = delete;
  PeerRank& operator=(const PeerRank&) = delete;

  // Whether `make` would succeed on all ranks. Called by all of them, like `make`.
  static bool can_connect(const Device& device, const World& world);

  // The ranks of this process on the device, each of another program.
  static std::size_t count_on(const Device& device);

  static bool takes(DType dtype);
  // Whether two ranks have one device.
  bool shares_device() const { return shares_device_; }
  Shots shots_of(const AllReduce& step) const;

  // `early`: right after a launch on the stream. The kernel then starts before that is done, and
  // touches nothing before its own wait. No effect in a graph, where edges decide, nor on a device
  // without programmatic dependent launch.
  OwnLaunch launch_of(const AllReduce& step, Shots shots, bool early = false);

  // Ends kernels that wait for others, from now on. Thread-safe.
  void abort() noexcept;

 private:
  struct Connections;
  PeerRank(const Device& device, const World& world);
  // Null with why the ranks cannot access each other's memory, or a rank.
  static std::pair<std::shared_ptr<PeerRank>, std::string> try_to_make(const Device& device,
                                                                       const World& world,
                                                                       std::string_view ptx);
  // Makes the memory of all ranks accessible here. Returns why some rank cannot access that of
  // another one: the same on all ranks. Empty: all can.
  std::string connect();
  // After a `connect` of no use: no memory is freed that another process has opened.
  void disconnect();
  PeerOffer own_offer() const;
  std::string share(const PeerOffer& offer, std::uint64_t* address);
  std::string open(const PeerOffer& own, const PeerOffer& offer, std::uint64_t* address);
  LaunchPlan& plan_of(DType dtype, bool early);

  // The kernel's arguments, in their order.
  struct Arguments;

  const Device device_;
  const World world_;
  const int unwinding_ = std::uncaught_exceptions();
  bool is_connected_ = false;  // from then on others may wait for it
  bool shares_device_ = false;
  std::shared_ptr<const Memory> memory_;  // that the others write
  PinnedBuffer<std::uint32_t> stop_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<Arguments> arguments_;
  std::optional<Module> module_;
  std::map<std::pair<DType, bool>, LaunchPlan> plans_;  // by dtype, and whether they start early
};

}  // namespace baton::peer
