#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "baton/device.h"
#include "baton/error.h"
#include "bind/tape_walk.h"
#include "driver/simulator.h"

namespace baton::play {

// The tags by which a simulated GPU tells which launch of a program a finding is about
// (driver::LaunchNote). Different programs have different tags, because they may share a device.
class LaunchTags {
 public:
  LaunchTags();

  // `step`: its number among the steps of a run, in their order.
  std::uint64_t tag(std::uint64_t step) const { return first_ + step; }
  // The step, or nothing for the tag of another program.
  std::optional<std::uint64_t> step(std::uint64_t tag) const;

 private:
  const std::uint64_t first_;
};

// What a simulated GPU is told of the launch that is that step: its tag, and what it may access.
driver::LaunchNote note_of(const bind::TapeLaunch& launch, std::uint64_t step,
                           std::span<const std::int64_t> slots, const bind::BufferTable& buffers,
                           const LaunchTags& tags);

// A launch of a program, and the values of indexes: "launch 14 (topk), layer = 2, at
// decode.toml:40:1".
std::string launch_text(const bind::PlannedStep& step, const std::string& indexes);

// The texts of launches by their tags. Tags of other programs have none.
std::map<std::uint64_t, std::string> launch_texts(bind::Tape& tape, const LaunchTags& tags,
                                                  std::span<const std::uint64_t> wanted);

// How a timeline names the launches of the tape, by their tags.
std::map<std::uint64_t, driver::TracedLaunch> traced_launches(
    bind::Tape& tape, const LaunchTags& tags, std::span<const std::uint64_t> wanted);

// If a kernel of the program failed and the device knows which launch that was, the failure becomes
// one that names the launch and what the kernel did. It is then the same however far the host was.
void name_launch(Error& failure, const Device& device, bind::Tape& tape, const LaunchTags& tags);

}  // namespace baton::play
