#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "baton/device.h"
#include "baton/error.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/table.h"
#include "compile/cache/cache.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/nvrtc/toolkit.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// One thing that Baton needs or can use: what was found of it, or what is missing and what to do.
struct Part {
  std::string name;
  bool found = false;
  std::string version;
  std::string detail;
};

Part driver_part(const std::vector<DeviceSummary>& devices, const std::string& why_no_gpu) {
  Part part{"CUDA driver", false, {}, "the simulated GPU serves: "};
  for (const std::string_view line : split_lines(why_no_gpu)) {
    part.detail += part.detail.back() == ' ' ? "" : "; ";
    part.detail += line;
  }
  for (const DeviceSummary& device : devices) {
    if (!device.spec.starts_with("cuda")) continue;
    const int version = Device::open(device.spec).driver_version();
    return {"CUDA driver", true, fmt::format("{}.{}", version / 1000, version % 1000 / 10), ""};
  }
  return part;
}

Part nvrtc_part(const compiler::Toolkit& toolkit) {
  Part part{"NVRTC", false, {}, {}};
  try {
    part.detail = compiler::require_nvrtc(toolkit).string();
    part.version = compiler::Nvrtc::load(*toolkit.nvrtc).version_text();
    part.found = true;
  } catch (const Error& error) {
    part.detail = error.message();
  }
  return part;
}

Part headers_part(const compiler::Toolkit& toolkit) {
  if (toolkit.include.empty()) {
    return {"CUDA headers",
            false,
            {},
            "no folder holds cuda_fp16.h; sources that include CUDA's headers do not compile: "
            "install a toolkit, or run scripts/setup"};
  }
  return {"CUDA headers", true, compiler::header_version(toolkit),
          toolkit.include.front().string()};
}

Part nvjitlink_part(const compiler::Toolkit& toolkit) {
  if (!toolkit.nvjitlink) return {"nvJitLink", false, {}, "not found; nothing needs it yet"};
  return {"nvJitLink", true, compiler::nvjitlink_version(*toolkit.nvjitlink),
          toolkit.nvjitlink->string()};
}

Part cache_part() {
  const std::optional<compiler::Cache> cache = compiler::Cache::open_default();
  if (!cache) {
    return {"compile cache",
            false,
            {},
            "there is no place for it, so every run compiles anew; set BATON_CACHE_DIR, or HOME"};
  }
  std::error_code failed;
  std::filesystem::create_directories(cache->directory(), failed);
  if (failed) {
    return {"compile cache",
            false,
            {},
            fmt::format("{} cannot be made ({}), so every run compiles anew; set BATON_CACHE_DIR",
                        cache->directory().string(), failed.message())};
  }
  std::uint64_t bytes = 0;
  const auto entries = cache->list();
  for (const compiler::Cache::Entry& entry : entries) bytes += entry.size;
  return {
      "compile cache",
      true,
      {},
      fmt::format("{}: {}, {}{}", cache->directory().string(),
                  counted(entries.size(), "entry", "entries"), format_bytes(bytes),
                  ::access(cache->directory().c_str(), W_OK) == 0
                      ? ""
                      : "; it cannot be written, so what is not in it is compiled at every run")};
}

Json json_of(const DeviceSummary& device) {
  return {{"spec", device.spec},
          {"name", device.name},
          {"architecture", device.architecture},
          {"memory", device.total_memory}};
}

Json json_of(const Part& part) {
  Json json = {{"name", part.name}, {"found", part.found}, {"version", nullptr}};
  if (!part.version.empty()) json["version"] = part.version;
  json["detail"] = part.detail;
  return json;
}

void show_default(Output& output) {
  try {
    const Device device = Device::open();
    output.result()["device"] = device.spec();
    output.line("\nrun takes {} where --device does not say otherwise", device.spec());
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
  output.text(device_table.format(output.colour()) + "\n");

  const compiler::Toolkit toolkit = compiler::find_toolkit();
  Table part_table({{"part"}, {""}, {"version"}, {"where"}});
  Json& part_list = output.result()["parts"] = Json::array();
  for (const Part& part : {driver_part(devices, why_no_gpu), nvrtc_part(toolkit),
                           headers_part(toolkit), nvjitlink_part(toolkit), cache_part()}) {
    part_list.push_back(json_of(part));
    part_table.add({part.name, part.found ? "found" : "missing", part.version, part.detail});
  }
  output.text(part_table.format(output.colour()));
  show_default(output);
}

}  // namespace baton::cli
