#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "world/communicator.h"

namespace baton::world {

// Ranks of a world that exchange contents among themselves, as one of them sees it: the ranks
// `first`, `first + stride`, and so on.
struct RankGroup {
  std::uint32_t first = 0, stride = 1;
  std::uint32_t rank = 0;   // the number of this rank in the group
  std::uint32_t ranks = 1;  // of the group

  // The rank in the world of a number in the group.
  std::uint32_t in_world(std::uint32_t number) const { return first + number * stride; }

  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

// The connections of a rank in a group. Its numbers are those of the group. A cheap value that
// refers to the communicator, which must outlive it.
class GroupLink {
 public:
  // All ranks of the world.
  GroupLink(Communicator& world)  // NOLINT: implicit by design
      : GroupLink(world, {0, 1, world.rank(), world.ranks()}) {}
  GroupLink(Communicator& world, const RankGroup& group) : world_(world), group_(group) {}

  Communicator& world() const { return world_; }
  std::uint32_t rank() const { return group_.rank; }
  std::uint32_t ranks() const { return group_.ranks; }
  // The rank in the world, as messages name it.
  std::uint32_t in_world(std::uint32_t number) const { return group_.in_world(number); }

  void send(std::uint32_t to, const Stage& stage, std::string_view content) const {
    world_.send(in_world(to), stage, content);
  }
  std::string receive(std::uint32_t from, const Stage& stage) const {
    return world_.receive(in_world(from), stage);
  }

 private:
  Communicator& world_;
  RankGroup group_;
};

}  // namespace baton::world
