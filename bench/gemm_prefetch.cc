// A matrix product of few rows after a norm: the case of CUTLASS's example 63. The weights come
// from memory and set the pace; a product that begins to fetch them while the norm still runs hides
// some of that. How much does it gain, and where does it stand beside that example and cuBLASLt?
//
// So many pairs of RMSNorm and product follow one another in one CUDA graph, each with other
// weights, so that none are in L2. Between pairs are full edges, or with --chain 1 programmatic
// ones where the arm has them; the norm is one and the same kernel everywhere, with and without a
// trigger. Results of every pair are checked against a plain kernel's in an arm's first run, and
// every later run's last one against the first run's, bit by bit: what is wrong ends the run where
// it is Baton's, and is said in its line where it is another library's. Types of edges are read
// back from the driver. Arms take turns. Printed are medians for a pair, the share of what a kernel
// reaches that only reads the weights in the same rounds, the share of the nominal bandwidth, the
// median paired difference to Baton's graph without PDL with its 95 % interval, and the greatest
// difference to the reference, as a part of 1 + |what is wanted|.
//
//   gemm_prefetch [--device D] [--types bf16,fp8] [--batches N,N,...] [--shapes ROWSxCOLUMNS,...]
//                 [--rounds N] [--pairs N] [--chain 0|1] [--trigger top|loads] [--fill BYTES]
//                 [--cublas FILE|off] [--choices N] [--cutlass on|off]
//                 [--rows N] [--split N] [--stages N] [--warps N] [--shared BYTES]
//                 [--carveout PERCENT]

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bandwidth.h"
#include "baton/baton.h"
#include "driver/driver.h"
#include "gemm_data.h"
#include "gemm_foreign.h"
#include "gemm_plan.h"
#include "graph_edges.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "turns.h"

namespace {

using namespace baton;
using bench::Difference;
using bench::GemmData;
using bench::GemmPlan;
using bench::GemmShape;
using bench::GemmTuning;
using bench::GemmVariant;

// One way to execute all pairs.
class Arm {
 public:
  virtual ~Arm() = default;
  // Executes them twice and gives how long the second time took, in seconds.
  virtual double sample() = 0;
  // Of its graph, as the driver has them.
  virtual std::uint64_t programmatic_edges() const = 0;
};

class BatonArm : public Arm {
 public:
  BatonArm(const Device& device, const GemmData& data, Program program, bool pdl)
      : executable_(Executable::prepare(
            program, device,
            {.executor = ExecutorKind::kGraph, .pdl = pdl ? PdlMode::kAuto : PdlMode::kOff})) {
    executable_.bind(data.bindings());
  }

  double sample() override {
    return executable_.run({.repeat = 2, .time_steps = false}).run_seconds.back();
  }
  std::uint64_t programmatic_edges() const override {
    return executable_.report().graph->programmatic_edges;
  }

 private:
  Executable executable_;
};

// A foreign product after our norm, captured from a stream.
class CapturedArm : public Arm {
 public:
  CapturedArm(const Device& device, const GemmData& data, const Kernel& norm,
              bench::NamedForeignGemm gemm, const GemmTuning& tuning, bool chained)
      : device_(device),
        norm_(norm),
        gemm_(std::move(gemm)),
        begin_(device),
        end_(device),
        stream_(device) {
    const ContextGuard guard(device);
    const auto enqueue = [&](std::int64_t pair, bool early) {
      LaunchConfig config{
          .grid = static_cast<std::uint32_t>(data.shape().batch), .block = 512, .stream = stream_};
      if (tuning.carveout >= 0) {
        config.attributes.set(preferred_shared_memory_carveout(tuning.carveout));
      }
      config.attributes.set(pdl(early));
      norm_.launch(config, DevicePointer<const void>{data.rows(pair)},
                   DevicePointer<const void>{data.norm()}, DevicePointer<void>{data.normed()},
                   static_cast<std::uint32_t>(data.shape().rows));
      gemm_.gemm->enqueue(data.weights(pair), data.normed(), data.rows(pair + 1), stream_.native());
    };
    // Libraries load their kernels when they are launched first, which no capture should see.
    enqueue(0, false);
    stream_.synchronize();
    BATON_DRIVER_CALL(driver(), cuStreamBeginCapture, stream_.native(),
                      CU_STREAM_CAPTURE_MODE_RELAXED);
    for (std::int64_t pair = 0; pair < data.shape().pairs; ++pair) {
      enqueue(pair, chained && gemm_.pdl && pair > 0);
    }
    BATON_DRIVER_CALL(driver(), cuStreamEndCapture, stream_.native(), &graph_);
    BATON_DRIVER_CALL(driver(), cuGraphInstantiateWithFlags, &exec_, graph_, 0);
  }
  ~CapturedArm() override {
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL_QUIETLY(driver(), cuGraphExecDestroy, exec_);
    BATON_DRIVER_CALL_QUIETLY(driver(), cuGraphDestroy, graph_);
  }

