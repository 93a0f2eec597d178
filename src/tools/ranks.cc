#include "tools/ranks.h"

#include <algorithm>

#include "base/error.h"
#include "world/agreement.h"
#include "world/exchange.h"
#include "world/rendezvous.h"

namespace baton::tools {

std::vector<std::string> devices_of_ranks(const std::vector<std::string>& names) {
  std::vector<std::string> first, all;
  for (const std::string& name : names) {
    const std::string spec = Device::open(name).spec();
    const auto before = std::ranges::count(first, spec);
    first.push_back(spec);
    if (before == 0) {
      all.push_back(spec);
    } else if (spec.starts_with("sim:")) {
      all.push_back(spec + ":" + std::to_string(before));
    } else {
      throw error(ErrorCode::kInvalidInput,
                  "--devices names {} twice; each rank needs a device of its own", spec);
    }
  }
  return all;
}

Device device_of_rank(const std::optional<std::string>& name, const World& world) {
  const Device device = name ? Device::open(*name) : Device::open();
  const bool is_chosen = name && *name != "cuda";
  if (is_chosen || world.local_rank() == 0 || device.spec() != "cuda:0") return device;
  try {
    return Device::open("cuda:" + std::to_string(world.local_rank()));
  } catch (Error& failure) {
    failure.note(
        "each rank takes the GPU of its number on its machine; --device names another one");
    throw;
  }
}

World join_world(bool& is_told) {
  is_told = false;
  try {
    return World::of_process();
  } catch (const world::LeftByFirstRank&) {
    is_told = true;
    throw;
  }
}

void agree_on_command(const World& world,
                      const std::vector<std::pair<std::string, std::string>>& words) {
  std::vector<world::Agreed> list;
  for (const auto& [what, value] : words) list.push_back({what, value});
  world::agree(*world.communicator(),
               {"the ranks' command lines", "start all ranks with the same command and options"},
               list);
}

std::vector<double> slowest(const World& world, std::string_view what, std::vector<double> own) {
  const std::string text = "the times of " + std::string(what);
  world::all_reduce(*world.communicator(), {text, text}, ReduceOp::kMax, DType::kF64, own.size(),
                    reinterpret_cast<char*>(own.data()));
  return own;
}

}  // namespace baton::tools
