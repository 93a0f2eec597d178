#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baton/error.h"
#include "baton/world.h"
#include "world/communicator.h"

namespace baton::world {

// Runs `act` on each rank of a world of threads. Returns the error that each threw, by rank.
inline std::vector<std::optional<Error>> on_ranks(std::uint32_t ranks,
                                                  const std::function<void(const World&)>& act) {
  std::vector<std::optional<Error>> failures(ranks);
  const std::vector<World> worlds = World::of_threads(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        act(worlds[rank]);
      } catch (const Error& failure) {
        failures[rank].emplace(failure);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failures;
}

inline std::vector<std::optional<Error>> on_ranks(std::uint32_t ranks,
                                                  const std::function<void(Communicator&)>& act) {
  return on_ranks(ranks, [&](const World& world) { act(*world.communicator()); });
}

}  // namespace baton::world
