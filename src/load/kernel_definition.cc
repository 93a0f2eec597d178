#include "load/kernel_definition.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
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

Source read_source(const Program& program, const ProgramKernel& kernel) {
  Source source;
  if (kernel.origin == KernelOrigin::kSource) {
    source = Source::from_file(kernel.file);
  } else {
    source = Source::from_text(kernel.text, "<kernel " + kernel.name + ">");
    source.directory = program.directory();
  }
  source.prelude = kernel.prelude;
  // The program's reader has them relative to the working directory, a source to its own folder.
  for (const auto& folder : kernel.include) {
    source.include.push_back(std::filesystem::absolute(folder));
  }
  source.options = kernel.options;
  return source;
}

ImageKind labelled_kind(KernelOrigin origin) {
  switch (origin) {
    case KernelOrigin::kPtx:
      return ImageKind::kPtx;
    case KernelOrigin::kCubin:
      return ImageKind::kCubin;
    default:
      return ImageKind::kFatbin;
  }
}

// What a file is its bytes decide, not the key that it is given under.
Image read_image(const ProgramKernel& kernel) {
  Image image = Image::from_file(kernel.file);
  if (image.kind() != labelled_kind(kernel.origin)) {
    log(LogLevel::kWarning, "kernel {}: {} is given as {} and is {}", kernel.name, image.name(),
        to_string(kernel.origin), to_string(image.kind()));
  }
  return image;
}

class Definitions {
 public:
  explicit Definitions(const Program& program) : program_(program) {}

  void add(const ProgramKernel& kernel) {
    const bool is_file = kernel.origin != KernelOrigin::kText;
    const std::string words = is_file ? words_of(kernel) : "";
    if (const auto known = by_words_.find(words); is_file && known != by_words_.end()) {
      list_[known->second].kernels.push_back(&kernel);
      return;
    }
    KernelDefinition definition;
    std::string key;
    if (kernel.origin == KernelOrigin::kSource || !is_file) {
      definition.source = read_source(program_, kernel);
      key = key_of(*definition.source);
    } else {
      definition.image = read_image(kernel);
      key = key_of(*definition.image);
    }
    const std::size_t index = by_key_.try_emplace(std::move(key), list_.size()).first->second;
    if (index == list_.size()) list_.push_back(std::move(definition));
    list_[index].kernels.push_back(&kernel);
    if (is_file) by_words_.emplace(words, index);
  }

  std::vector<KernelDefinition> take() { return std::move(list_); }

 private:
  // What the program says of a kernel that comes as a file: where it is equal, so is what is read,
  // and a file of a thousand kernels is read once.
  static std::string words_of(const ProgramKernel& kernel) {
    Sha256 hash;
    hash.update_field(to_string(kernel.origin)).update_field(kernel.file.string());
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

Compiled compile(const KernelDefinition& definition, const std::string& arch, bool use_cache) {
  if (definition.compiled) return *definition.compiled;
  CompileOptions options;
  options.arch = arch;
  options.use_cache = use_cache;
  std::unordered_set<std::string_view> known;
  for (const ProgramKernel* kernel : definition.kernels) {
    if (!kernel->entry.empty() && known.insert(kernel->entry).second) {
      options.entries.push_back(kernel->entry);
    }
  }
  return baton::compile(*definition.source, options);
}

KernelModule describe(KernelDefinition definition, const std::string& arch, bool use_cache) {
  KernelModule module;
  const ImageFacts facts = at_kernel(*definition.kernels[0], [&] {
    if (definition.image) return read_facts(*definition.image);
    module.compiled = compile(definition, arch, use_cache);
    return read_facts(*module.compiled);
  });
  const KernelEntries entries(facts, module.compiled ? &*module.compiled : nullptr,
                              definition.name());
  for (const ProgramKernel* kernel : definition.kernels) {
    at_kernel(*kernel, [&] { module.kernels.emplace_back(kernel->name, entries.of(*kernel)); });
  }
  module.from_bundle = definition.compiled.has_value();
  module.source = std::move(definition.source);
  module.image = std::move(definition.image);
  return module;
}

}  // namespace baton::load
