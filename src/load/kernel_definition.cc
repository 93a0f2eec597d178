#include "load/kernel_definition.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/log.h"
#include "load/kernel_entries.h"

namespace baton::load {
namespace {

// Where quotes resolve from is part of what a source means only if it has any. Looks for what an
// #include with quotes cannot do without; a text that merely looks so costs one more compile.
bool may_include_by_quotes(const Source& source) {
  const auto has_both = [](const std::string& text) {
    return text.find("include") != std::string::npos && text.find('"') != std::string::npos;
  };
  const auto names_path = [](const std::string& option) {
    return option.find("-I") != std::string::npos || option.find("include") != std::string::npos;
  };
  return has_both(source.text) || has_both(source.prelude) ||
         std::any_of(source.options.begin(), source.options.end(), names_path);
}

std::string key_of(const Source& source) {
  Sha256 hash;
  hash.update_field("source").update_field(source.text).update_field(source.prelude);
  for (const auto& folder : source.include) hash.update_field(folder.string());
  hash.update_field("options");
  for (const std::string& option : source.options) hash.update_field(option);
  if (may_include_by_quotes(source)) {
    const std::filesystem::path folder = source.directory.empty() ? "." : source.directory;
    hash.update_field("directory");
    hash.update_field((std::filesystem::absolute(folder) / "").lexically_normal().string());
  }
  return to_hex(hash.finish());
}

std::string key_of(const Image& image) {
  return to_hex(Sha256().update_field("image").update_field(image.bytes()).finish());
}

void add_options(const ProgramKernel& kernel, Source& source) {
  source.prelude = kernel.prelude;
  // The program's reader has them relative to the working directory, a source to its own folder.
  for (const auto& folder : kernel.include) {
    source.include.push_back(std::filesystem::absolute(folder));
  }
  source.options = kernel.options;
}

Source read_source(const Program& program, const ProgramKernel& kernel) {
  Source source;
  if (kernel.origin == KernelOrigin::kSource) {
    source = Source::from_file(kernel.file);
  } else {
    source = Source::from_text(kernel.text, "<kernel " + kernel.name + ">");
    source.directory = program.directory();
  }
  add_options(kernel, source);
  return source;
}

std::string key_of(const LinkInput& input) {
  return std::visit([](const auto& each) { return key_of(each); }, input);
}

// What a file is its bytes decide, not the key that it is given under.
Image read_image(const ProgramKernel& kernel) {
  Image image = Image::from_file(kernel.file);
  if (to_string(image.kind()) != to_string(kernel.origin)) {
    log(LogLevel::kWarning, "kernel {}: {} is given as {} and is {}", kernel.name, image.name(),
        to_string(kernel.origin), to_string(image.kind()));
  }
  return image;
}

// The files of a link, in the order of the program.
std::vector<LinkInput> read_link(const ProgramKernel& kernel) {
  std::vector<LinkInput> inputs;
  bool has_source = false;
  for (const auto& file : kernel.link) {
    LinkInput& input = inputs.emplace_back(read_link_input(file));
    if (auto* source = std::get_if<Source>(&input)) {
      add_options(kernel, *source);
      has_source = true;
    }
  }
  const bool has_options =
      !kernel.prelude.empty() || !kernel.include.empty() || !kernel.options.empty();
  if (has_options && !has_source) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {} has a prelude, include folders or options, which are for the compiler, "
                "and links no source; leave them out",
                kernel.name);
  }
  return inputs;
}

class Definitions {
 public:
  explicit Definitions(const Program& program) : program_(program) {}

  void add(const ProgramKernel& kernel) {
    const bool is_file = kernel.origin != KernelOrigin::kText &&
                         kernel.origin != KernelOrigin::kImage &&
                         kernel.origin != KernelOrigin::kCompiled;
    const std::string words = is_file ? words_of(kernel) : "";
    if (const auto known = by_words_.find(words); is_file && known != by_words_.end()) {
      list_[known->second].kernels.push_back(&kernel);
      return;
    }
    KernelDefinition definition;
    std::string key = read(kernel, definition);
    const std::size_t index = by_key_.try_emplace(std::move(key), list_.size()).first->second;
    if (index == list_.size()) list_.push_back(std::move(definition));
    list_[index].kernels.push_back(&kernel);
    if (is_file) by_words_.emplace(words, index);
  }

  std::vector<KernelDefinition> take() { return std::move(list_); }

