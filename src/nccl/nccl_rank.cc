#include "nccl/nccl_rank.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "runtime/context.h"
#include "world/communicator.h"
#include "world/exchange.h"

namespace baton::nccl {
namespace {

using namespace std::chrono_literals;

// A rank that is lost is known to the world soon, which names it; NCCL's errors do not.
constexpr auto kWorldIsTold = 1s;
constexpr auto kPause = 5ms;

// A call that waits for the other ranks, on a thread of its own: NCCL has no limit of time.
struct Start {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  Nccl::Result result = Nccl::kSuccess;
  Nccl::Comm comm = nullptr;
  std::string failure;
};

Nccl::Op op_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return Nccl::Op::kSum;
    case ReduceOp::kMax:
      return Nccl::Op::kMax;
    case ReduceOp::kMin:
      return Nccl::Op::kMin;
  }
  throw error(ErrorCode::kInternal, "unknown reduction {}", static_cast<int>(op));
}

const void* source(DeviceAddress address) {
  return reinterpret_cast<const void*>(address);
}
void* target(DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

Nccl::Stream handle(const Stream& stream) {
  return reinterpret_cast<Nccl::Stream>(stream.native());
}

Nccl::UniqueId shared_id(const Nccl& nccl, const world::GroupLink& ranks) {
  Nccl::UniqueId id = {};
  if (ranks.rank() == 0) {
    const Nccl::Result result = nccl.unique_id(&id);
    if (result != Nccl::kSuccess) {
      throw error(ErrorCode::kDriver, "ncclGetUniqueId of {} gives {}", nccl.path,
                  nccl.error_string(result));
    }
  }
  world::broadcast(ranks, {"NCCL's id", "the start of NCCL"}, 0, sizeof(id.bytes), id.bytes);
  return id;
}

}  // namespace

std::shared_ptr<NcclRank> NcclRank::make(const Nccl& nccl, const Device& device, const World& world,
                                         const world::RankGroup& group) {
  const Nccl::UniqueId id = shared_id(nccl, {*world.communicator(), group});
  const auto start = std::make_shared<Start>();
  // Where another rank is lost meanwhile the thread is left alone: it may wait for ever.
  std::thread([start, &nccl, device, id, ranks = static_cast<int>(group.ranks),
               rank = static_cast<int>(group.rank)] {
    Nccl::Comm comm = nullptr;
    Nccl::Result result = Nccl::kSuccess;
    std::string failure;
    try {
      const ContextGuard guard(device);
      result = nccl.init_rank(&comm, ranks, id, rank);
      if (result != Nccl::kSuccess) failure = nccl.last_error(nullptr);
    } catch (const std::exception& thrown) {
      failure = thrown.what();
    }
    const std::lock_guard lock(start->mutex);
    start->is_done = true;
    start->result = result;
    start->comm = comm;
    start->failure = std::move(failure);
    start->changed.notify_all();
  }).detach();

  std::unique_lock lock(start->mutex);
  while (!start->changed.wait_for(lock, kPause, [&] { return start->is_done; })) world.check();
  if (start->comm == nullptr || start->result != Nccl::kSuccess) {
    throw error(ErrorCode::kDriver, "NCCL {} does not start on {}: {}: {}",
                version_text(nccl.number), device.spec(), nccl.error_string(start->result),
                start->failure.empty() ? "NCCL_DEBUG=WARN tells more" : start->failure);
  }
  log(LogLevel::kInfo, "rank {} is number {} of {} in a communicator of NCCL {} ({})", world.rank(),
      group.rank, group.ranks, version_text(nccl.number), nccl.path);
  return std::shared_ptr<NcclRank>(new NcclRank(nccl, device, world, start->comm));
}

NcclRank::~NcclRank() {
  if (aborting_.joinable()) {
    aborting_.join();
    return;
  }
  const bool failed = world_.communicator()->failed();
  release_in_context(device_, [&](const driver::Driver&) {
    const Nccl::Result result = failed ? nccl_.abort(comm_) : nccl_.destroy(comm_);
    if (result != Nccl::kSuccess && !failed) {
      log(LogLevel::kWarning, "ncclCommDestroy gives {}", nccl_.error_string(result));
    }
  });
}

void NcclRank::abort() noexcept {
  if (aborting_.joinable()) return;
  try {
    // It ends the kernels first, and then waits until graphs that captured calls are gone.
    aborting_ = std::thread([&nccl = nccl_, device = device_, comm = comm_] {
      release_in_context(device, [&](const driver::Driver&) { nccl.abort(comm); });
    });
  } catch (const std::exception& failure) {
    log(LogLevel::kWarning, "NCCL's work cannot be ended: {}", failure.what());
  }
}

