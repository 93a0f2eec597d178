#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "baton/sm_part.h"
#include "baton/stream.h"
#include "bind/binder.h"
#include "bind/plan.h"
#include "bind/tape.h"

namespace baton {

// The parts of the SMs that a program's launches run on, disjoint. Immutable.
struct SharedParts {
  std::vector<std::optional<std::uint32_t>> numbers;  // of the plan's parts; nothing: all SMs
  std::vector<SmPart> parts;
  std::vector<Stream> streams;  // one of each: the driver tells a part's limits by its streams
};

// A stream for each part; none without parts.
inline bind::PartStreams streams_of(const std::shared_ptr<const SharedParts>& parts) {
  if (parts == nullptr) return {};
  return {parts->streams, parts->numbers};
}

// The SMs of each part for these symbols; 0 means all of them, and makes no part. Throws
// kInvalidInput for less than 0, at the place of the part.
std::vector<std::uint32_t> part_sizes(const bind::Plan& plan,
                                      std::span<const std::int64_t> symbols);

// What was asked for and given, with the launches on each part. `launches`: of the tape's plan.
std::vector<SmPartReport> part_reports(const std::shared_ptr<const SharedParts>& parts,
                                       const bind::Tape& tape, std::uint32_t launches);

// The split of a device that all executables of a loaded program share. Thread-safe.
class PartPool {
 public:
  // The parts of these sizes; made where there are none. Null for none. Throws what `split_sms`
  // throws, at the place of the plan's first part, with all of them as notes.
  std::shared_ptr<const SharedParts> take(const Device& device, const bind::Plan& plan,
                                          std::span<const std::int64_t> symbols);

 private:
  std::mutex mutex_;
  std::map<std::vector<std::uint32_t>, std::weak_ptr<const SharedParts>> known_;  // by sizes
};

}  // namespace baton
