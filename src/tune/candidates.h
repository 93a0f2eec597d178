#pragma once

#include <functional>
#include <string>
#include <vector>

#include "baton/program.h"
#include "baton/tune.h"

namespace baton::tuning {

// What a search may vary of a program: what the program and the caller leave open.
struct Freedom {
  bool edges = true;                      // edges, rewrites and placements
  bool executor = true;                   // stream or graph
  std::vector<BoundSymbol> symbols = {};  // the program's, with the values of the untuned program
  // What can execute an all-reduce of the ranks of the search; none of one rank. The first one
  // executes those that do not say what does: kAuto where their sizes decide that.
  std::vector<CollectiveExecutor> executors = {};
};

// The variants that differ from the best one so far in one thing.
struct Pass {
  std::string name;
  std::vector<TuneVariant> variants;  // the best one so far is not among them
};

// By number of the program's launches, which of them start early on some rank.
using EarlyLaunches = std::vector<bool>;

// One step of a search: makes a pass from the best variant so far, and the launches that start
// early in it. A pass may have no variants.
using MakePass = std::function<Pass(const TuneVariant& best, const EarlyLaunches& early)>;

// All passes over a program, those with the greatest effect first. Refer to nothing.
std::vector<MakePass> passes_of(const Program& program, const Freedom& freedom);

}  // namespace baton::tuning
