#include "tools/file/kept_modules.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file/file.h"
#include "bundle/definitions.h"
#include "compile/request.h"
#include "load/kernel_definition.h"
#include "tools/file/extraction.h"

namespace baton::tools {
namespace {

using Json = nlohmann::ordered_json;
using KernelModule = Executable::KernelModule;
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
  Keeper(std::string_view option, const fs::path& folder, const FileGuard& files,
         std::vector<std::string>& remarks)
      : remarks_(remarks), extraction_(option, folder, files, remarks_) {}

  void add(const KernelModule& module) {
    const std::string stem = free_stem(module);
    Json entry = Json::object();
    entry["name"] = module.name;
    Json& kernels = entry["kernels"] = Json::array();
    for (const auto& [name, facts] : module.kernels) {
      kernels.push_back({{"kernel", name}, {"symbol", facts.name}});
    }
    if (module.source && module.from_bundle) {
      add_bundled_source(*module.source, stem, entry);
    } else if (module.source) {
      add_source(*module.source, stem, entry);
    }
    for (const LinkInput& input : module.link) add_input(input, entry["link"].emplace_back());
    if (module.image) extraction_.write_image(*module.image, stem);
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
    return extraction_.finish({{"version", 1},
                               {"program", program.name()},
                               {"file", program.file().string()},
                               {"modules", std::move(modules_)}});
  }

 private:
  // A file that was linked.
  void add_input(const LinkInput& input, Json& entry) {
    const auto* source = std::get_if<Source>(&input);
    entry["name"] = source != nullptr ? source->name : std::get<Image>(input).name();
    const std::string stem = free_stem(fs::path(entry["name"].get<std::string>()).stem().string());
    if (source != nullptr) {
      add_source(*source, stem, entry);
    } else {
      extraction_.write_image(std::get<Image>(input), stem);
    }
  }

  // A file's own stem, else the first kernel's name; another one where that is taken.
  std::string free_stem(const KernelModule& module) {
    const std::string& kernel = module.kernels.front().first;
    const bool is_text = module.source && module.source->name.starts_with('<');
    const bool is_one_file =
        module.source ? !is_text : module.image.has_value() && module.link.empty();
    return free_stem(is_one_file ? fs::path(module.name).stem().string() : kernel);
  }

  std::string free_stem(std::string stem) {
    if (!stays_inside(stem) || stem.find('/') != std::string::npos) stem = "kernel";
    const std::string base = stem;
    for (int number = 2; !taken_.insert(stem).second; ++number) {
      stem = fmt::format("{}_{}", base, number);
    }
    return stem;
  }

  // The source as far as the bundle has it. Its headers are parts of the bundle.
  void add_bundled_source(const Source& source, const std::string& stem, Json& entry) {
    if (!source.text.empty()) extraction_.write(stem + ".cu", source.text, "source");
    entry["prelude"] = source.prelude;
    entry["options"] = source.options;
    entry["include"] = Json::array();
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
      remarks_.push_back(
          fmt::format("{} includes {} by its full path, where the file that is kept "
                      "does not lie",
                      source.name, file.name));
    }
  }

  std::vector<std::string>& remarks_;
  Extraction extraction_;
  Json modules_ = Json::array();
  std::set<std::string> taken_;
};

}  // namespace

namespace {

std::vector<KernelModule> describe_all(std::vector<load::KernelDefinition> definitions,
                                       const std::string& arch) {
  std::vector<KernelModule> modules;
  for (load::KernelDefinition& definition : definitions) {
    modules.push_back(load::describe(std::move(definition), arch, true));
  }
  return modules;
}

}  // namespace

std::vector<KernelModule> describe_modules(const Program& program, const std::string& arch) {
  return describe_all(load::read_definitions(program), arch);
}

std::vector<KernelModule> describe_modules(const Bundle& bundle, const std::string& arch) {
  return describe_all(bundle::read_definitions(bundle, bundle.program(), arch), arch);
}

std::vector<KernelModule> with_sources(const Bundle& bundle, std::vector<KernelModule> modules) {
  for (KernelModule& module : modules) {
    if (!module.source || !module.source->text.empty()) continue;
    module.source->text = bundle::source_text(bundle, module.name);
  }
  return modules;
}

std::vector<std::string> keep_modules(const Program& program,
                                      const std::vector<KernelModule>& modules,
                                      std::string_view option, const std::filesystem::path& folder,
                                      const FileGuard& files, std::vector<std::string>& remarks) {
  Keeper keeper(option, folder, files, remarks);
  for (const KernelModule& module : modules) keeper.add(module);
  return keeper.finish(program);
}

}  // namespace baton::tools
