#include "peer/peer_rank.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "baton/image.h"
#include "chip/chip.h"
#include "driver/driver.h"
#include "peer/division.h"
#include "peer/kernels.h"
#include "peer/peer_memory.h"
#include "runtime/context.h"
#include "runtime/release.h"
#include "world/exchange.h"

namespace baton::peer {
namespace {

// Bytes that a rank sends by one shot, above which two shots send less. Not measured.
constexpr std::uint64_t kMostOfOneShot = 512 * 1024;

int number_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return kSum;
    case ReduceOp::kMax:
      return kMax;
    case ReduceOp::kMin:
      return kMin;
  }
  throw error(ErrorCode::kInternal, "unknown reduction {}", static_cast<int>(op));
}

// The memory of all ranks of this process, by address: ranks hold that of each other.
class PeerMemories {
 public:
  static PeerMemories& instance() {
    static auto& instance = *new PeerMemories;
    return instance;
  }
  void add(const std::shared_ptr<const Memory>& memory) {
    const std::lock_guard lock(mutex_);
    std::erase_if(memories_, [](const auto& each) { return each.second.expired(); });
    memories_[memory->address()] = memory;
  }
  std::size_t count_on(const Device& device) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(memories_, [&](const auto& each) {
      const std::shared_ptr<const Memory> memory = each.second.lock();
      return memory != nullptr && memory->device().native_context() == device.native_context();
    }));
  }
  // Null where it is gone.
  std::shared_ptr<const Memory> find(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = memories_.find(address);
    return found == memories_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<const Memory>> memories_;
};

}  // namespace

// What a rank tells the others.
struct PeerOffer {
  char machine[64] = {};
  std::uint64_t address = 0;
  CUcontext context = nullptr;  // for ranks of this process
  CUdevice device = 0;
  CUuuid uuid = {};
  std::int32_t has_handle = 0;
  CUipcMemHandle handle = {};  // for ranks of other processes
};

namespace {

// Why a rank cannot access the memory of another one; empty: it can.
using Obstacle = std::array<char, 256>;

bool is_one_device(const PeerOffer& a, const PeerOffer& b) {
  return std::strcmp(a.machine, b.machine) == 0 &&
         std::memcmp(a.uuid.bytes, b.uuid.bytes, sizeof(a.uuid.bytes)) == 0;
}

}  // namespace

struct PeerRank::Connections {
  explicit Connections(const Device& on) : device(on) {}
  ~Connections() {
    release_in_context(device, [&](const driver::Driver& driver) {
      for (const CUdeviceptr address : opened) BATON_RELEASE(driver, cuIpcCloseMemHandle, address);
    });
  }

  const Device device;
  std::vector<std::shared_ptr<const Memory>> shared;  // of ranks of this process
  std::vector<CUdeviceptr> opened;                    // of other processes
};

struct PeerRank::Arguments {
  std::array<std::uint64_t, kMostRanks> memory = {};
  int rank = 0, ranks = 0;
  DeviceAddress from = 0, to = 0;
  unsigned long long elements = 0, of_block = 0;
  unsigned of_round = 0;
  int op = 0, shots = 0;
  DeviceAddress stop = 0;
  Epilogue epilogue;

  std::array<void*, 12> places = {&memory,   &rank,     &ranks, &from,  &to,   &elements,
                                  &of_block, &of_round, &op,    &shots, &stop, &epilogue};
};

PeerRank::PeerRank(const Device& device, const World& world)
    : device_(device),
      world_(world),
      memory_(std::make_shared<const Memory>(device, memory_bytes(world.ranks()))),
      stop_(device, 1),
      connections_(std::make_unique<Connections>(device)),
      arguments_(std::make_unique<Arguments>()) {
  stop_[0] = 0;
  PeerMemories::instance().add(memory_);
}

// To free memory waits for all devices of the process, whose kernels may wait for this rank.
PeerRank::~PeerRank() {
  if (!is_connected_ || std::uncaught_exceptions() <= unwinding_) return;
  try {
    static_cast<void>(
        world_.fail(error(ErrorCode::kInternal, "an error ended it between its collectives")));
  } catch (const std::exception&) {
    // There is no memory for the message.
  }
}

std::size_t PeerRank::count_on(const Device& device) {
  return PeerMemories::instance().count_on(device);
}

bool PeerRank::takes(DType dtype) {
  return suffix_of(dtype).has_value();
}

std::shared_ptr<PeerRank> PeerRank::make(const Device& device, const World& world,
                                         std::string_view ptx) {
  auto [rank, obstacle] = try_to_make(device, world, ptx);
  if (rank != nullptr) return std::move(rank);
  throw error(ErrorCode::kUnsupported, "{}; choose nccl or host for the collectives", obstacle);
}

