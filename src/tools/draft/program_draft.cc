#include "tools/draft/program_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "image/find_variable.h"
#include "tools/draft/draft_kernel.h"
#include "tools/draft/draft_names.h"
#include "tools/draft/draft_text.h"
#include "tools/draft/draft_trial.h"
#include "tools/draft/launch_choice.h"
#include "tools/draft/source_order.h"

namespace baton::tools {
namespace {

const FunctionMetadata* find_function(const std::vector<FunctionMetadata>& functions,
                                      const KernelFacts& facts) {
  const auto found = std::ranges::find_if(functions, [&](const FunctionMetadata& function) {
    return function.symbol() == facts.name && facts.params &&
           function.parameters().size() == facts.params->size();
  });
  return found == functions.end() ? nullptr : &*found;
}

// Whether the simulated GPU can try the kernels: it runs PTX, and no machine code.
bool has_ptx(const KernelFile& file) {
  if (file.key == "fatbin") {
    return std::ranges::any_of(file.facts.members, [](const MemberFacts& member) {
      return member.kind == MemberFacts::Kind::kPtx;
    });
  }
  return file.key != "cubin";
}

// Names of kernels, each once: "norm", "norm_2".
std::string unique_name(const std::string& name, std::map<std::string, int>& used) {
  const int count = ++used[name];
  return count == 1 ? name : fmt::format("{}_{}", name, count);
}

// A line that is long enough for both.
DraftSize joined(DraftSize size, const DraftSize& more) {
  for (const std::string& symbol : more.symbols) {
    if (std::ranges::find(size.symbols, symbol) == size.symbols.end()) {
      size.symbols.push_back(symbol);
    }
  }
  return size;
}

// A kernel that reads what an earlier kernel writes under the same name gets its buffer.
void share_buffers(std::vector<DraftKernel>& kernels) {
  for (std::size_t reader = 1; reader < kernels.size(); ++reader) {
    DraftKernel& kernel = kernels[reader];
    std::erase_if(kernel.buffers, [&](const DraftBuffer& read) {
      if (read.role == "output" || read.param.empty()) return false;
      for (std::size_t writer = reader; writer-- > 0;) {
        const DraftKernel& earlier = kernels[writer];
        if (earlier.launch.cover.extent != kernel.launch.cover.extent) continue;
        const bool is_sized_alike = earlier.size.symbols == kernel.size.symbols;
        if (!is_sized_alike && kernel.launch.cover.extent != Extent::kLine) continue;
        if (earlier.beyond < kernel.beyond) continue;
        const auto written =
            std::ranges::find_if(kernels[writer].buffers, [&](const DraftBuffer& each) {
              return each.role != "input" && each.param == read.param && each.dtype == read.dtype &&
                     each.fixed == read.fixed;
            });
        if (written == kernels[writer].buffers.end()) continue;
        // The one of more elements serves both.
        if (!read.axes || (written->axes && *written->axes < *read.axes)) written->axes = read.axes;
        if (!is_sized_alike)
          written->size = joined(written->size.value_or(earlier.size), kernel.size);
        std::ranges::replace(kernel.arguments, "\"" + read.name + "\"",
                             "\"" + written->name + "\"");
        kernel.guesses.push_back(fmt::format("{} is that of {}", read.param, earlier.name));
        return true;
      }
      return false;
    });
  }
}

}  // namespace

ProgramDraft draft_program(const std::filesystem::path& file, const DraftOptions& options) {
  const KernelFile kernels_of_file = read_kernels(file, options);
  const std::vector<KernelFacts>& all = kernels_of_file.facts.kernels;
  ProgramDraft draft;
  std::vector<DraftKernel> kernels;
  std::map<std::string, int> used;
  DraftNames names(all, kernels_of_file.param_names);
  const bool is_tried = has_ptx(kernels_of_file);
  if (!is_tried) {
    draft.remarks.push_back(fmt::format(
        "{} holds machine code and no PTX: no guess was tried, and the program runs on a GPU alone",
        file.string()));
  }
  for (const KernelFacts* const next : kernels_in_order(kernels_of_file, file)) {
    const KernelFacts& facts = *next;
    DraftKernel kernel = draft_kernel(kernels_of_file, facts, unique_name(plain_name(facts), used),
                                      names, find_function(options.functions, facts));
    if (!kernel.textures.empty()) {
      draft.remarks.push_back(fmt::format(
          "kernel {} takes {}, which a program file cannot make; run a program of yours that makes "
          "it by baton exec",
          kernel.name, fmt::join(kernel.textures, ", ")));
    }
    const auto tells = [&](std::size_t guess) {
      if (!options.progress) return;
      options.progress({kernel.name, kernels.size(), all.size(), guess, kernel.launches.size()});
    };
    if (!is_tried || !kernel.textures.empty()) {
      kernel.launch = kernel.launches.front();
    } else if (const auto failure = choose_launch(kernels_of_file, file, kernel, tells)) {
      draft.remarks.push_back(remark_about(*failure, kernel.name, file));
    }
    if (kernel.beyond > 0) {
      draft.remarks.push_back(fmt::format(
          "kernel {0} accesses up to {1} element{2} beyond {3}, so its buffers have {1} more; if "
          "that is an error of the kernel, write {3} alone, and baton run shows the place",
          kernel.name, kernel.beyond, kernel.beyond == 1 ? "" : "s", kernel.size.along(0, 1)));
    }
    if (!kernel.structs.empty()) {
      draft.remarks.push_back(fmt::format(
          "kernel {} gets zeros for {}, so it may do nothing; write the fields in its step: "
          "{{ struct = [...] }}",
          kernel.name, fmt::join(kernel.structs, ", ")));
    }
    draft.kernels.push_back(kernel.name);
    kernels.push_back(std::move(kernel));
  }
  for (const DraftConstant& constant : kernels_of_file.constants) {
    draft.remarks.push_back(fmt::format(
        "the __constant__ {} holds zeros; its line in [buffers] is a comment: give it its {}",
        image::source_name(constant.variable), constant.dtype ? "contents" : "dtype and contents"));
  }
  share_buffers(kernels);
  // One size for all kernels: the smallest.
  std::int64_t elements = sides_of(Extent::kLine).draft.front();
  for (const DraftKernel& kernel : kernels) {
    const bool was_tried = kernel.elements != 0;
    elements = std::min(
        elements, was_tried ? kernel.elements : sides_of(kernel.launch.cover.extent).draft.front());
  }
  draft.text = draft_text(kernels_of_file, kernels, file.stem().string(), file, elements,
                          kernels_of_file.path);
  return draft;
}

}  // namespace baton::tools
