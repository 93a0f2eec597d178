#include "replay/allocations.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "driver/driver.h"
#include "driver/simulator.h"
#include "runtime/release.h"

namespace baton::replay {
namespace {

using Kind = ReplayedMemory::Kind;
using record::CallMeaning;

Kind kind_of(const record::RecordedEvent& event, const record::RecordedCall& row) {
  // Memory of a stream, and memory by rows, is memory of the device.
  if (row.stream >= 0 || row.meaning == CallMeaning::kAllocatePitch) return Kind::kDevice;
  if (event.function.starts_with("cuMemAlloc_v2")) return Kind::kDevice;
  return event.function.starts_with("cuMemAddressReserve") ? Kind::kReserved : Kind::kHost;
}

}  // namespace

ReplayAllocations::~ReplayAllocations() {
  for (std::size_t k = 0; k < memory_.all().size(); ++k) {
    if (memory_.is_live(k)) release(memory_[k]);
  }
}

std::string ReplayAllocations::allocate(const record::RecordedEvent& event,
                                        const record::RecordedCall& row, CUstream stream) {
  const std::uint64_t recorded = event.word(0);
  std::uint64_t bytes = event.word(1);
  if (row.meaning == CallMeaning::kAllocatePitch) bytes *= event.word(3);
  if (recorded == 0 || bytes == 0 || recorded + bytes < recorded) return {};
  ReplayedMemory memory;
  memory.kind = kind_of(event, row);
  memory.name = fmt::format("allocation {} ({} bytes)", allocations_++, bytes);
  memory.bytes = bytes;
  if (memory.kind == Kind::kReserved) {
    memory_.add(recorded, std::move(memory));
    return {};
  }
  return add(recorded, std::move(memory), stream, row.stream >= 0);
}

// `ordered`: in the order of the stream.
std::string ReplayAllocations::add(std::uint64_t recorded, ReplayedMemory memory, CUstream stream,
                                   bool ordered) {
  const driver::Driver& driver = device_.driver();
  CUdeviceptr address = 0;
  const CUresult result = ordered ? driver.cuMemAllocAsync(&address, memory.bytes, stream)
                                  : driver.cuMemAlloc(&address, memory.bytes);
  if (result != CUDA_SUCCESS) {
    return fmt::format("{}: {}", memory.name, driver::describe(driver, result));
  }
  // The host may have written there before any launch.
  if (memory.kind == Kind::kHost) memory.doubtful = memory.lost_writes = true;
  memory.address = address;
  // The simulated GPU adds the bytes.
  driver.simulator->name_allocation(address, memory.name.substr(0, memory.name.find(" (")));
  memory_.add(recorded, std::move(memory));
  return {};
}

std::string ReplayAllocations::map(const record::RecordedEvent& event) {
  const std::uint64_t recorded = event.word(0), bytes = event.word(1);
  if (bytes == 0 || recorded + bytes < recorded || memory_.find(recorded)) return {};
  ReplayedMemory memory;
  memory.name = fmt::format("mapped memory ({} bytes)", bytes);
  memory.bytes = bytes;
  return add(recorded, std::move(memory), nullptr, false);
}

void ReplayAllocations::unmap(const record::RecordedEvent& event) {
  if (const auto ended = memory_.end(event.word(0))) release(memory_[*ended]);
}

std::string ReplayAllocations::free(const record::RecordedEvent& event,
                                    const record::RecordedCall& row, CUstream stream) {
  const auto ended = memory_.end(event.word(0));
  if (!ended) return {};
  const ReplayedMemory& memory = memory_[*ended];
  if (row.stream < 0) {
    release(memory);
    return {};
  }
  const driver::Driver& driver = device_.driver();
  const CUresult result = driver.cuMemFreeAsync(memory.address, stream);
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

void ReplayAllocations::release(const ReplayedMemory& memory) {
  if (memory.address == 0 || memory.kind == Kind::kVariable) return;
  const driver::Driver& driver = device_.driver();
  // It waits for running work, and returns its error.
  if (is_sticky(driver.cuMemFree(memory.address))) {
    driver.simulator->recover(device_.native_context());
  }
}

bool ReplayAllocations::add_variable(const record::RecordedEvent& event, ReplayModules& modules) {
  const record::VariableNote note = record::variable_of(event);
  const std::string name(event.text);
  const auto found = modules.variable(note.module, name);
  if (!found) return false;
  // The program may ask several times.
  const auto known = memory_.find(note.address);
  if (known && known->address == found->first) return true;
  ReplayedMemory memory;
  memory.kind = Kind::kVariable;
  memory.name = fmt::format("the variable {} ({} bytes)", name, found->second);
  memory.address = found->first;
  memory.bytes = found->second;
  variables_[modules.owner(note.module)].insert(memory_.add(note.address, std::move(memory)));
  return true;
}

}  // namespace baton::replay
