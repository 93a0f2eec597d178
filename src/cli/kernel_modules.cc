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

namespace fs = std::filesystem;

// A path inside a folder: neither absolute nor leading out of it.
bool stays_inside(const fs::path& path) {
  return !path.empty() && path.is_relative() && *path.begin() != "..";
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return stays_inside(path.lexically_relative(folder));
}

// The deepest folder that holds both.
fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end() && *i == *j; ++i, ++j) {
    common /= *i;
  }
  return common;
}

// The files that a source includes, and the folders that they are looked for in, as they lie to
// each other: where all that is written elsewhere, every #include finds there what it found here.
struct Headers {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
  fs::path top;  // holds all of them
};

Headers headers_of(const compiler::Request& request) {
  Headers out;
  const fs::path own = request.parsed.directory.lexically_normal();
  std::set<fs::path> folders;
  for (const compiler::IncludedFile& file : request.scan.files) {
    if (file.is_cuda || file.path.empty()) continue;
    const fs::path path = file.path.lexically_normal();
    out.files.push_back(path);
    if (lies_in(path, own) || fs::path(file.name).lexically_normal().begin()->string() == "..") {
      folders.insert(own);
    }
    for (const fs::path& folder : request.parsed.include) {
      if (lies_in(path, folder.lexically_normal())) folders.insert(folder.lexically_normal());
    }
  }
  // In the order in which they are searched: quotes look beside the source first.
  if (folders.erase(own) > 0) out.folders.push_back(own);
  for (const fs::path& folder : request.parsed.include) {
    if (folders.erase(folder.lexically_normal()) > 0) {
      out.folders.push_back(folder.lexically_normal());
    }
  }
  for (const fs::path& path : out.files) {
    out.top = out.top.empty() ? path.parent_path() : common_folder(out.top, path.parent_path());
  }
  for (const fs::path& folder : out.folders) out.top = common_folder(out.top, folder);
  return out;
}

class Keeper {
 public:
  Keeper(std::string_view option, const fs::path& folder, Output& output)
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
    std::string stem = is_text ? kernel : fs::path(name_of(module)).stem().string();
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
    CompileOptions options;
    options.arch = "compute_90";  // plays no role in what is included
    const compiler::Request request = compiler::make_request(source, options);
    const Headers headers = headers_of(request);
    const fs::path folder = stem + ".include";
    const auto kept_at = [&](const fs::path& path) {
      return (folder / path.lexically_relative(headers.top)).lexically_normal();
    };
    for (const fs::path& file : headers.files) {
      extraction_.write(kept_at(file).string(), read_file(file), "header");
    }
    Json& include = entry["include"] = Json::array();
    for (const fs::path& each : headers.folders) {
      // Without an end as "x/." leaves it; one in which nothing lies is still walked through.
      const fs::path kept = kept_at(each / "x").parent_path();
      extraction_.make_folder(kept.string());
      include.push_back(kept.string());
    }
    for (const compiler::IncludedFile& file : request.scan.files) {
      if (file.is_cuda || file.path.empty() || fs::path(file.name).is_relative()) continue;
      output_.warning(
          fmt::format("{} includes {} by its full path, where the file that is kept "
                      "does not lie",
                      source.name, file.name));
    }
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
