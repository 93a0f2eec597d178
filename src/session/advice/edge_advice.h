#pragma once

#include <string>
#include <vector>

#include "baton/check.h"
#include "baton/report.h"
#include "trace/edge_costs.h"

namespace baton {

// What may make an edge cheaper, by what a traced run showed of it and by its verdict. The bounds
// are the measured times that the change could take away, over all executions. `edge`: null where
// nothing judged it.
std::vector<EdgeAdvice> advise(const trace::EdgeCost& cost, const EdgeReport* edge,
                               const std::string& from, const std::string& to);

}  // namespace baton
