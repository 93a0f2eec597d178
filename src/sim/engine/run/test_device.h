#pragma once

// For the engine's tests: a small device that runs PTX texts.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptx/ast.h"
#include "sim/engine/lower/module.h"
#include "sim/engine/memory/memory.h"
#include "sim/engine/run/engine.h"

namespace baton::sim {

class TestDevice {
 public:
  explicit TestDevice(unsigned workers = 1, bool watch_shared = false, int architecture = 90)
      : chip(*chip::find(architecture)),
        memory(0, std::uint64_t{1} << 32),
        engine(config(workers, watch_shared, architecture), memory) {}

  static EngineConfig config(unsigned workers, bool watch_shared = false, int architecture = 90) {
    EngineConfig made;
    made.chip = chip::find(architecture);
    made.sm_count = 132;
    made.workers = workers;
    made.watch_shared = watch_shared;
    return made;
  }

  std::shared_ptr<LoadedModule> load(std::string text, const std::string& name = "test.ptx") {
    return LoadedModule::load(ptx::ParsedModule::parse(std::move(text), name), memory, chip);
  }

  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(memory.read(address, values.data(), count * sizeof(T)));
    return values;
  }

  // Arguments in the order of the kernel's parameters, each of the parameter's size.
  template <class... Args>
  std::unique_ptr<Grid> begin(const std::shared_ptr<LoadedModule>& module, const char* name,
                              Extent3 grid, Extent3 block, std::uint32_t dynamic_shared,
                              Args... args) {
    GridLaunch launch;
    launch.module = module;
    launch.kernel = module->kernel(name);
    if (launch.kernel == nullptr) throw std::runtime_error("no such kernel");
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared = dynamic_shared;
    launch.params.resize(launch.kernel->param_bytes);
    std::size_t k = 0;
    [[maybe_unused]] const auto put = [&](auto value) {
      EXPECT_EQ(launch.kernel->params.at(k).size, sizeof(value)) << "parameter " << k;
      std::memcpy(launch.params.data() + launch.kernel->params[k].offset, &value, sizeof(value));
      ++k;
    };
    (put(args), ...);
    EXPECT_EQ(k, launch.kernel->params.size());
    return engine.begin(std::move(launch));
  }

  // What the judge finds of k(out), in blocks of 64 threads, where `out` has so many words of 0.
  // `inside`: races between the grid's own blocks and warps, too.
  std::vector<driver::Finding> findings_of(const std::shared_ptr<LoadedModule>& module,
                                           Extent3 blocks, std::size_t words, bool inside) {
    const std::uint64_t out = upload(std::vector<std::uint32_t>(words));
    GridLaunch launch;
    launch.module = module;
    launch.kernel = module->kernel("k");
    launch.grid = blocks;
    launch.block = {64};
    launch.finds_own_races = inside;
    launch.params.resize(sizeof(out));
    std::memcpy(launch.params.data(), &out, sizeof(out));
    const auto grid = engine.begin(std::move(launch));
    finish(*grid);
    EXPECT_EQ(grid->state(), Grid::State::kFinished);
    return engine.findings();
  }

  // Runs to the end, or for at most `budget` warp instructions.
  void finish(Grid& grid, std::uint64_t budget = 1'000'000'000) {
    Grid* grids[] = {&grid};
    const std::uint64_t start = grid.counters().warp_instructions;
    while (grid.state() == Grid::State::kRunning &&
           grid.counters().warp_instructions - start < budget) {
      engine.advance(grids, 1'000'000);
    }
  }

  template <class... Args>
  std::unique_ptr<Grid> run(const std::shared_ptr<LoadedModule>& module, const char* name,
                            Extent3 grid, Extent3 block, Args... args) {
    auto made = begin(module, name, grid, block, 0, args...);
    finish(*made);
    return made;
  }

  const chip::Chip& chip;
  DeviceMemory memory;
  Engine engine;
};

}  // namespace baton::sim
