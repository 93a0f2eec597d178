#include "exec/kernel_set.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "baton/compile.h"

namespace baton::exec {

// Kernels with one definition, which become one module.
struct KernelSet::Group {
  std::string key;
  std::optional<Source> source;  // else an image
  std::optional<Image> image;
  std::vector<const ProgramKernel*> kernels;
};

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
    hash.update_field("directory").update_field(source.directory.string());
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

template <typename Work>
auto located(const ProgramKernel& kernel, Work&& work) {
  try {
    return work();
  } catch (Error& failure) {
    failure.at(kernel.where);
    throw;
  }
}

}  // namespace

KernelSet::KernelSet(const Program& program, const Device& device, const PrepareOptions& options) {
  std::vector<Group> groups;
  for (const ProgramKernel& kernel : program.kernels()) {
    Group group;
    located(kernel, [&] {
      if (kernel.origin == KernelOrigin::kSource || kernel.origin == KernelOrigin::kText) {
        group.source = read_source(program, kernel);
        group.key = key_of(*group.source);
      } else {
        group.image = read_image(kernel);
        group.key = key_of(*group.image);
      }
    });
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& other) { return other.key == group.key; });
    if (same == groups.end()) same = groups.insert(groups.end(), std::move(group));
    same->kernels.push_back(&kernel);
  }
  for (const Group& group : groups) {
    modules_.push_back(located(*group.kernels[0], [&] { return load(group, device, options); }));
    for (const ProgramKernel* kernel : group.kernels) {
      located(*kernel, [&] {
        kernels_.push_back(
            {kernel->name, modules_.size() - 1, modules_.back().kernel(kernel->entry)});
      });
    }
  }
}

Module KernelSet::load(const Group& group, const Device& device, const PrepareOptions& options) {
  if (group.image) return Module::load(device, *group.image);
  CompileOptions compile_options;
  compile_options.arch = device.compile_arch();
  compile_options.use_cache = options.use_cache;
  std::vector<std::string> names;
  for (const ProgramKernel* kernel : group.kernels) {
    names.push_back(kernel->name);
    auto& entries = compile_options.entries;
    if (kernel->entry.empty()) continue;
    if (std::find(entries.begin(), entries.end(), kernel->entry) == entries.end()) {
      entries.push_back(kernel->entry);
    }
  }
  Compiled compiled = compile(*group.source, compile_options);
  Module module = Module::load(device, compiled);
  compiled_.push_back({std::move(names), *group.source, std::move(compiled)});
  return module;
}

const KernelSet::Loaded& KernelSet::at(std::string_view name) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const Loaded& loaded) { return loaded.name == name; });
  if (found == kernels_.end()) {
    throw error(ErrorCode::kNotFound, "the program has no kernel \"{}\"", name);
  }
  return *found;
}

}  // namespace baton::exec