  double sample() override {
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL(driver(), cuGraphLaunch, exec_, stream_.native());
    stream_.synchronize();
    begin_.record(stream_);
    BATON_DRIVER_CALL(driver(), cuGraphLaunch, exec_, stream_.native());
    end_.record(stream_);
    end_.synchronize();
    return elapsed_seconds(begin_, end_);
  }

  std::uint64_t programmatic_edges() const override {
    return bench::programmatic_edges(device_, graph_);
  }

 private:
  const driver::Driver& driver() const { return device_.driver(); }

  Device device_;
  Kernel norm_;  // its module outlives the graph
  bench::NamedForeignGemm gemm_;
  Event begin_, end_;
  Stream stream_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

// Of differences. A value that was read too early is off by much more.
constexpr float kTolerance = 2e-2f;

// What the tensor cores' fast FP8 sums, which example 63 is built for, add to that: they keep 14
// bits (DeepSeek-V3 Technical Report, arXiv:2412.19437, 3.3), so that each 32 columns may drop
// 2^-13 of a sum, which may be twice on its way what it is in the end.
float fast_error(const GemmShape& shape) {
  return static_cast<float>(shape.columns) / 32 * 2 / 8192;
}

struct NamedArm {
  std::string name;
  std::unique_ptr<Arm> arm;
  // What there should be of them; nothing where a library's product is more than one kernel.
  std::optional<std::int64_t> programmatic_edges = {};
  bool ours = true;  // what is wrong is an error; with others, part of the result
  float tolerance = kTolerance;
  Difference difference = {};
  std::vector<std::uint16_t> result = {};
  int changed = 0;  // runs whose result was not the first one's
};

struct Settings {
  GemmTuning tuning;
  bool chained = false, cublas = true, cutlass = true;
  GemmVariant::Trigger trigger = GemmVariant::Trigger::kTop;
  std::string library;  // cuBLASLt's file
  int choices = 4, rounds = 20;
};

std::vector<NamedArm> make_arms(const Device& device, const GemmData& data, const GemmPlan& plan,
                                const Settings& settings, const Memory& workspace) {
  const GemmShape& shape = data.shape();
  const auto edges = [&](bool pdl) {
    const bool early = pdl && device.architecture() >= 90;
    return early ? settings.chained ? 2 * shape.pairs - 1 : shape.pairs : 0;
  };
  std::vector<NamedArm> arms;
  for (const auto& [name, variant] :
       {std::pair("Baton, no PDL", GemmVariant{}),
        std::pair("Baton, PDL, wait first", GemmVariant{settings.trigger, false}),
        std::pair("Baton, PDL, weights before the wait", GemmVariant{settings.trigger, true})}) {
    const bool pdl = variant.trigger != GemmVariant::Trigger::kNone;
    arms.push_back(
        {name,
         std::make_unique<BatonArm>(
             device, data,
             bench::gemm_program(shape, plan, settings.tuning, variant, settings.chained), pdl),
         edges(pdl)});
  }
  const auto add = [&](const std::string& family, bench::ForeignGemms&& gemms, bool one_kernel,
                       float tolerance) {
    if (!gemms.absent.empty()) fmt::print("  {}: none, {}\n", family, gemms.absent);
    for (bench::NamedForeignGemm& gemm : gemms.gemms) {
      const GemmVariant variant{gemm.pdl ? settings.trigger : GemmVariant::Trigger::kNone, false};
      const Kernel norm =
          compile(device,
                  bench::kernel_source("gemm_prefetch.cu",
                                       bench::gemm_prelude(shape, plan, settings.tuning, variant)))
              .kernel("rmsnorm");
      NamedArm arm{.name = family + ", " + gemm.name, .arm = nullptr, .ours = false};
      arm.tolerance = tolerance;
      if (one_kernel) arm.programmatic_edges = edges(gemm.pdl);
      arm.arm = std::make_unique<CapturedArm>(device, data, norm, std::move(gemm), settings.tuning,
                                              settings.chained);
      arms.push_back(std::move(arm));
    }
  };
  const ContextGuard guard(device);
  if (settings.cublas) {
    add("cuBLASLt", bench::cublas_gemms(shape, workspace, settings.library, settings.choices),
        false, kTolerance);
  }
  if (settings.cutlass) {
    add("CUTLASS example 63", bench::cutlass_gemms(shape), true, kTolerance + fast_error(shape));
  }
  return arms;
}

void measure(const Device& device, const GemmShape& shape, const Settings& settings) {
  const GemmPlan plan = plan_gemm(shape, settings.tuning, device.limits().multiprocessors);
  fmt::print(
      "\n{}, {} pairs {}: {} blocks of {} threads, {} rows, {} a warp, {} warps and {} blocks "
      "share "
      "columns, {} stages of {} x 128 bytes, {} KiB\n",
      shape.name(), shape.pairs, settings.chained ? "in a chain" : "apart", plan.blocks(shape),
      plan.threads(), plan.rows, plan.warp_rows, plan.k_warps, plan.split, plan.stages, plan.boxes,
      plan.shared(shape) >> 10);
  GemmData data(device, shape);
  const Memory workspace(device, settings.cublas ? bench::kCublasWorkspace : 0);
  std::vector<NamedArm> arms = make_arms(device, data, plan, settings, workspace);
  const auto sample = [&](std::size_t i) {
    if (i == arms.size()) return data.read();
    NamedArm& arm = arms[i];
    data.forget();
    const double seconds = arm.arm->sample();
    std::vector<std::uint16_t> result = data.last();
    if (arm.result.empty()) {
      arm.difference = data.difference(arm.tolerance);
      arm.result = std::move(result);
    } else if (result != arm.result) {
      ++arm.changed;
    }
    if (arm.ours && (arm.difference.wrong != 0 || arm.changed != 0)) {
      throw Error(
          ErrorCode::kMismatch,
          fmt::format("{}: {}: {} elements are wrong, by up to {}, and {} runs' differ from "
                      "the first one's",
                      shape.name(), arm.name, arm.difference.wrong, arm.difference.greatest,
                      arm.changed));
    }
    return seconds / static_cast<double>(shape.pairs);
  };
  const auto times = bench::take_turns(arms.size() + 1, settings.rounds, sample);

  const auto bytes = static_cast<double>(shape.weights() * shape.element());
  const double read = bench::median(times.back()) / static_cast<double>(shape.pairs);
  const double nominal = bytes / bench::nominal_bandwidth(device);
  fmt::print("  {:<46} {:8.2f} us, {:.2f} TB/s\n", "reading the weights alone", 1e6 * read,
             bytes / read / 1e12);
  const double plain = bench::median(times[0]);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const double time = bench::median(times[i]);
    const auto difference = bench::paired_difference(times[i], times[0]);
    const std::uint64_t edges = arms[i].arm->programmatic_edges();
    fmt::print(
        "  {:<46} {:8.2f} us, {:5.1f} % of measured, {:5.1f} % of nominal   {:+6.1f} % [{:+.1f}, "
        "{:+.1f}]   {} programmatic edges, off by {:.3f}{}{}\n",
        arms[i].name, 1e6 * time, 100 * read / time, 100 * nominal / time,
        100 * difference.median / plain, 100 * difference.low / plain,
        100 * difference.high / plain, edges, arms[i].difference.greatest,
        arms[i].difference.wrong != 0
            ? fmt::format(", WRONG in {} elements", arms[i].difference.wrong)
            : "",
        arms[i].changed != 0 ? fmt::format(", another result in {} runs", arms[i].changed) : "");
    const auto want = arms[i].programmatic_edges;
    if (want && edges != static_cast<std::uint64_t>(*want)) {
      throw Error(ErrorCode::kMismatch,
                  fmt::format("{}: {} programmatic edges, not {}", arms[i].name, edges, *want));
    }
  }
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) result.push_back(word);
  return result;
}

