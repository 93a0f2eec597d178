// What a launch costs the host, each way of launching compared with the raw driver call in the
// same run. One round times every arm once, in a new order, so that none always follows the same
// other; a sample is 64 launches of an empty kernel into an idle stream, so the queue never fills.
// Printed are medians over the rounds and the median paired difference to cuLaunchKernelEx with a
// CUfunction, with its 95 % interval.
//
//   launch_cost [--device D] [--rounds N] [--attributes N] [--arguments N] [--arm NAME]
//
// `--arm` repeats one way alone, for counting its instructions under a profiler. `--device null`
// needs no GPU: the driver's launch calls do nothing, which leaves Baton's own share.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "baton/baton.h"
#include "null_device.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"
#include "tvm_ffi_arm.h"

namespace {

using namespace baton;
using baton::bench::make_tvm_ffi_arm;
using baton::bench::median;
using baton::bench::paired_difference;
using baton::bench::TvmFfiArm;

constexpr int kLaunches = 64;  // a sample
constexpr std::uint64_t kValues[32] = {};

// It waits where devices can, since pdl() is for kernels that wait.
std::string empty_kernel(int arguments, int architecture) {
  const bool waits = architecture >= 90;
  std::string text = fmt::format(
      ".version 8.0\n.target sm_{}\n.address_size 64\n.visible .entry empty(", waits ? 90 : 80);
  for (int i = 0; i < arguments; ++i) {
    text += fmt::format("{}.param .u64 empty_param_{}", i == 0 ? "" : ", ", i);
  }
  return text + (waits ? ") { griddepcontrol.wait; ret; }\n" : ") { ret; }\n");
}

LaunchAttributes attributes(int count) {
  LaunchAttributes result;
  if (count >= 1) result.set(pdl());
  if (count >= 2) result.set(priority(0));
  if (count >= 3) result.set(mem_sync_domain(MemSyncDomain::kDefault));
  if (count >= 4) result.set(cluster_scheduling_policy(ClusterSchedulingPolicy::kSpread));
  return result;
}

using Arm = std::pair<std::string, std::function<void(int)>>;

// As user code writes it: the config, with its attributes, is made for each launch.
template <int kAttributes, std::size_t... I>
void launch_typed(const Kernel& kernel, const Stream& stream, std::index_sequence<I...>) {
  if constexpr (kAttributes == 0) {
    kernel.launch({.block = 32, .stream = stream}, kValues[I]...);
  } else if constexpr (kAttributes == 1) {
    kernel.launch({.block = 32, .stream = stream, .attributes = {pdl()}}, kValues[I]...);
  } else {
    kernel.launch({.block = 32,
                   .stream = stream,
                   .attributes = {pdl(), priority(0), mem_sync_domain(MemSyncDomain::kDefault),
                                  cluster_scheduling_policy(ClusterSchedulingPolicy::kSpread)}},
                  kValues[I]...);
  }
}

// The typed launch for a number of arguments and attributes known when the program runs.
using TypedLaunch = void (*)(const Kernel&, const Stream&);
template <int kAttributes, std::size_t kArguments>
void typed(const Kernel& kernel, const Stream& stream) {
  launch_typed<kAttributes>(kernel, stream, std::make_index_sequence<kArguments>());
}
template <int kAttributes>
TypedLaunch find_typed(int arguments) {
  switch (arguments) {
    case 0:
      return typed<kAttributes, 0>;
    case 1:
      return typed<kAttributes, 1>;
    case 4:
      return typed<kAttributes, 4>;
    case 8:
      return typed<kAttributes, 8>;
    case 16:
      return typed<kAttributes, 16>;
    default:
      return typed<kAttributes, 32>;
  }
}

class LaunchCosts {
 public:
  LaunchCosts(const Device& device, int arguments, int attribute_count)
      : device_(device),
        stream_(device),
        image_(empty_kernel(arguments, device.architecture())),
        kernel_(Module::load(device, Image::from_bytes(image_, "empty.ptx")).kernel()),
        attributes_(attributes(attribute_count)) {
    config_ = {.block = 32, .stream = stream_, .attributes = attributes_};
    for (int i = 0; i < arguments; ++i) {
      pointers_.push_back(const_cast<std::uint64_t*>(&kValues[i]));
      plain_.push_back({&kValues[i], 8, false, DType::kU64});
    }
    pointers_.push_back(nullptr);
    kernel_.prepare(config_);
    native_.gridDimX = native_.gridDimY = native_.gridDimZ = 1;
    native_.blockDimX = 32;
    native_.blockDimY = native_.blockDimZ = 1;
    native_.hStream = stream_.native();
    native_.attrs = reinterpret_cast<CUlaunchAttribute*>(
        const_cast<LaunchAttribute*>(attributes_.all().data()));
    native_.numAttrs = static_cast<unsigned>(attributes_.size());
    plan_.emplace(kernel_, config_, plain_);
    add_driver_arms();
    add_baton_arms(arguments);
    if (device.spec().starts_with("cuda")) add_tvm_ffi_arms();
  }

