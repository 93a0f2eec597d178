#pragma once

#include <utility>
#include <vector>

#include "baton/world.h"

namespace baton::tuning {

// What the ranks of a search decide together: all of them must try the same variants in the same
// order, and take the same one. With one rank, each call returns what it is given.
class SearchRanks {
 public:
  explicit SearchRanks(World world) : world_(std::move(world)) {}

  const World& world() const { return world_; }
  bool are_several() const { return world_.ranks() > 1; }
  // Whether it holds on any rank.
  bool any(bool here) const { return slowest(here ? 1 : 0) != 0; }
  // Each becomes 1 where it is 1 on any rank. All ranks give as many.
  void join(std::vector<char>& marks) const;
  // The greatest cost of all ranks: a run takes as long as on the slowest.
  double slowest(double cost) const;
  // Returns when all ranks are there.
  void meet() const {
    if (are_several()) world_.meet("the next run of the search");
  }

 private:
  World world_;
};

}  // namespace baton::tuning
