#pragma once

// A record, replayed on the simulated GPU: what a process launched and copied, with what the
// simulated GPU finds in it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/finding.h"
#include "baton/races.h"
#include "baton/schedule.h"
#include "record/events.h"
#include "record/judge.h"

namespace baton::replay {

struct ReplayOptions {
  std::optional<Schedule> schedule;
  Races races = Races::kUsual;
  std::optional<std::chrono::duration<double>> timeout;
  const std::atomic<bool>* interrupt = nullptr;
  // Called from time to time with the number of replayed events, and of all events.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

// The parts of a record outside its files of events.
struct RecordFiles {
  record::ImageBytes image;
  // Bytes of the contents of the process; nothing where the record lacks them.
  std::function<std::optional<std::string>(const record::ContentsNote&)> contents;
};

struct ReplayedFinding {
  FindingReport report;
  // Why the finding may depend on contents that the record lacks; empty: it counts.
  std::string doubt;
};

// Memory whose contents the record lacks. A replay fills it with zeros.
struct UnknownMemory {
  std::string name;
  std::uint64_t bytes = 0;          // of it
  std::uint64_t unknown_bytes = 0;  // that copies brought
  bool is_host = false;             // the host writes it without a call
};

// Work that was not replayed, and why.
struct LeftOut {
  std::string what;
  std::uint64_t count = 0;
};

struct ReplayResult {
  std::uint64_t launches = 0;        // of the record
  std::uint64_t replayed = 0;        // of these
  std::uint64_t graph_launches = 0;  // that were replayed
  std::uint64_t copies = 0, fills = 0;
  std::uint64_t moved_addresses = 0;  // in contents
  std::vector<ReplayedFinding> findings;
  std::vector<UnknownMemory> unknown;
  std::vector<LeftOut> left_out;
  std::vector<std::string> remarks;
};

// Throws kTimeout and kInterrupted with the positions of the kernels, and the errors of opening a
// simulated device. `device` must be the simulated GPU.
ReplayResult replay(const Device& device, const record::ProcessRecord& process,
                    const RecordFiles& files, const ReplayOptions& options);

}  // namespace baton::replay
