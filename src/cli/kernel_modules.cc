#include "cli/kernel_modules.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/extraction.h"
#include "cli/json.h"
#include "cli/table.h"
#include "compile/request.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using KernelModule = Executable::KernelModule;

// More rows than this are not read.
constexpr std::size_t kMostRows = 40;

template <typename T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}
std::string bytes(const std::optional<std::uint32_t>& value) {
  return value ? format_bytes(*value) : "";
}

// What the module was made from, as messages call it.
const std::string& name_of(const KernelModule& module) {
  return module.source ? module.source->name : module.image->name();
}

std::string compiled_text(const KernelModule& module) {
  if (!module.compiled) return std::string(to_string(module.image->kind()));
  // On a hit the time is the one that was spent when the entry was made.
  return fmt::format("{}{}", module.compiled->cache_hit ? "from the cache, not in " : "in ",
                     format_duration(module.compiled->seconds));
}

Json json_of(const KernelModule& module) {
  Json json = {{"name", name_of(module)}, {"image", nullptr}, {"compile", nullptr}};
  if (module.image) json["image"] = to_string(module.image->kind());
  if (module.compiled) {
    json["compile"] = {{"seconds", module.compiled->seconds},
                       {"cache_hit", module.compiled->cache_hit},
                       {"log", module.compiled->log}};
  }
  Json& kernels = json["kernels"] = Json::array();
  for (const auto& [name, facts] : module.kernels) kernels.push_back(name);
  return json;
}

// A path inside a folder: neither absolute nor leading out of it.
bool stays_inside(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() && *path.begin() != "..";
}

class Keeper {
 public:
  Keeper(std::string_view option, const std::filesystem::path& folder, Output& output)
      : extraction_(option, folder, remarks_), output_(output) {}

  void add(const KernelModule& module) {
    const std::string stem = free_stem(module);
    Json entry = Json::object();
    entry["name"] = name_of(module);
    Json& kernels = entry["kernels"] = Json::array();
    for (const auto& [name, facts] : module.kernels) {
      kernels.push_back({{"kernel", name}, {"symbol", facts.name}});
    }
    if (module.source) {
      add_source(*module.source, stem, entry);
    } else {
      extraction_.write_image(*module.image, stem);
    }
    if (module.compiled) {
      extraction_.write_image(module.compiled->ptx, stem);
      // The PTX that it carries for debuggers is the one beside it.
      if (const auto& cubin = module.compiled->cubin) {
        extraction_.write(stem + ".cubin", cubin->bytes(), "cubin");
      }
    }
    if (module.rewritten) extraction_.write_image(*module.rewritten, stem + ".rewritten");
    entry["files"] = extraction_.take_list();
    modules_.push_back(std::move(entry));
  }

  std::vector<std::string> finish(const Program& program) {
    for (const std::string& remark : remarks_) output_.warning(remark);
    return extraction_.finish({{"version", 1},
                               {"program", program.name()},
                               {"file", program.file().string()},
                               {"modules", std::move(modules_)}});
  }

 private:
  // A file's own stem, else the first kernel's name; another one where that is taken.
  std::string free_stem(const KernelModule& module) {
    const std::string& kernel = module.kernels.front().first;
    const bool is_text = module.source && module.source->name.starts_with('<');
    std::string stem = is_text ? kernel : std::filesystem::path(name_of(module)).stem().string();
    if (!stays_inside(stem) || stem.find('/') != std::string::npos) stem = "kernel";
    const std::string base = stem;
    for (int number = 2; !taken_.insert(stem).second; ++number) {
      stem = fmt::format("{}_{}", base, number);
    }
    return stem;
  }

  // The source as it was, and beside it what it includes, CUDA's own headers apart.
  void add_source(const Source& source, const std::string& stem, Json& entry) {
    extraction_.write(stem + ".cu", source.text, "source");
    entry["prelude"] = source.prelude;
    entry["options"] = source.options;
    const std::string folder = stem + ".include";
    CompileOptions options;
    options.arch = "compute_90";  // plays no role in what is included
    const compiler::Request request = compiler::make_request(source, options);
    std::set<std::string> names;
    for (const compiler::IncludedFile& file : request.scan.files) {
      if (file.is_cuda || file.path.empty()) continue;
      const auto beside = file.path.lexically_normal().lexically_relative(request.parsed.directory);
      const std::filesystem::path name =
          stays_inside(beside) ? beside : std::filesystem::path(file.name).lexically_normal();
      if (!stays_inside(name) || !names.insert(name.string()).second) {
        output_.warning(
            fmt::format("{} includes {}, which is not kept: its name leads out of the "
                        "folder or is taken",
                        source.name, file.path.string()));
        continue;
      }
      extraction_.write((std::filesystem::path(folder) / name).string(), read_file(file.path),
                        "header");
    }
    entry["include"] = names.empty() ? Json::array() : Json::array({folder});
  }

  std::vector<std::string> remarks_;
  Extraction extraction_;
  Output& output_;
  Json modules_ = Json::array();
  std::set<std::string> taken_;
};

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
      if (++rows <= kMostRows) {
        table.add({printable(name), printable(name_of(module)), number(facts.registers),
                   bytes(facts.spill_bytes), bytes(facts.local_bytes), bytes(facts.static_shared),
                   first ? compiled_text(module) : "the same"});
      }
      first = false;
    }
    module_list.push_back(json_of(module));
  }
  output.result()["modules"] = std::move(module_list);
  output.result()["kernels"] = std::move(kernel_list);
  if (rows == 0) return;
  output.text(fmt::format("\n{}", table.format(output.colour())));
  if (rows > kMostRows) output.line("  and {} more", rows - kMostRows);
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
      list.push_back({{"kernel", rewrite.kernel},
                      {"mode", baton::to_string(rewrite.mode)},
                      {"obstacle", rewrite.obstacle.empty() ? Json() : Json(rewrite.obstacle)},
                      {"changes", std::move(changes)}});
    }
  }
  if (list.empty()) return;
  output.result()["rewrites"] = std::move(list);
  output.text(fmt::format("\n{}", table.format(output.colour())));
}

std::vector<std::string> keep_modules(const Program& program,
                                      const std::vector<KernelModule>& modules,
                                      std::string_view option, const std::filesystem::path& folder,
                                      Output& output) {
  Keeper keeper(option, folder, output);
  for (const KernelModule& module : modules) keeper.add(module);
  return keeper.finish(program);
}

}  // namespace baton::cli
