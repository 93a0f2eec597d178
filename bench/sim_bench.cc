// The simulated GPU's speed, with all memory checks on: lane-instructions per second, and the tiled
// GEMM against one fixed scalar loop in the same run. Rates are per second of processor time, so
// they are a core's, whatever else the machine does. BATON_BENCH_WORKERS sets the host threads
// (default 1).

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chip/chip.h"
#include "ptx/ast.h"
#include "scalar_gemm.h"
#include "sim/engine/judge/ordering.h"
#include "sim/engine/lower/module.h"
#include "sim/engine/memory/memory.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/engine.h"

namespace {

using namespace baton;

class Device {
 public:
  // `judged`: with everything that looks for races by default, which costs time; `races`: what
  // else it looks for.
  explicit Device(bool judged = false, Races races = Races::kUsual,
                  const std::string& kernels = "sim_bench.ptx")
      : judged_(judged),
        races_(races),
        memory_(0, std::uint64_t{1} << 32),
        engine_(config(judged), memory_) {
    if (judged) memory_.impl().watch();
    std::ifstream file(std::string(BATON_SOURCE_DIR) + "/bench/kernels/" + kernels);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    module_ =
        sim::LoadedModule::load(ptx::ParsedModule::parse(text, kernels), memory_, *chip::find(90));
  }

  std::uint64_t floats(std::size_t count) {
    const std::uint64_t address = memory_.allocate(count * 4);
    const std::vector<float> values(count, 1.25f);
    memory_.write(address, values.data(), count * 4);
    return address;
  }

  template <class... Args>
  driver::Counters run(const char* name, sim::Extent3 grid, sim::Extent3 block, Args... args) {
    sim::GridLaunch launch;
    launch.module = module_;
    launch.kernel = module_->kernel(name);
    launch.grid = grid;
    launch.block = block;
    if (judged_) {
      const sim::Ordering::Edge after[] = {{launched_}};
      launched_ = sim::Ordering::instance().add(after, {name, launch.kernel->decoded});
      launch.number = launched_;
      launch.finds_own_races = races_ == Races::kGlobal;
    }
    launch.params.resize(launch.kernel->param_bytes);
    std::size_t k = 0;
    const auto put = [&](auto value) {
      std::memcpy(launch.params.data() + launch.kernel->params.at(k++).offset, &value,
                  sizeof(value));
    };
    (put(args), ...);
    const auto running = engine_.begin(std::move(launch));
    sim::Grid* grids[] = {running.get()};
    while (running->state() == sim::Grid::State::kRunning) engine_.advance(grids, 100'000'000);
    if (running->state() != sim::Grid::State::kFinished || !engine_.findings().empty()) {
      throw std::runtime_error("the kernel did not run cleanly");
    }
    return running->counters();
  }

