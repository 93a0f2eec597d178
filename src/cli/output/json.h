#pragma once

#include <nlohmann/json_fwd.hpp>

#include "baton/executable.h"
#include "baton/image.h"

namespace baton::cli {

// The parts of results that docs/cli-json.md describes, as JSON.

nlohmann::ordered_json json_of(const TimeStatistics& times);
nlohmann::ordered_json json_of(const StepReport& step);
nlohmann::ordered_json json_of(const ConditionReport& condition);
nlohmann::ordered_json json_of(const CollectivesReport& by);
nlohmann::ordered_json json_of(const GraphReport& graph);
nlohmann::ordered_json json_of(const FindingReport& finding);
nlohmann::ordered_json json_of(const KernelFacts& kernel);
nlohmann::ordered_json json_of(const SmPartReport& part);

}  // namespace baton::cli
