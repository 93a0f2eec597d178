#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "baton/program.h"
#include "baton/world.h"

namespace baton::tools {

// The devices of the ranks of a run.

// Names of different devices, by rank: of a simulated GPU that is named again, a further one of its
// kind. Throws kInvalidInput for a GPU that is named twice, and what Device::open throws.
std::vector<std::string> devices_of_ranks(const std::vector<std::string>& names);

// The device of this rank: the named one; else the one that Device::open chooses, and on a machine
// with several ranks the GPU of the rank's number there. Throws kNoDevice for more ranks than GPUs.
Device device_of_rank(const std::optional<std::string>& name, const World& world);

// Joins the ranks that a launcher started (World::of_process), or throws. `is_told`: rank 0 prints
// the error.
World join_world(bool& is_told);

// Compares what the command line of each rank says, by name. Called by all ranks. Throws
// kInvalidInput, on all of them, for the first difference.
void agree_on_command(const World& world,
                      const std::vector<std::pair<std::string, std::string>>& words);

// The time of the slowest rank in each of some runs, of the times of all ranks. Called by all of
// them with as many times. Throws what ended the run of all ranks.
std::vector<double> slowest(const World& world, std::string_view what, std::vector<double> own);

}  // namespace baton::tools
