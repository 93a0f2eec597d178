#include "bundle/definitions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/error.h"
#include "base/text/text.h"
#include "bundle/content.h"
#include "bundle/facts.h"
#include "driver/driver.h"
#include "image/architecture.h"
#include "image/image_content.h"

namespace baton::bundle {
namespace {

using Choose = std::function<std::uint32_t(const ModuleRow&)>;

// How well a build suits a device: not at all, by PTX, by machine code, exactly. Of equals, the
// later architecture.
struct BuildFit {
  int rank = 0;
  int number = 0;
  auto operator<=>(const BuildFit&) const = default;
};

class BuildChoice {
 public:
  BuildChoice(const BundleContent& content, const Device& device)
      : content_(content), device_(device), exact_(device.compile_arch()) {}

  // The number of the build. An image that the program names is taken as it is: whoever loads it
  // says why it does not suit.
  std::uint32_t operator()(const ModuleRow& module) const {
    std::uint32_t best = module.builds.first;
    if (module.is_source == 0) return best;
    BuildFit best_fit;
    for (std::uint32_t i = 0; i < module.builds.count; ++i) {
      const BuildFit own = fit(content_.index.builds[module.builds.first + i]);
      if (own <= best_fit) continue;
      best_fit = own;
      best = module.builds.first + i;
    }
    if (best_fit.rank == 0) refuse(module);
    return best;
  }

 private:
  BuildFit fit(const BuildRow& build) const {
    const Index& index = content_.index;
    const auto arch = image::parse_architecture(index.text(build.arch));
    const int number = arch ? arch->number : 0;
    // The simulated GPU runs PTX alone.
    const bool simulated = device_.driver().simulator != nullptr;
    using enum Compatibility::Answer;
    const auto answer = [&](std::uint32_t image) {
      if (image == kNone) return kNo;
      return runs_on(read_target(index, image), device_.architecture(), device_.driver_version())
          .answer;
    };
    const bool machine_code = !simulated && answer(build.code) == kRuns;
    if (!machine_code && answer(build.ptx) != kCompiles) return {};
    if (index.text(build.arch) == exact_) return {3, number};
    return {machine_code ? 2 : 1, number};
  }

  [[noreturn]] void refuse(const ModuleRow& module) const {
    std::vector<std::string_view> names;
    for (std::uint32_t i = 0; i < module.builds.count; ++i) {
      names.push_back(content_.index.text(content_.index.builds[module.builds.first + i].arch));
    }
    throw error(ErrorCode::kInvalidInput,
                "{} has {} for {}, and {} ({}) is {}; build it for {}, too", content_.file->name(),
                printable(content_.index.text(module.name)), fmt::join(names, ", "), device_.spec(),
                device_.name(), exact_, exact_);
  }

