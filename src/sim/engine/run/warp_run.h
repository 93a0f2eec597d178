#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/run/test_device.h"

namespace baton::sim {

// A module with one kernel `k` that takes the address `out`, in %out.
inline std::string kernel_of(const std::string& body, const std::string& before = "") {
  return R"(.version 8.0
.target sm_90
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<20>;
  .reg .b32 %r<60>;
  .reg .b64 %rd<30>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd1, %out;  // this thread's word
)" + body +
         "\n  ret;\n}\n";
}

struct WarpRun {
  Grid::State state;
  std::vector<std::uint32_t> words;
  std::vector<driver::Finding> findings;
  std::uint64_t warp_instructions = 0;
};

inline WarpRun run_kernel(const std::string& text, std::uint32_t threads,
                          std::uint32_t blocks = 1) {
  TestDevice device;
  const auto module = device.load(text);
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(1024, 0));
  const auto grid = device.run(module, "k", {blocks}, {threads}, out);
  return {grid->state(), device.download<std::uint32_t>(out, 1024), device.engine.findings(),
          grid->counters().warp_instructions};
}

}  // namespace baton::sim