std::shared_ptr<PeerRank> PeerRank::make_if_linked(const Device& device, const World& world) {
  return try_to_make(device, world, {}).first;
}

std::pair<std::shared_ptr<PeerRank>, std::string> PeerRank::try_to_make(const Device& device,
                                                                        const World& world,
                                                                        std::string_view ptx) {
  if (world.ranks() > kMostRanks) {
    return {nullptr, fmt::format("the kernels of all-reduces between peers take up to {} ranks, "
                                 "and this run has {}",
                                 kMostRanks, world.ranks())};
  }
  std::shared_ptr<PeerRank> rank(new PeerRank(device, world));
  // No rank sends a packet before all slots are clear: the ranks meet below.
  Stream stream(device);
  rank->memory_->fill(kFirstEpoch, 4, kMostBlocks, 0, stream);
  rank->memory_->fill(0, 4, (rank->memory_->bytes() - kSlotsOffset) / 4, kSlotsOffset, stream);
  rank->memory_->set_name("the slots of collectives");
  stream.synchronize();
  if (std::string obstacle = rank->connect(); !obstacle.empty()) {
    rank->disconnect();
    return {nullptr, std::move(obstacle)};
  }
  const bool has_pdl = device.architecture() >= chip::kFirstWithPdl;
  rank->module_ = Module::load(
      device, Image::from_static(ptx.empty() ? kernels_ptx(has_pdl) : ptx, "<all-reduces>"));
  // Kernels are loaded now: a load may wait for kernels that run.
  for (const KernelSuffix& suffix : kKernelSuffixes) {
    rank->plan_of(suffix.dtype, false);
    if (has_pdl) rank->plan_of(suffix.dtype, true);
  }
  // Kernels that a caller enqueued, and waits for by itself, must end with the run, too.
  world.communicator()->when_failed([waiting = std::weak_ptr<PeerRank>(rank)] {
    if (const std::shared_ptr<PeerRank> present = waiting.lock()) present->abort();
  });
  world.meet("the connection of peers");
  rank->is_connected_ = true;
  return {std::move(rank), {}};
}

PeerOffer PeerRank::own_offer() const {
  const driver::Driver& driver = device_.driver();
  PeerOffer own;
  gethostname(own.machine, sizeof(own.machine) - 1);
  own.address = memory_->address();
  own.context = device_.native_context();
  own.device = device_.native();
  BATON_DRIVER_CALL(driver, cuDeviceGetUuid, &own.uuid, own.device);
  if (!world_.is_of_threads() && driver.simulator == nullptr) {
    own.has_handle = driver.cuIpcGetMemHandle(&own.handle, own.address) == CUDA_SUCCESS ? 1 : 0;
  }
  return own;
}

// Makes the memory of a rank of this process accessible; else says why it cannot be.
std::string PeerRank::share(const PeerOffer& offer, std::uint64_t* address) {
  const driver::Driver& driver = device_.driver();
  const bool is_own = offer.device == device_.native();
  int can = 0;
  if (!is_own)
    BATON_DRIVER_CALL(driver, cuDeviceCanAccessPeer, &can, device_.native(), offer.device);
  if (!is_own && can == 0) return "nothing links their devices";
  std::shared_ptr<const Memory> memory = PeerMemories::instance().find(offer.address);
  if (memory == nullptr) return "that rank has ended";
  connections_->shared.push_back(std::move(memory));
  *address = offer.address;
  if (is_own) return {};
  const CUresult result = driver.cuCtxEnablePeerAccess(offer.context, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
    driver::check(driver, result, "cuCtxEnablePeerAccess");
  }
  return {};
}

// The same of a rank of another process.
std::string PeerRank::open(const PeerOffer& own, const PeerOffer& offer, std::uint64_t* address) {
  const driver::Driver& driver = device_.driver();
  if (driver.simulator != nullptr) {
    return "simulated devices share memory only in one process, which has to have all ranks";
  }
  if (std::strcmp(offer.machine, own.machine) != 0) {
    return fmt::format("they run on the machines {} and {}", own.machine, offer.machine);
  }
  if (offer.has_handle == 0) return "its driver shares no memory between processes";
  CUdeviceptr opened = 0;
  const CUresult result =
      driver.cuIpcOpenMemHandle(&opened, offer.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED || result == CUDA_ERROR_NOT_SUPPORTED) {
    return "nothing links their devices";
  }
  driver::check(driver, result, "cuIpcOpenMemHandle");
  connections_->opened.push_back(opened);
  *address = opened;
  return {};
}

