#include "bundle/build.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/array/safetensors_model.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "base/text/text.h"
#include "baton/bundle.h"
#include "baton/device.h"
#include "bundle/assemble.h"
#include "bundle/check.h"
#include "bundle/facts.h"
#include "bundle/program_part.h"
#include "bundle/verdicts.h"
#include "compile/request.h"
#include "load/kernel_definition.h"
#include "program/reader/input_files.h"
#include "program/writer/without_sources.h"
#include "program/writer/writer.h"

namespace baton {
namespace bundle {
namespace {

namespace fs = std::filesystem;

// What a kernel's name in a program, which may be any text, contributes to a section's name.
std::string as_file_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && !out.empty());
    out += plain ? c : '_';
  }
  return out.empty() ? "_" : out;
}

class BundleBuilder {
 public:
  BundleBuilder(const Program& program, const BundleOptions& options)
      : program_(program), options_(options) {
    if (Bundle::is_bundle(program.file())) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is a bundle already; build one from the program file",
                  program.file().string());
    }
    choose_architectures();
  }

  void write(const fs::path& path, const Judge& judge) {
    require_writable(path);
    target_ = path;
    for (const fs::path& file : input_files(program_)) require_no_target(file);
    for (load::KernelDefinition& definition : load::read_definitions(program_)) {
      load::at_kernel(*definition.kernels[0], [&] { collect(std::move(definition)); });
    }
    const std::string text = program_text();
    const std::string_view toml =
        keep(options_.sources ? text : without_sources(text, program_.file().string()));
    add(std::string(kProgramSection), toml);
    add(std::string(kRecordSection),
        keep(make_record(toml, std::string(kProgramSection), program_.name())));
    for (const std::string& record : options_.tuned) {
      add(fmt::format("{}record.json", kTunedFolder), keep(record));
    }
    // Without weights, which no verdict depends on, the bundle fits into memory.
    std::vector<edges::KeptJudgement> kept;
    if (judge)
      kept = judge(Bundle::from_bytes(join_sections(fill(kept).take(), sections_), path.string(),
                                      BundleChecks{Verify::kIndex, std::vector<PublicKey>()}));
    collect_files();
    IndexWriter index = fill(kept);
    write_sections(index.take(), sections_, options_.key ? &*options_.key : nullptr, path);
  }

  std::vector<std::string> take_remarks() { return std::move(remarks_); }

 private:
  // Images are known by the names of their sections until all sections are known.
  struct BuiltImage {
    std::string section;
    ImageFacts facts;
  };
  struct Built {
    std::string arch;
    std::optional<BuiltImage> ptx, code;
    std::optional<Compiled> compiled;
  };
  struct BuiltModule {
    load::KernelDefinition definition;
    std::string source;  // the section; empty: none
    std::vector<Built> builds;
  };

  void choose_architectures() {
    architectures_ = options_.architectures;
    for (auto arch = architectures_.begin(); arch != architectures_.end(); ++arch) {
      if (std::find(architectures_.begin(), arch, *arch) == arch) continue;
      throw error(ErrorCode::kInvalidInput, "the architecture {} is given twice; keep one", *arch);
    }
    if (architectures_.empty()) architectures_.push_back(Device::open().compile_arch());
  }

  // The program's own text, unless it includes other files, or the program was built or changed in
  // C++. There a kernel in memory is the part of the bundle that holds it.
  std::string program_text() const {
    const std::string& own = program_.text();
    if (!own.empty() && program_.definition().included.empty()) {
      const Program read = Program::from_text(own, program_.name(), program_.directory());
      if (read == program_) return own;
    }
    std::string text = write_program(program_, [this](const ProgramKernel& kernel) {
      const std::string& part = image_parts_.at(kernel.name);
      return std::pair(fs::path(part).extension().string().substr(1), part);
    });
    // What cannot be read again is said now.
    Program::from_text(text, printable(program_.name()), program_.directory());
    return text;
  }

  void require_no_target(const fs::path& input) const {
    if (!is_same_file(target_, input)) return;
    throw error(ErrorCode::kInvalidInput,
                "{}: the program {} reads this file, and the bundle would replace it; name another "
                "file",
                target_.string(), printable(program_.name()));
  }

  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  // Under the first free name: "norm.cu", "norm_2.cu".
  std::string add(const std::string& wanted, std::string_view bytes) {
    std::string name = wanted;
    const fs::path path = wanted;
    for (int number = 2; !sections_.emplace(name, bytes).second; ++number) {
      name = (path.parent_path() /
              fmt::format("{}_{}{}", path.stem().string(), number, path.extension().string()))
                 .string();
    }
    return name;
  }

  // The path from the program's folder, which leads nowhere else: "../common/x.h" is
  // "__/common/x.h".
  std::string relative_name(const fs::path& path) const {
    const fs::path folder = program_.directory().empty() ? "." : program_.directory();
    const fs::path from = (fs::absolute(folder) / "").lexically_normal();
    std::string name;
    for (const fs::path& part : fs::absolute(path).lexically_normal().lexically_relative(from)) {
      if (!name.empty()) name += '/';
      name += part == ".." ? "__" : part.string();
    }
    return name;
  }

  BuiltImage add_image(const Image& image, const std::string& stem) {
    images_.push_back(image);
    std::string_view bytes = image.bytes();
    // One NUL follows PTX in memory, and in the file.
    if (image.kind() == ImageKind::kPtx) bytes = {bytes.data(), bytes.size() + 1};
    const std::string name = fmt::format("{}{}.{}", kImageFolder, stem, to_string(image.kind()));
    return {add(name, bytes), baton::read_facts(image)};
  }

  void collect(load::KernelDefinition definition) {
    BuiltModule module;
    const std::string stem = as_file_name(definition.kernels[0]->name);
    if (definition.image) {
      BuiltImage image = add_image(*definition.image, stem);
      Built& built = module.builds.emplace_back();
      built.arch = image.facts.arch;
      (definition.image->kind() == ImageKind::kPtx ? built.ptx : built.code) = std::move(image);
    } else if (definition.compiled) {
      Built& built = module.builds.emplace_back();
      built.compiled = definition.compiled;
      add_compiled(stem, built);
      built.arch = (built.code ? built.code : built.ptx)->facts.arch;
    } else {
      for (const std::string& arch : architectures_) {
        Built& built = module.builds.emplace_back();
        built.arch = arch;
        KernelModule made;
        load::make(definition, {.arch = arch, .use_cache = options_.use_cache, .param_names = true},
                   made);
        built.compiled = std::move(made.compiled);
        if (made.image) built.code = add_image(*made.image, stem + "." + arch);
        add_compiled(stem + "." + arch, built);
      }
      if (options_.sources) module.source = add_sources(definition);
    }
    const Built& first = module.builds.front();
    for (const ProgramKernel* kernel : definition.kernels) {
      image_parts_[kernel->name] = (first.ptx ? first.ptx : first.code)->section;
    }
    module.definition = std::move(definition);
    modules_.push_back(std::move(module));
  }

  void add_compiled(const std::string& stem, Built& built) {
    if (!built.compiled) return;
    built.ptx = add_image(built.compiled->ptx, stem);
    if (built.compiled->cubin) built.code = add_image(*built.compiled->cubin, stem);
  }

  // The name of the source, if there is one that is a file.
  std::string add_sources(const load::KernelDefinition& definition) {
    if (definition.source) return add_source(*definition.source, *definition.kernels[0]);
    const std::vector<fs::path>& files = definition.kernels[0]->link;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (const auto* source = std::get_if<Source>(&definition.link[i])) {
        add_source(*source, files[i]);
      } else {
        images_.push_back(std::get<Image>(definition.link[i]));
        add_once(files[i], images_.back().bytes());
      }
    }
    return "";
  }

  // Several kernels may link one file, and several sources may include one header.
  void add_once(const fs::path& file, std::string_view bytes) {
    const std::string name = fmt::format("{}{}", kSourceFolder, relative_name(file));
    if (sections_.count(name) == 0) add(name, bytes);
  }

  // A text in the program is there already.
  std::string add_source(const Source& source, const ProgramKernel& kernel) {
    std::string name;
    if (kernel.origin == KernelOrigin::kSource) {
      name = add(fmt::format("{}{}", kSourceFolder, relative_name(kernel.file)), keep(source.text));
    }
    add_headers(source);
    return name;
  }

  void add_source(const Source& source, const fs::path& file) {
    add_once(file, keep(source.text));
    add_headers(source);
  }

  // The user's headers that the source may include.
  void add_headers(const Source& source) {
    CompileOptions options;
    options.arch = architectures_[0];
    for (const auto& file : compiler::make_request(source, options).scan.files) {
      if (file.is_cuda || file.path.empty()) continue;
      require_no_target(file.path);
      const std::string header = fmt::format("{}{}", kSourceFolder, relative_name(file.path));
      if (sections_.count(header) == 0) add(header, keep(read_file(file.path)));
    }
  }

  // Several buffers may be tensors of one file.
  void collect_files() {
    std::set<fs::path> known;
    for (const ProgramBuffer& buffer : program_.buffers()) {
      if (buffer.init != BufferInit::kFile) continue;
      const std::string relative = relative_name(buffer.file);
      if (!options_.weights) {
        if (!known.insert(buffer.file).second) continue;
        remarks_.push_back(fmt::format(
            "{} of the buffer {} is not in the bundle and has to lie beside it; the option weights "
            "puts it in",
            relative, printable(buffer.name)));
        continue;
      }
      try {
        const fs::path file = buffer.tensor.empty() ? buffer.file : safetensors_file(buffer.file);
        files_.emplace_back(buffer.name, collect_file(file));
        if (buffer.tensor.empty() || !is_safetensors_index(file)) continue;
        const std::string index = read_file(file, kMaxSafetensorsHeader);
        for (const std::string& shard : shards_of(parse_safetensors_index(index, file.string()))) {
          collect_file(file.parent_path() / shard);
        }
      } catch (Error& failure) {
        failure.at(buffer.where);
        throw;
      }
    }
  }

  // The section of the file, which is added once.
  std::string collect_file(const fs::path& file) {
    const auto known = file_sections_.find(file);
    if (known != file_sections_.end()) return known->second;
    require_no_target(file);
    mapped_.push_back(MappedFile::open(file));
    const std::string name = fmt::format("{}{}", kFileFolder, relative_name(file));
    return file_sections_.emplace(file, add(name, mapped_.back()->bytes())).first->second;
  }

  std::uint32_t section(const std::string& name) const {
    return static_cast<std::uint32_t>(std::distance(sections_.begin(), sections_.find(name)));
  }

  std::uint32_t image_row(const std::optional<BuiltImage>& image) {
    if (!image) return kNone;
    write_facts(image->facts, section(image->section), out_);
    return out_.rows(out_.images) - 1;
  }

  IndexWriter fill(const std::vector<edges::KeptJudgement>& kept) {
    out_ = IndexWriter();
    for (const auto& [name, bytes] : sections_) {
      SectionRow row{};
      row.name = out_.text(name);
      out_.sections.push_back(row);
    }
    out_.program.push_back({out_.text(program_.name()), section(std::string(kProgramSection)), 0});
    for (const auto& [buffer, name] : files_) {
      out_.files.push_back({out_.text(buffer), section(name), 0});
    }
    for (const BuiltModule& module : modules_) fill(module);
    for (const edges::KeptJudgement& judgement : kept) write_judgement(judgement, out_);
    return std::move(out_);
  }

  void fill(const BuiltModule& module) {
    const load::KernelDefinition& definition = module.definition;
    ModuleRow row{};
    row.name = out_.text(name_of(definition));
    row.is_source = !definition.image;
    row.source = module.source.empty() ? kNone : section(module.source);
    row.uses = {out_.rows(out_.uses), static_cast<std::uint32_t>(definition.kernels.size())};
    for (const ProgramKernel* kernel : definition.kernels) {
      out_.uses.push_back({out_.text(kernel->name)});
    }
    row.builds = {out_.rows(out_.builds), static_cast<std::uint32_t>(module.builds.size())};
    for (const Built& built : module.builds) fill(built);
    out_.modules.push_back(row);
  }

  // Without a path of this machine.
  std::string name_of(const load::KernelDefinition& definition) const {
    const ProgramKernel& first = *definition.kernels[0];
    if (!first.file.empty()) return relative_name(first.file);
    std::string name;
    for (const fs::path& file : first.link) {
      name += (name.empty() ? "" : " + ") + relative_name(file);
    }
    return name.empty() ? definition.name : name;
  }

  void fill(const Built& built) {
    BuildRow row{};
    row.arch = out_.text(built.arch);
    row.ptx = image_row(built.ptx);
    row.code = image_row(built.code);
    row.symbols.first = out_.rows(out_.symbols);
    row.compiled.first = out_.rows(out_.compiled);
    if (built.compiled) {
      row.log = out_.text(built.compiled->log);
      for (const auto& [expression, symbol] : built.compiled->symbols) {
        out_.symbols.push_back({out_.text(expression), out_.text(symbol)});
      }
      // Times differ from one compile to the next, and stay out.
      for (const CompiledKernel& kernel : built.compiled->kernels) {
        out_.compiled.push_back({out_.text(kernel.symbol), kernel.registers, kernel.stack_bytes,
                                 kernel.spill_store_bytes, kernel.spill_load_bytes,
                                 kernel.static_shared, 0});
      }
    }
    row.symbols.count = out_.rows(out_.symbols) - row.symbols.first;
    row.compiled.count = out_.rows(out_.compiled) - row.compiled.first;
    out_.builds.push_back(row);
  }

  const Program& program_;
  const BundleOptions& options_;
  fs::path target_;
  std::vector<std::string> architectures_;
  std::map<std::string, std::string_view> sections_;  // their bytes by name
  std::vector<BuiltModule> modules_;
  std::map<std::string, std::string> image_parts_;          // of a kernel: the section of its image
  std::vector<std::pair<std::string, std::string>> files_;  // buffers, and sections of theirs
  std::map<fs::path, std::string> file_sections_;
  std::vector<std::string> remarks_;
  IndexWriter out_;
  // The memory of the sections' bytes.
  std::deque<std::string> texts_;
  std::vector<Image> images_;
  std::vector<std::shared_ptr<const MappedFile>> mapped_;
};

}  // namespace

std::vector<std::string> build_bundle(const Program& program, const std::filesystem::path& path,
                                      const BundleOptions& options, const Judge& judge) {
  BundleBuilder builder(program, options);
  builder.write(path, judge);
  return builder.take_remarks();
}

}  // namespace bundle
}  // namespace baton
