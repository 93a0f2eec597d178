#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/export.h"
#include "baton/program.h"

namespace baton {

// The choices that tuning makes for a program: how its launches are prepared, never their order.
// An empty value is the program as it is. Edges are judged anew with the choices, so that wrong
// ones cost time and cause no race. A plain value.
struct TuneChoices {
  // Kernels, by their names in the program, that get a wait and a trigger.
  std::vector<std::pair<std::string, RewriteMode>> rewrites = {};
  // Kernels whose early blocks are spread over the multiprocessors.
  std::vector<std::string> even = {};
  // Launches, by number as in LaunchReport, that start when the launch before them is done.
  std::vector<std::uint32_t> full_edges = {};
  // All-reduces, by number among the program's collectives, with what executes them.
  std::vector<std::pair<std::uint32_t, CollectiveExecutor>> collectives = {};
  // Symbols of [tune], with their new defaults.
  std::vector<std::pair<std::string, std::int64_t>> parameters = {};

  bool empty() const {
    return rewrites.empty() && even.empty() && full_edges.empty() && collectives.empty() &&
           parameters.empty();
  }
  friend bool operator==(const TuneChoices& a, const TuneChoices& b) {
    return a.rewrites == b.rewrites && a.even == b.even && a.full_edges == b.full_edges &&
           a.collectives == b.collectives && a.parameters == b.parameters;
  }
};

// "BLOCK = 128, rewrite matvec = loads, full edge to launch 3, collective 0 by peer"; "untuned" for
// an empty value.
BATON_API std::string to_text(const TuneChoices& choices);

// The program with the choices. Where the program itself says something of an edge, a rewrite, a
// placement or a collective, that stays. Throws kNotFound for a kernel, a launch, a collective or a
// symbol that the program lacks, and kInvalidInput for a symbol that [tune] does not name.
// Thread-safe.
BATON_API Program with_choices(const Program& program, const TuneChoices& choices);

}  // namespace baton