std::string PeerRank::connect() {
  const ContextGuard guard(device_);
  const PeerOffer own = own_offer();
  std::vector<PeerOffer> offers(world_.ranks());
  world::all_gather(*world_.communicator(), {"offers of peers", "the choice of collectives"},
                    sizeof(PeerOffer), reinterpret_cast<const char*>(&own),
                    reinterpret_cast<char*>(offers.data()));
  Obstacle own_obstacle = {};
  for (std::uint32_t rank = 0; rank < world_.ranks(); ++rank) {
    std::uint64_t* const address = &arguments_->memory[rank];
    *address = own.address;
    if (rank == world_.rank()) continue;
    const std::string obstacle =
        world_.is_of_threads() ? share(offers[rank], address) : open(own, offers[rank], address);
    if (obstacle.empty() || own_obstacle[0] != '\0') continue;
    const std::string text = fmt::format("rank {} cannot access the memory of rank {}: {}",
                                         world_.rank(), rank, obstacle);
    text.copy(own_obstacle.data(), own_obstacle.size() - 1);
  }
  for (std::size_t rank = 1; rank < offers.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      shares_device_ |= is_one_device(offers[rank], offers[other]);
    }
  }
  arguments_->rank = static_cast<int>(world_.rank());
  arguments_->ranks = static_cast<int>(world_.ranks());
  arguments_->stop = reinterpret_cast<DeviceAddress>(stop_.data());
  std::vector<Obstacle> obstacles(world_.ranks());
  world::all_gather(*world_.communicator(), {"obstacles of peers", "the choice of collectives"},
                    sizeof(Obstacle), own_obstacle.data(), obstacles.front().data());
  for (const Obstacle& each : obstacles) {
    if (each[0] != '\0') return each.data();
  }
  return {};
}

void PeerRank::disconnect() {
  connections_.reset();
  world_.meet("the search for peers");
}

bool PeerRank::can_connect(const Device& device, const World& world) {
  if (world.ranks() > kMostRanks) return false;
  PeerRank rank(device, world);
  const bool can = rank.connect().empty();
  rank.disconnect();
  return can;
}

LaunchPlan& PeerRank::plan_of(DType dtype, bool early) {
  const auto found = plans_.find({dtype, early});
  if (found != plans_.end()) return found->second;
  LaunchConfig config;
  config.grid = Dim3(1);
  config.block = Dim3(kThreads);
  config.stream = device_;
  if (early) config.attributes.set(pdl());
  // Placeholders: each launch brings its own.
  const Kernel kernel =
      module_->kernel("baton_all_reduce_" + std::string(suffix_of(dtype).value()));
  Arguments& a = *arguments_;
  const auto argument = [](const auto& value) {
    return Argument{&value, sizeof(value), false, std::nullopt};
  };
  const std::array<Argument, 12> arguments = {
      argument(a.memory), argument(a.rank),     argument(a.ranks),    argument(a.from),
      argument(a.to),     argument(a.elements), argument(a.of_block), argument(a.of_round),
      argument(a.op),     argument(a.shots),    argument(a.stop),     argument(a.epilogue)};
  return plans_.emplace(std::pair(dtype, early), LaunchPlan(kernel, config, arguments))
      .first->second;
}

// All ranks must come to the same.
Shots PeerRank::shots_of(const AllReduce& step) const {
  const std::uint64_t others = world_.ranks() - 1;
  const std::uint64_t bytes = step.count * size_of(step.dtype);
  return others > 1 && bytes * others > kMostOfOneShot ? Shots::kTwo : Shots::kOne;
}

OwnLaunch PeerRank::launch_of(const AllReduce& step, Shots shots, bool early) {
  const Division division =
      division_of(step.count, size_of(step.dtype), step.epilogue.row, kMostBlocks);
  Arguments& arguments = *arguments_;
  arguments.from = step.from;
  arguments.to = step.to;
  arguments.elements = step.count;
  arguments.of_block = division.of_block;
  arguments.of_round = division.of_round;
  arguments.op = number_of(step.op);
  arguments.shots = static_cast<int>(shots);
  arguments.epilogue = step.epilogue;
  LaunchPlan& plan = plan_of(step.dtype, early && device_.architecture() >= chip::kFirstWithPdl);
  plan.set_grid(Dim3(division.blocks));
  return {&plan, arguments.places.data()};
}

void PeerRank::abort() noexcept {
  std::atomic_ref<std::uint32_t>(stop_[0]).store(1, std::memory_order_release);
}

}  // namespace baton::peer