 private:
  // Fills the definition and returns what identifies it.
  std::string read(const ProgramKernel& kernel, KernelDefinition& definition) const {
    switch (kernel.origin) {
      case KernelOrigin::kSource:
      case KernelOrigin::kText:
        definition.source = read_source(program_, kernel);
        definition.name = definition.source->name;
        return key_of(*definition.source);
      case KernelOrigin::kPtx:
      case KernelOrigin::kCubin:
      case KernelOrigin::kFatbin:
        definition.image = read_image(kernel);
        break;
      case KernelOrigin::kImage:
        definition.image = kernel.image;
        break;
      case KernelOrigin::kLink: {
        definition.link = read_link(kernel);
        definition.name = link_name(definition.link);
        Sha256 hash;
        hash.update_field("link");
        for (const LinkInput& input : definition.link) hash.update_field(key_of(input));
        return to_hex(hash.finish());
      }
      case KernelOrigin::kCompiled: {
        definition.compiled = kernel.compiled;
        definition.name = kernel.compiled->ptx.name();
        Sha256 hash;
        hash.update_field("compiled").update_field(key_of(kernel.compiled->ptx));
        if (kernel.compiled->cubin) hash.update_field(key_of(*kernel.compiled->cubin));
        return to_hex(hash.finish());
      }
    }
    definition.name = definition.image->name();
    return key_of(*definition.image);
  }

  // What the program says of a kernel that comes as a file: where it is equal, so is what is read,
  // and a file of a thousand kernels is read once.
  static std::string words_of(const ProgramKernel& kernel) {
    Sha256 hash;
    hash.update_field(to_string(kernel.origin)).update_field(kernel.file.string());
    for (const auto& file : kernel.link) hash.update_field(file.string());
    hash.update_field(kernel.prelude).update_field("include");
    for (const auto& folder : kernel.include) hash.update_field(folder.string());
    hash.update_field("options");
    for (const std::string& option : kernel.options) hash.update_field(option);
    return to_hex(hash.finish());
  }

  const Program& program_;
  std::vector<KernelDefinition> list_;
  std::unordered_map<std::string, std::size_t> by_key_;    // what is read
  std::unordered_map<std::string, std::size_t> by_words_;  // what the program says
};

}  // namespace

std::vector<KernelDefinition> read_definitions(const Program& program) {
  Definitions definitions(program);
  for (const ProgramKernel& kernel : program.kernels()) {
    at_kernel(kernel, [&] { definitions.add(kernel); });
  }
  return definitions.take();
}

void make(KernelDefinition& definition, CompileOptions options, KernelModule& module) {
  module.image = std::exchange(definition.image, std::nullopt);
  module.compiled = std::exchange(definition.compiled, std::nullopt);
  if (module.image || module.compiled) return;
  std::unordered_set<std::string_view> known;
  for (const ProgramKernel* kernel : definition.kernels) {
    if (!kernel->entry.empty() && known.insert(kernel->entry).second) {
      options.entries.push_back(kernel->entry);
    }
  }
  if (definition.source) {
    module.compiled = baton::compile(*definition.source, options);
    return;
  }
  Linked linked = baton::link(definition.link, options);
  if (linked.ptx) {
    module.compiled = Compiled{*std::move(linked.ptx),
                               std::move(linked.cubin),
                               std::move(linked.symbols),
                               {},
                               std::move(linked.log),
                               linked.cache_hit,
                               linked.seconds};
  } else {
    module.image = std::move(linked.cubin);
  }
}

KernelModule describe(KernelDefinition definition, const std::string& arch, bool use_cache) {
  KernelModule module;
  const ImageFacts facts = at_kernel(*definition.kernels[0], [&] {
    make(definition, {.arch = arch, .use_cache = use_cache, .param_names = true}, module);
    return module.compiled ? read_facts(*module.compiled) : read_facts(*module.image);
  });
  const KernelEntries entries(facts, module.compiled ? &*module.compiled : nullptr,
                              definition.name);
  for (const ProgramKernel* kernel : definition.kernels) {
    at_kernel(*kernel, [&] { module.kernels.emplace_back(kernel->name, entries.of(*kernel)); });
  }
  take_origin(std::move(definition), module);
  return module;
}

void take_origin(KernelDefinition definition, KernelModule& module) {
  module.name = std::move(definition.name);
  module.from_bundle = definition.from_bundle;
  module.source = std::move(definition.source);
  module.link = std::move(definition.link);
}

}  // namespace baton::load
