#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/compile.h"
#include "baton/export.h"
#include "baton/image.h"
#include "baton/link.h"
#include "baton/module.h"
#include "baton/program.h"

namespace baton {

// The modules of a program that are compiled and loaded, of all.
struct LoadProgress {
  std::string_view kernel;  // a kernel of the module that comes next; empty at the end
  std::size_t done = 0;
  std::size_t count = 0;
};

// How a program's kernels are made.
struct LoadOptions {
  bool use_cache = true;  // the compile cache
  // The PDL mode of steps that say auto: kAuto, kOn or kOff. kOn applies where it can.
  // BATON_PDL=off in the environment makes every edge full, and overrides this and the program.
  PdlMode pdl = PdlMode::kAuto;
  // The rewriting of kernels that name none. A kernel is left alone if BATON_PDL or `pdl` lets no
  // launch of it start early.
  RewriteMode rewrite = RewriteMode::kOff;
  // Registers of kernels that come as PTX alone, or are rewritten, on the simulated GPU: from
  // nvJitLink where it is installed, not an estimate. A program with placement = "even" always has
  // them.
  bool assemble = false;
  // Called before each module, and at the end: one call at a time, by whichever thread loads the
  // module. An exception that it throws ends the load.
  std::function<void(const LoadProgress&)> progress = {};
  // Whether kernels are instrumented, so that RunOptions::trace has a timeline of what their blocks
  // did: on a GPU, which tells nothing by itself, and on the simulated GPU in place of its own
  // timeline. Results and verdicts stay. KernelModule::traces says which kernels could not be.
  bool instrument = false;
};

// The changes in a kernel that let its launches start early (docs/pdl-rewrite.md).
struct KernelRewrite {
  struct Change {
    enum class Kind : std::uint8_t { kWait, kTrigger, kPlainLoad };
    Kind kind = Kind::kWait;
    std::string where;   // "norm.cu:14": the place before which it is, or the changed load
    std::string reason;  // the reason for the place
  };
  std::string kernel;  // its name in the program
  RewriteMode mode = RewriteMode::kOff;
  std::string obstacle;  // why the kernel is unchanged; otherwise empty
  // "its own wait, at norm.cu:12": the wait and trigger that the kernel had itself and keeps;
  // otherwise empty. Without changes, nothing had to be done.
  std::string own = {};
  std::vector<Change> changes;  // empty for an unchanged kernel
};
BATON_API std::string_view to_string(KernelRewrite::Change::Kind kind) noexcept;

// A kernel of a program that is loaded for traces (LoadOptions::instrument).
struct KernelTrace {
  std::string kernel;    // its name in the program
  std::string obstacle;  // why it notes nothing; otherwise empty
  // Per thread, as it was compiled and as it is instrumented, where known.
  std::optional<std::uint32_t> registers_before = {}, registers = {};
};

// The origin of a module, and the result of its compile: PTX, machine code, log, time. Kernels with
// equal definitions share one.
struct KernelModule {
  std::string name = {};  // "norm.cu", "a.cu + b.ptx", "<kernel k>"
  // The program's names for its kernels, with their facts.
  std::vector<std::pair<std::string, KernelFacts>> kernels = {};
  std::optional<Source> source = {};  // of a part of a bundle: without its text
  std::vector<LinkInput> link = {};   // for kernels that are linked
  // Of a source, of a link with PTX, and of kernels that come compiled.
  std::optional<Compiled> compiled = {};
  bool from_bundle = false;         // it was read, not compiled here
  std::optional<Image> image = {};  // for kernels that come as images, and links without PTX
  // The PTX that was loaded instead, if kernels were rewritten. `rewrites` has the result for each
  // kernel that was to be rewritten.
  std::optional<Image> rewritten = {};
  std::vector<KernelRewrite> rewrites = {};
  // The PTX that was loaded instead, if kernels are instrumented, and what came of each.
  std::optional<Image> instrumented = {};
  std::vector<KernelTrace> traces = {};
};

}  // namespace baton
