// Copies by tensor maps that kernels write into global memory.

#include "baton/tensor_map.h"
#include "corpus.h"

namespace baton::findings {
namespace {

using B = Bench;

TensorMap map_of(const B& b, const B::Floats& buffer) {
  TensorMapOptions options;
  options.address = buffer.memory().address();
  options.shape = {Bench::kCount};
  options.box = {16};
  return TensorMap::encode(b.device, options);
}

DevicePointer<void> live(const B& b) {
  return {b.z.memory().address()};
}

auto reduce_by_two_maps(int acquired) {
  return [acquired](B& b) {
    b.launch("reduces_by_live_map", map_of(b, b.y), map_of(b, b.u), live(b), acquired);
  };
}

auto reduce_by_map_of_launch_before(bool acquires) {
  return [acquires](B& b) {
    b.launch("writes_map", map_of(b, b.y), live(b));
    b.early("reduces_by_map_in_memory", live(b), acquires);
  };
}

}  // namespace

std::vector<Program> map_programs() {
  return {
      {"map_not_acquired", {"stale_tensor_map"}, reduce_by_two_maps(0)},
      {"map_changed_after_acquire", {"stale_tensor_map"}, reduce_by_two_maps(1)},
      {"map_of_launch_before_not_acquired",
       {"stale_tensor_map"},
       reduce_by_map_of_launch_before(false)},
  };
}

std::vector<Program> right_map_programs() {
  return {
      {"maps_acquired", {}, reduce_by_two_maps(2)},
      {"map_of_launch_before_acquired", {}, reduce_by_map_of_launch_before(true)},
  };
}

}  // namespace baton::findings
