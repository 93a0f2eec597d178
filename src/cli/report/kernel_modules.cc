#include "cli/report/kernel_modules.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/file/kept_modules.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using KernelModule = Executable::KernelModule;

// More rows than this are not read.
constexpr std::size_t kMostModules = 40;

std::string compiled_text(const KernelModule& module) {
  if (!module.compiled) return std::string(to_string(module.image->kind()));
  if (module.from_bundle) return "in the bundle";
  if (!module.source && module.link.empty()) return "before";
  // After a cache hit, `seconds` is the time of the compile that made the entry.
  const std::string time = format_duration(module.compiled->seconds);
  return module.compiled->cache_hit ? fmt::format("cached (saves {})", time) : "in " + time;
}

Json json_of(const KernelModule& module) {
  Json json = {{"name", module.name}, {"image", nullptr}, {"compile", nullptr}};
  if (module.image) json["image"] = to_string(module.image->kind());
  if (module.compiled && !module.from_bundle) {
    json["compile"] = {{"seconds", module.compiled->seconds},
                       {"cache_hit", module.compiled->cache_hit},
                       {"log", module.compiled->log}};
  }
  Json& kernels = json["kernels"] = Json::array();
  for (const auto& [name, facts] : module.kernels) kernels.push_back(name);
  return json;
}

}  // namespace

void show_modules(const std::vector<KernelModule>& modules, Output& output) {
  Json module_list = Json::array();
  Json kernel_list = Json::array();
  using enum Table::Align;
  Table table({{"kernel"},
               {"from"},
               {"registers", kRight},
               {"spills", kRight},
               {"stack", kRight},
               {"static shared", kRight},
               {"compiled"}});
  std::size_t rows = 0;
  for (const KernelModule& module : modules) {
    bool first = true;
    for (const auto& [name, facts] : module.kernels) {
      Json kernel = {{"kernel", name}, {"module", module_list.size()}};
      kernel.update(cli::json_of(facts));
      kernel_list.push_back(std::move(kernel));
      if (++rows <= kMostModules) {
        table.add({printable(name), printable(module.name), format_known(facts.registers),
                   format_known_bytes(facts.spill_bytes), format_known_bytes(facts.local_bytes),
                   format_known_bytes(facts.static_shared),
                   first ? compiled_text(module) : "the same"});
      }
      first = false;
    }
    module_list.push_back(json_of(module));
  }
  output.result()["modules"] = std::move(module_list);
  output.result()["kernels"] = std::move(kernel_list);
  if (rows == 0) return;
  output.text(fmt::format("\n{}", table.format(output.terminal())));
  if (rows > kMostModules) output.line("  and {} more", rows - kMostModules);
  for (const KernelModule& module : modules) {
    if (module.compiled && !module.compiled->log.empty()) {
      output.text(fmt::format("\n{}\n", module.compiled->log));
    }
  }
}

void show_rewrites(const std::vector<KernelModule>& modules, Output& output) {
  Json list = Json::array();
  Table table({{"rewritten"}, {"gets a"}, {"at"}, {"because"}});
  for (const KernelModule& module : modules) {
    for (const KernelRewrite& rewrite : module.rewrites) {
      Json changes = Json::array();
      for (const KernelRewrite::Change& change : rewrite.changes) {
        changes.push_back({{"what", baton::to_string(change.kind)},
                           {"where", change.where},
                           {"reason", change.reason}});
      }
      // An unrolled loop has many loads on one line.
      const auto key = [](const KernelRewrite::Change& change) {
        return std::tie(change.kind, change.where, change.reason);
      };
      std::map<decltype(key(rewrite.changes[0])), int> times;
      for (const KernelRewrite::Change& change : rewrite.changes) ++times[key(change)];
      for (const KernelRewrite::Change& change : rewrite.changes) {
        const int count = std::exchange(times[key(change)], 0);
        if (count == 0) continue;
        table.add({printable(rewrite.kernel),
                   fmt::format("{}{}", baton::to_string(change.kind),
                               count == 1 ? "" : fmt::format(", {} times", count)),
                   printable(change.where), change.reason});
      }
      if (!rewrite.obstacle.empty()) {
        table.add({printable(rewrite.kernel), "nothing", "", rewrite.obstacle});
      }
      if (!rewrite.own.empty()) {
        table.add({printable(rewrite.kernel), rewrite.changes.empty() ? "nothing" : "nothing else",
                   "", "it keeps " + rewrite.own});
      }
      list.push_back({{"kernel", rewrite.kernel},
                      {"mode", baton::to_string(rewrite.mode)},
                      {"obstacle", rewrite.obstacle.empty() ? Json() : Json(rewrite.obstacle)},
                      {"own", rewrite.own.empty() ? Json() : Json(rewrite.own)},
                      {"changes", std::move(changes)}});
    }
  }
  if (list.empty()) return;
  output.result()["rewrites"] = std::move(list);
  output.text(fmt::format("\n{}", table.format(output.terminal())));
}

}  // namespace baton::cli
