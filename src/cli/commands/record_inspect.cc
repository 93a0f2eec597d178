#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "baton/image.h"
#include "cli/commands/record.h"
#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"
#include "tools/file/extraction.h"
#include "tools/process/record_folder.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;

// How often each function was called; launches by kernel are rows of their own.
struct CallCounts {
  std::map<std::string, std::uint64_t> calls, kernels;
  std::uint64_t launches = 0, programmatic = 0;
};

CallCounts counts_of(const record::ProcessRecord& process) {
  CallCounts counts;
  std::map<std::uint64_t, std::string> names;  // by handle
  for (const record::RecordedEvent& event : process.events) {
    switch (event.kind) {
      case record::EventKind::kCall:
        ++counts.calls[std::string(event.function)];
        break;
      case record::EventKind::kFunction:
        names[record::function_of(event).note.function] = event.text;
        break;
      case record::EventKind::kLaunch: {
        const record::RecordedLaunch launch = record::launch_of(event);
        ++counts.launches;
        counts.programmatic += launch.is_programmatic() ? 1 : 0;
        const auto name = names.find(launch.note.function);
        ++counts.kernels[name == names.end() ? fmt::format("{:#x}", launch.note.function)
                                             : name->second];
        break;
      }
      case record::EventKind::kName:
      case record::EventKind::kImage:
      case record::EventKind::kRemark:
      case record::EventKind::kContents:
      case record::EventKind::kStructure:
      case record::EventKind::kVariable:
      case record::EventKind::kNode:
      case record::EventKind::kTensorMap:
        break;
    }
  }
  return counts;
}

void show_process(const record::ProcessRecord& process, Output& output) {
  const CallCounts counts = counts_of(process);
  output.line("\nprocess {}: {}, {} ({} with PDL), {}", process.process, printable(process.program),
              counted(counts.launches, "launch", "launches"), counts.programmatic,
              counted(process.events.size(), "event"));
  Json json = {{"process", process.process},      {"program", process.program},
               {"driver", process.driver},        {"driver_version", process.driver_version},
               {"events", process.events.size()}, {"unreturned", process.unreturned},
               {"launches", counts.launches},     {"programmatic", counts.programmatic}};
  const auto add = [&](const char* key, const char* title,
                       const std::map<std::string, std::uint64_t>& rows, bool is_kernel) {
    Json& list = json[key] = Json::array();
    Table table({{title}, {"count", Align::kRight}});
    for (const auto& [name, count] : rows) {
      list.push_back({{"name", name}, {"count", count}});
      table.add(
          {printable(is_kernel ? tools::with_readable_names(name) : name), std::to_string(count)});
    }
    if (!rows.empty()) output.text(table.format(output.terminal()));
  };
  add("kernels", "kernel", counts.kernels, true);
  add("calls", "call", counts.calls, false);
  for (const record::RecordedEvent& event : process.events) {
    if (event.kind == record::EventKind::kRemark) output.warning(printable(event.text, 500));
  }
  if (process.stopped != 0) {
    output.warning(fmt::format("process {}: the recording ends before the process did: {}",
                               process.process, std::generic_category().message(process.stopped)));
  }
  output.result()["processes"].push_back(std::move(json));
}

}  // namespace

void inspect_record(const InspectCommand& command, Output& output) {
  refuse_filter(command, "a record");
  const tools::RecordContents record = tools::read_record(command.image);
  Json& json = output.result();
  json["file"] = record.path.string();
  json["kind"] = "record";
  json["command_recorded"] = record.command;
  json["device"] = record.device;
  output.line("{}: record of {} on {}, {}, {}", record.path.string(),
              printable(fmt::format("{}", fmt::join(record.command, " "))), record.device,
              counted(record.processes.size(), "process", "processes"),
              counted(record.images.size(), "image"));
  json["processes"] = Json::array();
  for (const record::ProcessRecord& process : record.processes) show_process(process, output);
  json["images"] = Json::array();
  std::vector<std::string> remarks;
  std::optional<tools::Extraction> extraction;
  if (command.extract) extraction.emplace("--extract", *command.extract, output.files(), remarks);
  Json manifest = {{"record", record.path.string()}};
  Table table({{"image"}, {"kind"}, {"bytes", Align::kRight}, {"kernels", Align::kRight}});
  for (const tools::RecordImage& each : record.images) {
    Json row = {{"sha256", each.digest}, {"bytes", each.bytes}, {"kind", nullptr}};
    try {
      const Image image = Image::from_file(record.path / record::kImages / each.digest);
      const ImageFacts facts = read_facts(image);
      row["kind"] = to_string(image.kind());
      row["kernels"] = facts.kernels.size();
      table.add({each.digest.substr(0, 16), std::string(to_string(image.kind())),
                 format_bytes(each.bytes), std::to_string(facts.kernels.size())});
      if (extraction) extraction->write_image(image, each.digest);
    } catch (const Error& unreadable) {
      table.add({each.digest.substr(0, 16), "unreadable", format_bytes(each.bytes), ""});
      remarks.push_back(unreadable.message());
    }
    json["images"].push_back(std::move(row));
  }
  if (!record.images.empty()) output.text("\n" + table.format(output.terminal()));
  if (extraction) {
    manifest["files"] = extraction->take_list();
    const std::vector<std::string> written = extraction->finish(manifest);
    json["extracted"] = written;
    output.line("\nwrote {} to {}", counted(written.size(), "file"), command.extract->string());
  }
  for (const std::string& remark : remarks) output.warning(remark);
  tools::require_whole(record);
}

}  // namespace baton::cli
