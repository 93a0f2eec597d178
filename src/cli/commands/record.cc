#include "cli/commands/record.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "tools/basics.h"
#include "tools/file/files.h"
#include "tools/process/record_folder.h"
#include "tools/process/record_run.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RecordTotals {
  std::uint64_t launches = 0, events = 0, image_bytes = 0;
  int stopped = 0;
};

RecordTotals totals_of(const tools::RecordContents& record) {
  RecordTotals totals;
  for (const record::ProcessRecord& process : record.processes) {
    totals.events += process.events.size();
    if (process.stopped != 0) totals.stopped = process.stopped;
    for (const record::RecordedEvent& event : process.events) {
      if (event.kind == record::EventKind::kLaunch) ++totals.launches;
    }
  }
  for (const tools::RecordImage& image : record.images) totals.image_bytes += image.bytes;
  return totals;
}

}  // namespace

int record(const RecordCommand& command, Output& output, const std::atomic<bool>& interrupt) {
  const tools::RecordedDriver driver = tools::find_driver(command.device);
  tools::create_record(command.output, command.program, driver.device);
  std::optional<std::chrono::duration<double>> limit;
  if (command.timeout) limit.emplace(*command.timeout);
  tools::ProcessEnd end;
  try {
    end = tools::record_program(driver, command.output, command.program, command.contents, limit,
                                interrupt);
  } catch (...) {
    // Nothing ran.
    std::error_code ignored;
    std::filesystem::remove_all(command.output, ignored);
    throw;
  }
  const tools::RecordContents record = tools::read_record(command.output);
  const RecordTotals totals = totals_of(record);
  const auto say = [&](const std::string& text) {
    output.diagnostic(Style::kBold, "baton record", text);
  };
  if (record.processes.empty()) {
    say(fmt::format("no process used the CUDA driver: {} has no launch", command.output.string()));
  } else {
    say(fmt::format("{} of {} and {} of {} in {}", counted(totals.launches, "launch", "launches"),
                    counted(record.processes.size(), "process", "processes"),
                    counted(record.images.size(), "image"), format_bytes(totals.image_bytes),
                    command.output.string()));
  }
  if (totals.stopped != 0) {
    say(fmt::format("the record ends before the program did: {}",
                    std::generic_category().message(totals.stopped)));
  }
  for (const std::string& damage : record.damage) say(damage);
  if (totals.launches > 0) say(fmt::format("next: baton check {}", command.output.string()));
  if (end.signal != 0) say(fmt::format("the program was ended by signal {}", end.signal));
  Json& json = output.result();
  json["device"] = driver.device;
  json["program"] = {{"command", command.program}};
  json["program"]["status"] = end.status ? Json(*end.status) : Json();
  json["program"]["signal"] = end.status ? Json() : Json(end.signal);
  json["program"]["timed_out"] = end.timed_out;
  json["record"] = command.output.string();
  json["processes"] = record.processes.size();
  json["launches"] = totals.launches;
  json["images"] = record.images.size();
  json["complete"] = totals.stopped == 0 && record.damage.empty();
  json["status"] = end.exit_status();
  if (command.json_file)
    tools::write_file(*command.json_file,
                      json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (end.timed_out) {
    throw error(ErrorCode::kTimeout, "the program took more than {} s and was stopped",
                *command.timeout);
  }
  return end.exit_status();
}

}  // namespace baton::cli
