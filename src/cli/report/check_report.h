#pragma once

#include <vector>

#include "baton/executable.h"
#include "baton/image.h"
#include "cli/output/output.h"

namespace baton::cli {

// What `baton check` says, as tables and as JSON.

// One image: whether the device takes it, and each kernel's limits there. Throws what loading it
// throws, after having shown it.
void show_image(const FoundImage& found, const Device& device, Output& output);

// A program: every launch with its config, limits and headroom, and every edge.
void show_check(const CheckReport& report, const Executable& executable, bool verbose,
                Output& output);

// Edges as "edges" in the JSON object, with their verdicts and what is done with them.
void add_edges(const std::vector<EdgeReport>& edges, Output& output);
// The same as "collective_edges", where there are any.
void add_edges(const std::vector<CollectiveEdgeReport>& edges, Output& output);

// What may make edges cheaper, also in the JSON objects of `add_edges`. `all`: not only what may
// save most.
void show_forecasts(const std::vector<EdgeReport>& edges, bool all, Output& output);

}  // namespace baton::cli
