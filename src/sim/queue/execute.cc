#include "sim/queue/execute.h"

#include <fmt/core.h>

#include <cstring>
#include <new>

#include "base/log.h"
#include "base/overloaded.h"
#include "baton/error.h"
#include "sim/device/host_memory.h"
#include "sim/engine/judge/host_watch.h"
#include "sim/queue/stream_word.h"

namespace baton::sim {
namespace {

// Copies between devices go through a buffer of this size at the most.
constexpr std::uint64_t kBounceBytes = std::uint64_t{1} << 20;

void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

bool copy_between_devices(const Copy& copy) {
  std::vector<std::byte> bounce(std::min(copy.bytes, kBounceBytes));
  for (std::uint64_t done = 0; done < copy.bytes; done += bounce.size()) {
    const std::uint64_t part = std::min<std::uint64_t>(bounce.size(), copy.bytes - done);
    if (!copy.source.heap->memory().read(copy.source.address + done, bounce.data(), part) ||
        !copy.target.heap->memory().write(copy.target.address + done, bounce.data(), part)) {
      return false;
    }
  }
  return true;
}

// One row.
bool run(const Copy& copy) {
  const void* source =
      copy.staged.data() != nullptr ? copy.staged.data() : host_pointer(copy.source.address);
  if (copy.target.heap == nullptr && copy.source.heap == nullptr) {
    std::memmove(host_pointer(copy.target.address), source, copy.bytes);
    return true;
  }
  if (copy.source.heap == nullptr) {
    return copy.target.heap->memory().write(copy.target.address, source, copy.bytes);
  }
  if (copy.target.heap == nullptr) {
    return copy.source.heap->memory().read(copy.source.address, host_pointer(copy.target.address),
                                           copy.bytes);
  }
  if (copy.target.heap == copy.source.heap) {
    return copy.target.heap->memory().copy(copy.target.address, copy.source.address, copy.bytes);
  }
  return copy_between_devices(copy);
}

// Calls `each` with the copy of one row after another, which begins where that does.
template <typename Each>
bool for_rows(const Copy& copy, Each each) {
  if (copy.rows == 1 && copy.slices == 1) return each(copy);
  Copy row{copy.target, copy.source, copy.bytes, {}};
  for (std::uint64_t z = 0; z < copy.slices; ++z) {
    for (std::uint64_t y = 0; y < copy.rows; ++y) {
      row.target.address = copy.target.address + z * copy.target.slice + y * copy.target.pitch;
      row.source.address = copy.source.address + z * copy.source.slice + y * copy.source.pitch;
      if (!each(row)) return false;
    }
  }
  return true;
}

bool fill_row(const Fill& fill, std::uint64_t address) {
  if (fill.target.heap != nullptr) {
    return fill.target.heap->memory().fill(address, fill.value, fill.width, fill.count);
  }
  auto* bytes = static_cast<std::byte*>(host_pointer(address));
  for (std::uint64_t i = 0; i < fill.count; ++i) {
    std::memcpy(bytes + i * fill.width, &fill.value, fill.width);  // little-endian
  }
  return true;
}

}  // namespace

// The operation was legal when it was submitted; by the time it ran the memory had been freed.
CUresult freed_meanwhile(const char* operation, const CopySide& place, FindingLog& findings) {
  driver::Finding finding(driver::FindingKind::kUseAfterFree);
  finding.is_fault = true;
  finding.message = fmt::format(
      "{} touches {}: its memory was freed on another stream, or unmapped, before the {} ran",
      operation, place.heap->memory().describe(place.address), operation);
  findings.add(std::move(finding));
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

namespace {

bool alive(const CopySide& place, std::uint64_t bytes) {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  return place.heap == nullptr || (place.heap->memory().range(place.address, &base, &size) &&
                                   bytes <= size - (place.address - base));
}

// Runs `action`, and turns what it throws into the error that a CUDA driver would give.
template <typename Action>
CUresult contained(FindingLog& findings, Action action,
                   const driver::LaunchNote* note = nullptr) noexcept {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const Error& failure) {
    driver::Finding finding(failure.code() == ErrorCode::kUnsupported
                                ? driver::FindingKind::kUnsupported
                                : driver::FindingKind::kLaunchFailed);
    finding.is_fault = true;
    finding.where = failure.where().to_string();
    finding.tag = driver::tag_of(note);
    finding.message = failure.message();
    findings.add(std::move(finding));
    return failure.code() == ErrorCode::kUnsupported ? CUDA_ERROR_NOT_SUPPORTED
                                                     : CUDA_ERROR_LAUNCH_FAILED;
  } catch (const std::exception& failure) {
    log(LogLevel::kError, "the simulated GPU failed: {}", failure.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

std::string describe(const CopySide& place) {
  if (place.heap == nullptr) return "the host";
  const std::string text = place.heap->memory().describe(place.address);
  constexpr std::string_view kBegin = "0 bytes inside ";
  return text.starts_with(kBegin) ? text.substr(kBegin.size()) : text;
}

// Shows a copy or a fill that began then, and is over, in the timeline of its session.
void note_move(const Command& command, Trace::Clock::time_point begin, const char* kind,
               const CopySide& target, const CopySide* source, std::uint64_t bytes) {
  Trace* const trace = command.notes->trace.get();
  if (trace == nullptr) return;
  trace->add_move({kind, describe(target), source == nullptr ? "" : describe(*source), bytes},
                  begin);
}

}  // namespace

CUresult execute(Work& work, const Command& command) noexcept {
  FindingLog& findings = command.notes->findings;
  const Trace::Clock::time_point begin = Trace::Clock::now();
  return contained(findings, [&] {
    const auto look = [&](const CopySide& place, std::uint64_t bytes, AccessKind touch) {
      if (place.heap == nullptr) return;
      if (command.notes->options.watch == driver::Simulator::Watch::kOff) return;
      watch_host(place.heap->memory(), findings, command.number, place.address, bytes, touch);
    };
    return std::visit(
        Overloaded{
            [](const Join&) { return CUDA_SUCCESS; },
            [](const Allocated&) { return CUDA_SUCCESS; },
            [](const Record&) { return CUDA_SUCCESS; },
            [](const WaitValue&) { return CUDA_ERROR_UNKNOWN; },
            [&](const WriteValue& write) {
              if (write_word(write, command.number)) return CUDA_SUCCESS;
              return freed_meanwhile("write of a value", write.word.place, findings);
            },
            [](const Setting&) { return CUDA_ERROR_UNKNOWN; },
            [](const Turn&) { return CUDA_ERROR_UNKNOWN; },
            [](const Assign& assign) {
              for (const auto& condition : assign.conditions)
                condition->value->value = condition->initial;
              return CUDA_SUCCESS;
            },
            [](const GridLaunch&) { return CUDA_ERROR_UNKNOWN; },
            [&](const Copy& copy) {
              const auto run_row = [&](const Copy& row) {
                look(row.source, row.bytes, AccessKind::kRead);
                look(row.target, row.bytes, AccessKind::kWrite);
                return run(row);
              };
              if (for_rows(copy, run_row)) {
                note_move(command, begin, "copy", copy.target, &copy.source,
                          copy.bytes * copy.rows * copy.slices);
                return CUDA_SUCCESS;
              }
              const CopySide& dead = alive(copy.target, copy.bytes) ? copy.source : copy.target;
              return freed_meanwhile("copy", dead, findings);
            },
            [&](const Fill& fill) {
              for (std::uint64_t row = 0; row < fill.rows; ++row) {
                const std::uint64_t at = fill.target.address + row * fill.pitch;
                look({fill.target.heap, at}, fill.count * fill.width, AccessKind::kWrite);
                if (fill_row(fill, at)) continue;
                return freed_meanwhile("fill", fill.target, findings);
              }
              note_move(command, begin, "fill", fill.target, nullptr,
                        fill.count * fill.width * fill.rows);
              return CUDA_SUCCESS;
            },
            [&](const Free& free) {
              std::uint64_t base = 0;
              std::uint64_t bytes = 0;
              free.heap->memory().range(free.address, &base, &bytes);
              look({free.heap, free.address}, bytes, AccessKind::kWrite);
              free.heap->finish_free(free.address);
              return CUDA_SUCCESS;
            },
            [&](const HostFree& free) {
              std::uint64_t base = 0;
              std::uint64_t bytes = 0;
              if (free.heap->memory().range(free.address, &base, &bytes)) {
                look({free.heap, free.address}, bytes, AccessKind::kWrite);
              }
              HostMemory::instance().finish_free(free.address);
              return CUDA_SUCCESS;
            },
            [&](const Alloc& alloc) {
              if (!alloc.heap->fill_reserved(alloc.address)) return CUDA_ERROR_OUT_OF_MEMORY;
              std::uint64_t base = 0;
              std::uint64_t bytes = 0;
              alloc.heap->memory().range(alloc.address, &base, &bytes);
              look({alloc.heap, alloc.address}, bytes, AccessKind::kWrite);
              return CUDA_SUCCESS;
            },
            [](const HostCall& call) {
              call.function(call.argument);
              return CUDA_SUCCESS;
            },
        },
        work);
  });
}

CUresult begin_grid(Engine& engine, GridLaunch launch, FindingLog& findings,
                    std::unique_ptr<Grid>* grid) noexcept {
  const std::shared_ptr<const driver::LaunchNote> note = launch.note;
  const auto begin = [&] {
    *grid = engine.begin(std::move(launch));
    return CUDA_SUCCESS;
  };
  return contained(findings, begin, note.get());
}

CUresult advance_grids(Engine& engine, std::span<Grid* const> grids, std::uint64_t budget,
                       FindingLog& findings, Engine::Advance* done) noexcept {
  return contained(findings, [&] {
    *done = engine.advance(grids, budget);
    return CUDA_SUCCESS;
  });
}

}  // namespace baton::sim
