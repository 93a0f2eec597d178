#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baton/device.h"
#include "cli/commands/commands.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/parts.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DeviceSummary& device) {
  return {{"spec", device.spec},
          {"name", device.name},
          {"architecture", device.architecture},
          {"memory", device.total_memory}};
}

Json json_of(const tools::Part& part) {
  Json json = {{"name", part.name}, {"found", part.found}, {"version", nullptr}};
  if (!part.version.empty()) json["version"] = part.version;
  json["detail"] = part.detail;
  return json;
}

void show_default(Output& output) {
  try {
    const Device device = Device::open();
    output.result()["device"] = device.spec();
    output.line("\nrun uses {} unless --device names another one", device.spec());
  } catch (const Error& error) {
    output.result()["device"] = nullptr;
    output.warning(error.message());
  }
}

}  // namespace

void doctor(const DoctorCommand&, Output& output) {
  std::string why_no_gpu;
  const std::vector<DeviceSummary> devices = list_devices(&why_no_gpu);
  Table device_table({{"device"}, {"name"}, {"compute"}, {"memory", Table::Align::kRight}});
  Json& device_list = output.result()["devices"] = Json::array();
  for (const DeviceSummary& device : devices) {
    device_list.push_back(json_of(device));
    device_table.add({device.spec, device.name,
                      fmt::format("{}.{}", device.architecture / 10, device.architecture % 10),
                      format_bytes(device.total_memory)});
  }
  output.text(device_table.format(output.terminal()) + "\n");

  Table part_table({{"part"}, {""}, {"version"}, {"where"}});
  std::vector<std::string> missing;
  Json& part_list = output.result()["parts"] = Json::array();
  for (const tools::Part& part : tools::find_parts(devices, why_no_gpu)) {
    part_list.push_back(json_of(part));
    if (part.needed && !part.found) missing.push_back(part.name);
    part_table.add({part.name, part.found ? "found" : "missing", part.version, part.detail});
  }
  output.text(part_table.format(output.terminal()));
  show_default(output);
  if (!missing.empty()) {
    throw error(ErrorCode::kNotFound, "CUDA source does not compile here, for want of {}",
                fmt::join(missing, " and "));
  }
}

}  // namespace baton::cli
