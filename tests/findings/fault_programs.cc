#include <algorithm>
#include <memory>

#include "baton/tensor_map.h"
#include "corpus.h"

namespace baton::findings {
namespace {

using B = Bench;

void reduce_by_map(B& b) {
  TensorMapOptions options;
  options.address = b.y.memory().address();
  options.shape = {Bench::kCount - 2};  // the last row ends inside of a chunk
  options.box = {16};
  b.launch("reduces_by_map", TensorMap::encode(b.device, options));
}

// A cooperative launch needs memory for its barrier.
void launch_without_memory(B& b) {
  for (std::size_t bytes = std::size_t{1} << 28; bytes >= 256;) {
    CUdeviceptr address = 0;
    if (b.driver.cuMemAlloc(&address, bytes) != CUDA_SUCCESS) bytes /= 2;
  }
  LaunchAttributes attributes;
  attributes.set(cooperative());
  b.launch_on(b.stream, attributes, "produce_plain", b.y, b.x);
}

}  // namespace

std::vector<Program> fault_programs() {
  return {
      {"traps", {"trap"}, [](B& b) { b.launch("traps"); }},
      {"asserts", {"assertion"}, [](B& b) { b.launch("asserts", b.x); }},
      {"reads_null",
       {"null_pointer"},
       [](B& b) { b.launch("produce", b.y, DevicePointer<float>{0}); }},
      {"reads_memory_of_the_host",
       {"host_pointer"},
       [](B& b) {
         static const float value = 1;
         const auto address = reinterpret_cast<std::uintptr_t>(&value);
         b.launch("produce", b.y, DevicePointer<float>{address});
       }},
      {"meets_at_barrier_17", {"bad_barrier"}, [](B& b) { b.launch("meets_at", 17, 128); }},
      {"meets_for_33_threads", {"bad_barrier"}, [](B& b) { b.launch("meets_at", 1, 33); }},
      {"counts_in_registers", {"bad_atomic"}, [](B& b) { b.launch("counts_in_registers", b.y); }},
      {"branches_too_far", {"bad_branch"}, [](B& b) { b.launch("branches_to", b.y, 2); }},
      {"calls_no_function",
       {"bad_call"},
       [](B& b) { b.launch("calls_address", DevicePointer<void>{0x1234}); }},
      {"votes_among_others", {"bad_members"}, [](B& b) { b.launch("votes_among", b.y, 0xffffu); }},
      {"syncs_with_others", {"bad_members"}, [](B& b) { b.launch("syncs_with", b.y, 0xffffu); }},
      {"shuffles_with_others",
       {"bad_members"},
       [](B& b) { b.launch("takes_from", b.y, b.x, 0xffffu, 0); }},
      {"votes_among_none", {"bad_members"}, [](B& b) { b.launch("votes_among", b.y, 0u); }},
      {"descends_too_deep",
       {"stack_overflow"},
       [](B& b) { b.launch("descends", b.y, b.x, 1 << 20); }},
      {"waits_at_nothing", {"bad_mbarrier"}, [](B& b) { b.launch("waits_at_nothing"); }},
      {"copies_odd_bytes", {"bad_copy"}, [](B& b) { b.launch("copies_odd_bytes", b.y, b.x, 20u); }},
      {"fetches_texture",
       {"bad_texture"},
       [](B& b) { b.launch("fetches_texture", b.y, DevicePointer<void>{1}); }},
      {"adds_as_video", {"unsupported_instruction"}, [](B& b) { b.launch("adds_as_video", b.y); }},
      {"reduces_part_of_a_chunk", {"unsupported"}, reduce_by_map},
      {"launches_without_memory", {"launch_failed"}, launch_without_memory, {}, "sim:tiny"},
  };
}

}  // namespace baton::findings
