#include "cli/ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/counted.h"
#include "cli/format.h"
#include "cli/table.h"
#include "tools/basics.h"
#include "tools/ranks.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// The other ranks may not connect: their program may have no world.
constexpr int kShortPatience = 5;  // seconds

// The part of a rank's result that rank 0 keeps.
Json part_of(const Json& result, std::size_t rank) {
  Json part = {{"rank", rank}};
  for (const char* key : {"device", "device_name", "steps", "findings", "warnings"}) {
    if (result.contains(key)) part[key] = result[key];
  }
  return part;
}

std::size_t count_of(const Json& part, const char* key) {
  return part.contains(key) ? part[key].size() : 0;
}

void show_ranks(const Json& ranks, Output& output) {
  using enum Table::Align;
  Table table({{"rank", kRight}, {"device"}, {"findings", kRight}, {"warnings", kRight}});
  for (const Json& part : ranks) {
    table.add({std::to_string(part["rank"].get<std::size_t>()), part["device"].get<std::string>(),
               std::to_string(count_of(part, "findings")),
               std::to_string(count_of(part, "warnings"))});
  }
  output.text("\n" + table.format(output.terminal()));
  for (const Json& part : ranks) {
    if (part["rank"] == 0 || !part.contains("warnings")) continue;
    for (const Json& warning : part["warnings"]) {
      output.warning(
          fmt::format("rank {}: {}", part["rank"].get<std::size_t>(), warning.get<std::string>()));
    }
  }
}

}  // namespace

void RankOfRun::enter(const Program& program, Output& output) {
  if (!program.world()) {
    if (world_) {
      throw error(ErrorCode::kInvalidInput,
                  "--devices gives {} ranks a device each, and {} has no world; add [world] to it",
                  world_->ranks(), printable(program.name()));
    }
    return;
  }
  if (!world_) {
    has_joined_ = true;
    world_ = tools::join_world(is_told_);
  }
  if (!is_first()) output.mute();
}

void RankOfRun::require_alone(std::string_view option) const {
  if (!world_ || world_->ranks() == 1) return;
  throw error(ErrorCode::kInvalidInput,
              "{} compares runs of one rank, and this run has {} ranks; leave one of them out",
              option, world_->ranks());
}

void RankOfRun::finish(Executable& executable, Output& output) {
  if (!world_ || world_->ranks() == 1) return;
  executable.gather_outputs();
  constexpr auto kReplace = Json::error_handler_t::replace;
  const std::vector<std::string> results =
      world_->gather("the report", output.result().dump(-1, ' ', false, kReplace));
  is_finished_ = true;
  if (results.empty()) return;
  Json& ranks = output.result()["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    ranks.push_back(part_of(Json::parse(results[rank]), rank));
  }
  show_ranks(ranks, output);
}

Error RankOfRun::fail(const Error& failure, Output& output) {
  if (is_told_) output.mute();
  if (!world_ && !has_joined_ && World::is_launched()) {
    try {
      world_ = World::of_process(kShortPatience);
    } catch (const Error&) {
      return failure;  // no other rank prints an error
    }
  }
  if (!world_ || world_->ranks() == 1 || is_finished_) return failure;
  Error told = world_->fail(failure);
  output.mute(!world_->speaks());
  if (world_->speaks()) return told;
  world_->let_speak();
  return told;
}

}  // namespace baton::cli