// Enough pairs that their weights are many times the L2 cache, if no number is given.
GemmShape shape_of(const std::string& type, const std::string& batch, const std::string& extents,
                   int pairs) {
  GemmShape shape;
  if (type != "bf16" && type != "fp8") {
    throw Error(ErrorCode::kInvalidInput, fmt::format("--types {}: it takes bf16 and fp8", type));
  }
  shape.fp8 = type == "fp8";
  shape.batch = std::atoll(batch.c_str());
  constexpr long kMost = 1 << 20;
  long rows = 0, columns = 0;
  if (std::sscanf(extents.c_str(), "%ldx%ld", &rows, &columns) != 2 || rows <= 0 || columns <= 0 ||
      rows > kMost || columns > kMost) {
    throw Error(ErrorCode::kInvalidInput,
                fmt::format("--shapes {}: it takes ROWSxCOLUMNS of the weights, each 1 to {}",
                            extents, kMost));
  }
  shape.rows = rows;
  shape.columns = columns;
  constexpr std::int64_t kBytes = 512 << 20;
  shape.pairs =
      pairs > 0 ? pairs : std::max<std::int64_t>(4, kBytes / (shape.weights() * shape.element()));
  return shape;
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  Settings settings;
  settings.tuning.rows = options.number("--rows", 0);
  settings.tuning.split = options.number("--split", settings.tuning.split);
  settings.tuning.stages = options.number("--stages", 0);
  settings.tuning.warps = options.number("--warps", settings.tuning.warps);
  settings.tuning.shared = options.number("--shared", settings.tuning.shared);
  settings.tuning.carveout = options.number("--carveout", settings.tuning.carveout);
  settings.chained = options.number("--chain", 0) != 0;
  settings.tuning.fill = options.number("--fill", settings.tuning.fill);
  const std::string trigger = options.text("--trigger", "top");
  if (trigger != "top" && trigger != "loads") {
    throw Error(ErrorCode::kInvalidInput,
                fmt::format("--trigger {}: it takes top and loads", trigger));
  }
  if (trigger == "loads") settings.trigger = GemmVariant::Trigger::kLoads;
  // Libraries need the CUDA runtime, and that a GPU.
  const bool gpu = device.spec().starts_with("cuda");
  settings.library = options.text("--cublas", "libcublasLt.so.13");
  settings.cublas = gpu && settings.library != "off";
  settings.cutlass = gpu && options.text("--cutlass", "on") != "off";
  settings.choices = options.number("--choices", settings.choices);
  settings.rounds = std::max(1, options.number("--rounds", settings.rounds));
  fmt::print("{} ({}), driver of CUDA {}.{}, {} rounds\n", device.spec(), device.name(),
             device.driver_version() / 1000, device.driver_version() % 1000 / 10, settings.rounds);
  for (const std::string& type : words(options.text("--types", "bf16,fp8"))) {
    for (const std::string& extents :
         words(options.text("--shapes", "4096x4096,14336x4096,28672x4096,4096x14336"))) {
      for (const std::string& batch : words(options.text("--batches", "8,16,32,64"))) {
        measure(device, shape_of(type, batch, extents, options.number("--pairs", 0)), settings);
      }
    }
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
