#include "shim/options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/system/environment.h"
#include "sim/device/profile.h"
#include "sim/queue/launch_window.h"

namespace baton::shim {
namespace {

// A quarter of the host's memory, in bytes. A byte of device memory takes two bytes of the host's,
// and some programs allocate nearly all that a device has.
std::uint64_t default_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
  const auto page = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  return pages * page / 4;
}

std::uint64_t memory_of(const std::string& text) {
  std::uint64_t bytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (code != std::errc{} || end != text.data() + text.size() || bytes == 0) {
    throw error(ErrorCode::kInvalidInput,
                "BATON_EXEC_MEMORY takes a number of bytes, \"{}\" was given", text);
  }
  return bytes;
}

std::uint64_t number_in(const char* name) {
  const auto text = read_environment(name);
  if (!text) return 0;
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (code != std::errc{} || end != text->data() + text->size()) {
    throw error(ErrorCode::kInvalidInput, "{} takes a number from 0 up, \"{}\" was given", name,
                *text);
  }
  return number;
}

std::shared_ptr<sim::LaunchWindow> launch_window() {
  sim::LaunchWindow::Asked asked{
      number_in("BATON_EXEC_LAUNCH_SKIP"), number_in("BATON_EXEC_LAUNCH_COUNT"),
      read_environment("BATON_EXEC_KERNELS"), read_environment("BATON_EXEC_KERNELS_EXCLUDED")};
  if (asked.skip == 0 && asked.count == 0) return nullptr;
  try {
    return std::make_shared<sim::LaunchWindow>(asked);
  } catch (const std::regex_error& failure) {
    throw error(ErrorCode::kInvalidInput,
                "BATON_EXEC_KERNELS and BATON_EXEC_KERNELS_EXCLUDED take regular expressions: {}",
                failure.what());
  }
}

std::uint16_t port_of(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (code != std::errc{} || end != text.data() + text.size() || port == 0) {
    throw error(ErrorCode::kInvalidInput, "BATON_EXEC_GDB takes a port, \"{}\" was given", text);
  }
  return port;
}

bool flag(const char* name) {
  const auto value = read_environment(name);
  if (!value || *value == "0") return false;
  if (*value == "1") return true;
  throw error(ErrorCode::kInvalidInput, "{} takes 0 or 1, \"{}\" was given", name, *value);
}

// "h200" of "sim:h200".
std::string profile_of(const std::string& device) {
  constexpr std::string_view kKind = "sim";
  if (device == kKind) return std::string(sim::profile_names().front());
  if (device.starts_with("sim:")) return device.substr(kKind.size() + 1);
  throw error(
      ErrorCode::kInvalidInput,
      "BATON_DEVICE=\"{}\" does not name a simulated device, and this library has no other: "
      "take sim, or do not load it",
      device);
}

}  // namespace

Options read_options() {
  Options options;
  sim::Settings& settings = options.settings;
  settings.only = profile_of(read_environment("BATON_DEVICE").value_or("sim"));
  const auto memory = read_environment("BATON_EXEC_MEMORY");
  settings.memory_bytes = memory ? memory_of(*memory) : default_memory();
  if (const auto schedule = read_environment("BATON_EXEC_SCHEDULE")) {
    settings.common.schedule = parse_schedule(*schedule);
  }
  if (const auto races = read_environment("BATON_EXEC_RACES")) {
    settings.common.races = parse_races(*races);
  }
  settings.common.watch = driver::Simulator::Watch::kOn;
  settings.keep_going = flag("BATON_EXEC_KEEP_GOING");
  settings.launches = launch_window();
  options.finds_leaks = flag("BATON_EXEC_LEAKS");
  if (const auto port = read_environment("BATON_EXEC_GDB")) {
    settings.debugger = std::make_shared<sim::Debugger>(port_of(*port));
  }
  if (const auto folder = read_environment("BATON_EXEC_REPORT")) options.report = *folder;
  return options;
}

}  // namespace baton::shim