  const BundleContent& content_;
  const Device& device_;
  const std::string exact_;
};

Image image_of(const BundleContent& content, std::uint32_t number) {
  return image::ImageContent::with_facts(content.hold(content.index.images[number].section),
                                         read_facts(content.index, number));
}

Compiled compiled_of(const BundleContent& content, const BuildRow& build) {
  const Index& index = content.index;
  if (build.ptx == kNone) {
    throw error(ErrorCode::kInvalidInput, "{}: its index has a compile for {} without PTX",
                content.file->name(), printable(index.text(build.arch)));
  }
  Compiled compiled{image_of(content, build.ptx), {}, {}, {}, {}};
  if (build.code != kNone) compiled.cubin = image_of(content, build.code);
  for (std::uint32_t i = 0; i < build.symbols.count; ++i) {
    const SymbolRow row = index.symbols[build.symbols.first + i];
    compiled.symbols.emplace_back(index.text(row.expression), index.text(row.symbol));
  }
  for (std::uint32_t i = 0; i < build.compiled.count; ++i) {
    const CompiledRow row = index.compiled[build.compiled.first + i];
    compiled.kernels.push_back({std::string(index.text(row.symbol)), row.registers, row.stack_bytes,
                                row.spill_store_bytes, row.spill_load_bytes, row.static_shared, 0});
  }
  compiled.log = index.text(build.log);
  return compiled;
}

enum class Texts { kUnread, kRead };

// The source as far as the bundle has it: without its text, what the program says of it.
Source source_of(const BundleContent& content, const ModuleRow& module, const ProgramKernel& kernel,
                 Texts texts) {
  Source source;
  source.name = content.index.text(module.name);
  if (module.source == kNone) {
    source.text = kernel.text;
  } else if (texts == Texts::kRead) {
    source.text = content.hold(module.source)->get();
  }
  source.directory = content.directory;
  source.prelude = kernel.prelude;
  source.options = kernel.options;
  return source;
}

std::vector<load::KernelDefinition> read_all(const BundleContent& content, const Program& program,
                                             const Choose& choose, Texts texts) {
  const Index& index = content.index;
  std::vector<load::KernelDefinition> definitions;
  definitions.reserve(index.modules.size());
  // The kernels of the program that no module was met for.
  std::unordered_map<std::string_view, const ProgramKernel*> missing(program.kernels().size());
  for (const ProgramKernel& kernel : program.kernels()) missing.emplace(kernel.name, &kernel);
  for (std::uint64_t number = 0; number < index.modules.size(); ++number) {
    const ModuleRow module = index.modules[number];
    load::KernelDefinition& definition = definitions.emplace_back();
    for (std::uint32_t i = 0; i < module.uses.count; ++i) {
      const std::string_view name = index.text(index.uses[module.uses.first + i].kernel);
      const auto kernel = missing.find(name);
      if (kernel == missing.end()) {
        throw error(ErrorCode::kInvalidInput, "{}: its index has the kernel \"{}\" {}",
                    content.file->name(), printable(name),
                    program.kernel(name) == nullptr ? "and its program has not" : "twice");
      }
      definition.kernels.push_back(kernel->second);
      missing.erase(kernel);
    }
    const BuildRow build = index.builds[choose(module)];
    definition.name = index.text(module.name);
    definition.from_bundle = true;
    const ProgramKernel& first = *definition.kernels[0];
    if (first.origin == KernelOrigin::kSource || first.origin == KernelOrigin::kText) {
      definition.source = source_of(content, module, first, texts);
    }
    // What was linked may be machine code alone.
    const bool is_code = first.origin == KernelOrigin::kLink && build.ptx == kNone;
    if (module.is_source != 0 && !is_code) {
      definition.compiled = compiled_of(content, build);
    } else {
      definition.image = image_of(content, build.ptx != kNone ? build.ptx : build.code);
    }
  }
  if (missing.empty()) return definitions;
  for (const ProgramKernel& kernel : program.kernels()) {
    if (!missing.contains(kernel.name)) continue;
    throw error_at(kernel.where, ErrorCode::kInvalidInput,
                   "{}: its index lacks the kernel \"{}\" of its program", content.file->name(),
                   printable(kernel.name));
  }
  return definitions;
}

}  // namespace

std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     const Device& device) {
  const BundleContent& content = *bundle.content();
  return read_all(content, program, BuildChoice(content, device), Texts::kUnread);
}

std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     std::string_view arch) {
  const BundleContent& content = *bundle.content();
  const auto choose = [&](const ModuleRow& module) {
    for (std::uint32_t i = 0; i < module.builds.count; ++i) {
      const std::uint32_t number = module.builds.first + i;
      if (content.index.text(content.index.builds[number].arch) == arch) return number;
    }
    return module.builds.first;
  };
  return read_all(content, program, choose, Texts::kRead);
}

std::string source_text(const Bundle& bundle, std::string_view module) {
  const BundleContent& content = *bundle.content();
  for (std::uint64_t number = 0; number < content.index.modules.size(); ++number) {
    const ModuleRow row = content.index.modules[number];
    if (row.source == kNone || content.index.text(row.name) != module) continue;
    return std::string(content.hold(row.source)->get());
  }
  return "";
}

}  // namespace baton::bundle