  void run(int rounds) {
    std::map<std::string, std::vector<double>> times;
    std::vector<const Arm*> order;
    for (const Arm& arm : arms_) order.push_back(&arm);
    std::mt19937 random(1);
    for (int round = -2; round < rounds; ++round) {  // two to warm up
      std::shuffle(order.begin(), order.end(), random);
      for (const Arm* arm : order) {
        const auto& [name, launch] = *arm;
        const auto start = std::chrono::steady_clock::now();
        launch(kLaunches);
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        stream_.synchronize();
        if (round >= 0) times[name].push_back(took.count() / kLaunches);
      }
    }
    const std::vector<double>& reference = times.at("cuLaunchKernelEx, CUfunction");
    for (const auto& [name, launch] : arms_) {
      const auto difference = paired_difference(times.at(name), reference);
      fmt::print("  {:<34} {:8.1f} ns   {:+8.1f} ns  [{:+.1f}, {:+.1f}]\n", name,
                 median(times.at(name)), difference.median, difference.low, difference.high);
    }
  }

  // One arm alone, for counting its instructions under a profiler.
  void repeat(const std::string& name, int count) {
    for (const auto& [arm, launch] : arms_) {
      if (arm == name) return launch(count);
    }
    fmt::print("no arm \"{}\"\n", name);
  }

 private:
  void add(std::string name, std::function<void(int)> launch) {
    arms_.emplace_back(std::move(name), std::move(launch));
  }

  void add_driver_arms() {
    const driver::Driver& driver = device_.driver();
    const CUfunction function = kernel_.native_function();
    const auto handle = reinterpret_cast<CUfunction>(kernel_.native());
    const auto ex = [this, &driver](CUfunction of) {
      return [this, &driver, of](int count) {
        for (int i = 0; i < count; ++i) {
          driver.cuLaunchKernelEx(&native_, of, pointers_.data(), nullptr);
        }
      };
    };
    const auto plain = [this, &driver](CUfunction of) {
      return [this, &driver, of](int count) {
        for (int i = 0; i < count; ++i) {
          driver.cuLaunchKernel(of, 1, 1, 1, 32, 1, 1, 0, stream_.native(), pointers_.data(),
                                nullptr);
        }
      };
    };
    add("cuLaunchKernelEx, CUfunction", ex(function));
    add("cuLaunchKernelEx, CUkernel", ex(handle));
    if (!attributes_.empty()) return;
    add("cuLaunchKernel, CUfunction", plain(function));
    add("cuLaunchKernel, CUkernel", plain(handle));
  }