 private:
  static sim::EngineConfig config(bool judged) {
    sim::EngineConfig made;
    made.chip = chip::find(90);
    made.sm_count = 132;
    made.watch_shared = judged;
    const char* workers = std::getenv("BATON_BENCH_WORKERS");
    made.workers = workers == nullptr ? 1 : static_cast<unsigned>(std::atoi(workers));
    return made;
  }
  const bool judged_;
  const Races races_;
  sim::DeviceMemory memory_;
  sim::Engine engine_;
  std::shared_ptr<sim::LoadedModule> module_;
  sim::Ordering::Number launched_ = 0;  // the launch before, which the next one comes after
};

void count(benchmark::State& state, const driver::Counters& last) {
  const double runs = static_cast<double>(state.iterations());
  state.counters["lane_instr"] = benchmark::Counter(
      runs * static_cast<double>(last.lane_instructions), benchmark::Counter::kIsRate);
  state.counters["warp_instr"] = benchmark::Counter(
      runs * static_cast<double>(last.warp_instructions), benchmark::Counter::kIsRate);
}

constexpr int kSize = 512;

void gemm512(benchmark::State& state, bool judged, Races races = Races::kUsual) {
  Device device(judged, races);
  const std::uint64_t a = device.floats(kSize * kSize);
  const std::uint64_t b = device.floats(kSize * kSize);
  const std::uint64_t c = device.floats(kSize * kSize);
  driver::Counters last;
  for (auto _ : state) last = device.run("gemm", {8, 8}, {16, 16}, c, a, b, kSize);
  count(state, last);
}
void Gemm512(benchmark::State& state) {
  gemm512(state, false);
}
BENCHMARK(Gemm512)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
void Gemm512Judged(benchmark::State& state) {
  gemm512(state, true);
}
BENCHMARK(Gemm512Judged)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void Gemm512JudgedInside(benchmark::State& state) {
  gemm512(state, true, Races::kGlobal);
}
BENCHMARK(Gemm512JudgedInside)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

// The rate of the tensor cores' instructions: two operations for each product.
void count_products(benchmark::State& state, double products) {
  const double runs = static_cast<double>(state.iterations());
  state.counters["flop"] = benchmark::Counter(runs * 2 * products, benchmark::Counter::kIsRate);
}

void Mma(benchmark::State& state) {
  constexpr unsigned kBlocks = 8, kThreads = 256;
  constexpr int kTimes = 4096;
  Device device(false, Races::kUsual, "sim_matrix.ptx");
  const std::uint64_t out = device.floats(kBlocks * kThreads);
  for (auto _ : state) device.run("mma", {kBlocks}, {kThreads}, out, kTimes);
  count_products(state, 16.0 * 8 * 16 * kTimes * kBlocks * kThreads / 32);
}
BENCHMARK(Mma)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void wgmma1024(benchmark::State& state, bool judged) {
  constexpr unsigned kSide = 1024;
  Device device(judged, Races::kUsual, "sim_matrix.ptx");
  const std::uint64_t a = device.floats(kSide * kSide / 2);
  const std::uint64_t b = device.floats(kSide * kSide / 2);
  const std::uint64_t c = device.floats(kSide * kSide);
  for (auto _ : state) {
    device.run("wgmma", {kSide / 128, kSide / 64}, {128}, c, a, b, static_cast<int>(kSide));
  }
  count_products(state, double{kSide} * kSide * kSide);
}
void Wgmma1024(benchmark::State& state) {
  wgmma1024(state, false);
}
BENCHMARK(Wgmma1024)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
void Wgmma1024Judged(benchmark::State& state) {
  wgmma1024(state, true);
}
BENCHMARK(Wgmma1024Judged)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void ScalarGemm512(benchmark::State& state) {
  const std::vector<float> a(kSize * kSize, 1.25f);
  const std::vector<float> b(kSize * kSize, 1.25f);
  std::vector<float> c(kSize * kSize);
  for (auto _ : state) {
    bench::scalar_gemm(c.data(), a.data(), b.data(), kSize);
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ScalarGemm512)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void saxpy4m(benchmark::State& state, bool judged, Races races = Races::kUsual) {
  Device device(judged, races);
  const int n = 4 << 20;
  const std::uint64_t x = device.floats(n);
  const std::uint64_t y = device.floats(n);
  driver::Counters last;
  for (auto _ : state) last = device.run("saxpy", {n / 256}, {256}, y, x, 1.5f, n);
  count(state, last);
}
void Saxpy4M(benchmark::State& state) {
  saxpy4m(state, false);
}
BENCHMARK(Saxpy4M)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
void Saxpy4MJudged(benchmark::State& state) {
  saxpy4m(state, true);
}
BENCHMARK(Saxpy4MJudged)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void Saxpy4MJudgedInside(benchmark::State& state) {
  saxpy4m(state, true, Races::kGlobal);
}
BENCHMARK(Saxpy4MJudgedInside)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void ShuffleReduce4M(benchmark::State& state) {
  Device device;
  const int n = 4 << 20;
  const std::uint64_t x = device.floats(n);
  const std::uint64_t sums = device.floats(1024);
  driver::Counters last;
  for (auto _ : state) last = device.run("reduce", {1024}, {256}, sums, x, n);
  count(state, last);
}
BENCHMARK(ShuffleReduce4M)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void DivergentLoop(benchmark::State& state) {
  Device device;
  const int n = 1 << 14;
  const std::uint64_t y = device.floats(n);
  driver::Counters last;
  for (auto _ : state) last = device.run("divergent", {n / 256}, {256}, y, 1000);
  count(state, last);
}
BENCHMARK(DivergentLoop)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace

BENCHMARK_MAIN();
