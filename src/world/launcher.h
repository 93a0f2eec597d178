#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace baton::world {

// The most ranks that a world has: each is connected to each other.
inline constexpr std::uint32_t kMostRanks = 1024;

// The rank of one process by its launcher.
struct LaunchedRank {
  std::string_view launcher;  // "mpirun"
  std::uint32_t rank = 0, ranks = 1;
  std::uint32_t local_rank = 0;   // among the processes of this machine
  std::uint32_t local_ranks = 1;  // equal to `ranks` if the launcher does not set it
  std::string host;               // where rank 0 listens
  std::uint16_t port = 0;
  std::string job;  // equal in all processes of a run, and different in other runs
};

// The value of a variable; nothing where it is unset or empty.
using Variables = std::function<std::optional<std::string>(const char* name)>;

// The rank that the environment gives this process; nothing if no launcher started it. Throws
// kInvalidInput for texts that are not numbers, for a rank without the number of ranks, for
// variables of two runs, and for ranks on several machines without the address of rank 0.
std::optional<LaunchedRank> launched_rank(const Variables& variables);

}  // namespace baton::world