  void add_baton_arms(int arguments) {
    add("Baton raw, driver's config", [this](int count) {
      for (int i = 0; i < count; ++i) kernel_.launch_raw(native_, pointers_.data());
    });
    add("Baton raw, own config", [this](int count) {
      for (int i = 0; i < count; ++i) kernel_.launch_raw(config_, pointers_.data());
    });
    add("Baton prepared (LaunchPlan)", [this, arguments](int count) {
      for (int i = 0; i < count; ++i) {
        if (arguments != 0) plan_->set(0, kValues[0]);
        plan_->try_launch();
      }
    });
    const TypedLaunch launch = attributes_.size() == 0   ? find_typed<0>(arguments)
                               : attributes_.size() == 1 ? find_typed<1>(arguments)
                                                         : find_typed<4>(arguments);
    add("Baton typed", [this, launch](int count) {
      for (int i = 0; i < count; ++i) launch(kernel_, stream_);
    });
  }

  void add_tvm_ffi_arms() {
    const ContextGuard guard(device_);
    tvm_ffi_ = make_tvm_ffi_arm(image_, "empty");
    if (tvm_ffi_ == nullptr) return;
    if (attributes_.empty()) {
      add("tvm-ffi Launch", [this](int count) {
        for (int i = 0; i < count; ++i) tvm_ffi_->launch(pointers_.data(), stream_.native());
      });
    }
    add("tvm-ffi LaunchEx", [this](int count) {
      for (int i = 0; i < count; ++i) tvm_ffi_->launch_ex(pointers_.data(), native_);
    });
  }

  Device device_;
  Stream stream_;
  std::string image_;
  Kernel kernel_;
  LaunchAttributes attributes_;
  LaunchConfig config_;
  CUlaunchConfig native_{};
  std::vector<void*> pointers_;
  std::vector<Argument> plain_;
  std::optional<LaunchPlan> plan_;
  std::unique_ptr<TvmFfiArm> tvm_ffi_;
  std::vector<Arm> arms_;
};

// Launches of eight arguments by the stream executor: as many runs of kSteps each as come to
// `launches`, after a first one.
void run_program(const Device& device, int launches) {
  constexpr int kSteps = 1000;
  ProgramBuilder builder("launches");
  builder.kernel({.name = "empty",
                  .origin = KernelOrigin::kPtx,
                  .file = BATON_SOURCE_DIR "/bench/kernels/empty.ptx"});
  LaunchStep step{.kernel = "empty", .grid = {1}, .block = {32}};
  for (int i = 0; i < 8; ++i) step.args.push_back(TypedValue{DType::kU64, Expression(i)});
  builder.repeat(kSteps, "", [&] { builder.launch(step); });
  Executable executable = Executable::prepare(builder.build(), device);
  executable.run(
      {.repeat = 1 + static_cast<std::uint64_t>(launches / kSteps), .time_steps = false});
}

}  // namespace

int main(int argc, char** argv) try {
  const baton::bench::Options options(argc, argv);
  const Device device = baton::bench::open_device(options.text("--device", "cuda"));
  const int rounds = options.number("--rounds", 400);
  const int only_arguments = options.number("--arguments", -1);
  const int only_attributes = options.number("--attributes", -1);
  const std::string only_arm = options.text("--arm", "");
  if (only_arm == "stream executor") {
    run_program(device, rounds);
    return 0;
  }
  fmt::print("{} ({}), driver of CUDA {}.{}, {} rounds of {} launches\n", device.spec(),
             device.name(), device.driver_version() / 1000, device.driver_version() % 1000 / 10,
             rounds, kLaunches);
  for (const int attribute_count : {0, 1, 4}) {
    if (only_attributes >= 0 && attribute_count != only_attributes) continue;
    for (const int arguments : {0, 1, 4, 8, 16, 32}) {
      if (only_arguments >= 0 && arguments != only_arguments) continue;
      LaunchCosts costs(device, arguments, attribute_count);
      if (!only_arm.empty()) {
        costs.repeat(only_arm, rounds);
        continue;
      }
      fmt::print("{} arguments, {} attributes\n", arguments, attribute_count);
      costs.run(rounds);
    }
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