void NcclRank::fail(const char* name, Nccl::Result result) const {
  const auto until = std::chrono::steady_clock::now() + kWorldIsTold;
  while (std::chrono::steady_clock::now() < until) {
    world_.check();
    std::this_thread::sleep_for(kPause);
  }
  throw error(ErrorCode::kDriver, "{} of NCCL {} on {} gives {} ({}): {}", name,
              version_text(nccl_.number), device_.spec(), nccl_.error_string(result), result,
              nccl_.last_error(comm_));
}

template <typename Call>
void NcclRank::call(const char* name, Call&& act) {
  world_.check();
  const ContextGuard guard(device_);
  const Nccl::Result result = act();
  if (result != Nccl::kSuccess) fail(name, result);
}

void NcclRank::check() const {
  Nccl::Result found = Nccl::kSuccess;
  const Nccl::Result result = nccl_.async_error(comm_, &found);
  if (result != Nccl::kSuccess) fail("ncclCommGetAsyncError", result);
  if (found != Nccl::kSuccess && found != Nccl::kInProgress) fail("a collective", found);
}

void NcclRank::all_reduce(DeviceAddress from, DeviceAddress to, std::uint64_t count,
                          Nccl::Type type, ReduceOp op, const Stream& stream) {
  call("ncclAllReduce", [&] {
    return nccl_.all_reduce(source(from), target(to), count, type, op_of(op), comm_,
                            handle(stream));
  });
}

void NcclRank::reduce_scatter(DeviceAddress from, DeviceAddress to, std::uint64_t count,
                              Nccl::Type type, ReduceOp op, const Stream& stream) {
  call("ncclReduceScatter", [&] {
    return nccl_.reduce_scatter(source(from), target(to), count, type, op_of(op), comm_,
                                handle(stream));
  });
}

void NcclRank::all_gather(DeviceAddress from, DeviceAddress to, std::uint64_t bytes,
                          const Stream& stream) {
  call("ncclAllGather", [&] {
    return nccl_.all_gather(source(from), target(to), bytes, Nccl::Type::kU8, comm_,
                            handle(stream));
  });
}

void NcclRank::broadcast(DeviceAddress data, std::uint64_t bytes, int root, const Stream& stream) {
  call("ncclBroadcast", [&] {
    return nccl_.broadcast(source(data), target(data), bytes, Nccl::Type::kU8, root, comm_,
                           handle(stream));
  });
}

void NcclRank::exchange(std::span<const NcclMessage> messages, const Stream& stream) {
  call("ncclGroupStart", [&] { return nccl_.group_start(); });
  Nccl::Result first = Nccl::kSuccess;
  for (const NcclMessage& each : messages) {
    const Nccl::Result result =
        each.is_send ? nccl_.send(source(each.address), each.bytes, Nccl::Type::kU8, each.peer,
                                  comm_, handle(stream))
                     : nccl_.receive(target(each.address), each.bytes, Nccl::Type::kU8, each.peer,
                                     comm_, handle(stream));
    if (first == Nccl::kSuccess) first = result;
  }
  // The group ends in any case, else it stays open for later calls.
  call("ncclGroupEnd", [&] {
    const Nccl::Result result = nccl_.group_end();
    return first == Nccl::kSuccess ? result : first;
  });
}

std::optional<Nccl::Type> type_of(DType dtype, int architecture) {
  constexpr int kEightBitFloats = 90;  // below, NCCL moves them and does not reduce them
  switch (dtype) {
    case DType::kF16:
      return Nccl::Type::kF16;
    case DType::kBF16:
      return Nccl::Type::kBF16;
    case DType::kF32:
      return Nccl::Type::kF32;
    case DType::kF64:
      return Nccl::Type::kF64;
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      if (architecture < kEightBitFloats) return std::nullopt;
      return dtype == DType::kF8E4M3 ? Nccl::Type::kF8E4M3 : Nccl::Type::kF8E5M2;
    case DType::kI8:
      return Nccl::Type::kI8;
    case DType::kU8:
      return Nccl::Type::kU8;
    case DType::kI32:
      return Nccl::Type::kI32;
    case DType::kU32:
      return Nccl::Type::kU32;
    case DType::kI64:
      return Nccl::Type::kI64;
    case DType::kU64:
      return Nccl::Type::kU64;
    case DType::kBool:
    case DType::kI16:
    case DType::kU16:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace baton::nccl
