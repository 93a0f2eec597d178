#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace baton::world {

// The most ranks that a world has: each is connected to each other.
inline constexpr std::uint32_t kMostRanks = 1024;

// What a launcher says of one of the processes that it started.
struct LaunchedRank {
  std::string_view launcher;  // "mpirun"
  std::uint32_t rank = 0, ranks = 1;
  std::uint32_t local_rank = 0;   // among the processes of this machine
  std::uint32_t local_ranks = 1;  // equal to `ranks` where the launcher does not say
  std::string host;               // where rank 0 listens
  std::uint16_t port = 0;
  std::string job;  // one text for all processes of a run, and another for another run
};

// The value of a variable; nothing where it is unset or empty.
using Variables = std::function<std::optional<std::string>(const char* name)>;

// The rank that the environment gives this process; nothing if no launcher started it. Throws
// kInvalidInput for numbers that are none, and for ranks on several machines without the address of
// rank 0.
std::optional<LaunchedRank> launched_rank(const Variables& variables);

}  // namespace baton::world
