#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/allocator.h"
#include "baton/array.h"
#include "baton/dtype.h"
#include "baton/export.h"
#include "baton/native.h"
#include "baton/world.h"

namespace baton {

// A contiguous array in C order in device memory of the caller, aligned to its elements' size. A
// plain value that owns nothing.
struct DeviceArray {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape = {};
  DeviceAddress address = 0;
};

// Limits of a wait for work of the device.
struct WaitOptions {
  std::optional<std::chrono::duration<double>> timeout = {};
  // Polled: the wait throws kInterrupted soon after it becomes true. May be set by a signal
  // handler.
  const std::atomic<bool>* interrupt = nullptr;
};

// How far a bind is with the contents that it uploads: weights and states. Valid during the call
// that gets it.
struct UploadProgress {
  std::string_view buffer;       // whose contents are uploaded now
  std::uint64_t bytes_done = 0;  // of all buffers; read, and on their way to the device
  std::uint64_t bytes = 0;       // of all buffers
};

// The values of a program's symbols and buffers at the start of a run. A symbol's value comes from
// `symbols`, otherwise from the shapes of `inputs` and `memory`, otherwise from the program.
struct Bindings {
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
  std::vector<std::pair<std::string, Array>> inputs = {};  // for input, weight and inout buffers
  std::uint64_t seed = 0;                                  // for init = "random"
  // Memory for buffers of any role, instead of the executable's own. Nothing is copied into it or
  // out of it, and a run starts with its contents. The caller keeps it allocated until the next
  // `bind` or the executable's end, and does not access it during a run. The caller also orders
  // work that was enqueued elsewhere: a run does not wait for other streams, and returns when its
  // own work is done. Two of these may overlap each other, which the verdicts on edges consider.
  // They must not overlap other memory that the program uses.
  std::vector<std::pair<std::string, DeviceArray>> memory = {};
  // Gives the memory that a bind allocates. Null: the driver. Memory that a buffer keeps from an
  // earlier bind stays where it is.
  std::shared_ptr<Allocator> allocator = {};
  // Called from the thread that binds, at most a few times a second, while contents are uploaded.
  // An exception that it throws ends the bind, as an allocation that fails does.
  std::function<void(const UploadProgress&)> progress = {};
  // The ranks of a program with a world. Empty: those of this process (World::of_process). Inputs
  // of sharded buffers are whole arrays, of which each rank takes its part. Memory of the caller is
  // the rank's part.
  std::optional<World> world = {};
  // The executor of the collectives. The same for all ranks, and for all binds of an executable.
  // With kNccl a bind throws kUnsupported or kNotFound where NCCL cannot, and with kPeer
  // kUnsupported where the devices cannot access each other's memory.
  CollectiveExecutor collectives = CollectiveExecutor::kAuto;
  // Limits of the setup steps, which a bind executes and waits for.
  WaitOptions setup = {};
};

// Another value for a symbol of a bound program.
struct SymbolValue {
  std::string_view symbol;
  std::int64_t value = 0;
};

// A symbol's value, and its origin.
struct BoundSymbol {
  std::string name;
  std::int64_t value = 0;
  std::string source;  // "the call", "the shape of the input x", "the program", "the world"
};

}  // namespace baton
