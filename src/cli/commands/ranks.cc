#include "cli/commands/ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/ranks.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// The other ranks may not connect: their program may have no world.
constexpr int kShortPatience = 5;  // seconds

// The part of a rank's result that rank 0 keeps. What the report has to say is not shown yet.
Json part_of(const Json& result, const RunReport& report, std::size_t rank,
             const std::optional<TimeStatistics>& times) {
  Json part = {{"rank", rank}};
  for (const char* key : {"device", "device_name", "steps", "warnings"}) {
    if (result.contains(key)) part[key] = result[key];
  }
  Json& findings = part["findings"] = Json::array();
  for (const FindingReport& finding : report.findings) findings.push_back(cli::json_of(finding));
  for (const std::string& warning : report.warnings) part["warnings"].push_back(warning);
  if (times) part["times"] = cli::json_of(*times);
  return part;
}

std::size_t count_of(const Json& part, const char* key) {
  return part.contains(key) ? part[key].size() : 0;
}

void show_ranks(const Json& ranks, Output& output) {
  using enum Table::Align;
  std::vector<Table::Column> columns = {
      {"rank", kRight}, {"device"}, {"findings", kRight}, {"warnings", kRight}};
  const bool is_timed = ranks[0].contains("times");
  if (is_timed) columns.push_back({"time", kRight});
  Table table(std::move(columns));
  for (const Json& part : ranks) {
    std::vector<std::string> cells = {
        std::to_string(part["rank"].get<std::size_t>()), part["device"].get<std::string>(),
        std::to_string(count_of(part, "findings")), std::to_string(count_of(part, "warnings"))};
    if (is_timed) cells.push_back(format_duration(part["times"]["median"].get<double>()));
    table.add(std::move(cells));
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

void RankOfRun::enter(const Program& program, Output& output, NamedValues options) {
  if (!program.world()) {
    if (world_) {
      throw error(ErrorCode::kInvalidInput,
                  "--devices starts a rank on each of {}, and {} has no world; add [world] to it",
                  counted(world_->ranks(), "device"), printable(program.name()));
    }
    return;
  }
  if (!world_) {
    has_joined_ = true;
    world_ = tools::join_world(is_told_);
  }
  if (!is_first()) output.mute();
  if (world_->ranks() == 1 || world_->is_of_threads()) return;
  options.insert(options.begin(), {"the command", output.result()["command"].get<std::string>()});
  tools::agree_on_command(*world_, options);
}

void RankOfRun::require_alone(std::string_view option) const {
  if (!world_ || world_->ranks() == 1) return;
  throw error(ErrorCode::kInvalidInput,
              "{} compares runs of one rank, and this run has {} ranks; leave one of them out",
              option, world_->ranks());
}

void RankOfRun::finish(Executable& executable, Output& output,
                       const std::optional<TimeStatistics>& times) {
  if (!world_ || world_->ranks() == 1) return;
  executable.gather_outputs();
  constexpr auto kReplace = Json::error_handler_t::replace;
  const Json own = part_of(output.result(), executable.report(), world_->rank(), times);
  const std::vector<std::string> parts =
      world_->gather("the report", own.dump(-1, ' ', false, kReplace));
  is_finished_ = true;
  if (parts.empty()) return;
  Json ranks = Json::array();
  for (const std::string& part : parts) ranks.push_back(Json::parse(part));
  output.result()["ranks"] = ranks;
  show_ranks(ranks, output);
}

Error RankOfRun::fail(const Error& failure, Output& output) {
  if (is_told_) output.mute();
  if (!world_ && !has_joined_) {
    try {
      if (World::is_launched()) world_ = World::of_process(kShortPatience);
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
