#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/compile.h"
#include "baton/export.h"
#include "baton/image.h"
#include "baton/module.h"
#include "baton/program.h"

namespace baton {

// How a program's kernels are made.
struct LoadOptions {
  bool use_cache = true;  // the compile cache
  // The PDL mode of steps that say auto: kAuto, kOn or kOff. kOn applies where it can.
  // BATON_PDL=off in the environment makes every edge full, and overrides this and the program.
  PdlMode pdl = PdlMode::kAuto;
  // The rewriting of kernels that name none. A kernel is left alone if BATON_PDL or `pdl` lets no
  // launch of it start early.
  RewriteMode rewrite = RewriteMode::kOff;
};

// What was changed in a kernel so that its launches may start early (docs/pdl.md).
struct KernelRewrite {
  struct Change {
    enum class Kind : std::uint8_t { kWait, kTrigger, kPlainLoad };
    Kind kind = Kind::kWait;
    std::string where;   // "norm.cu:14": what it stands before, or the load that was changed
    std::string reason;  // why there
  };
  std::string kernel;  // its name in the program
  RewriteMode mode = RewriteMode::kOff;
  std::string obstacle;  // why it cannot be changed and is as it was, else empty
  // "its own wait, at norm.cu:12": what it had itself, and keeps. Without changes, nothing was to
  // be done. Else empty.
  std::string own = {};
  std::vector<Change> changes;  // empty where it is as it was
};
BATON_API std::string_view to_string(KernelRewrite::Change::Kind kind) noexcept;

// What each module was made from, and what compiling gave: PTX, machine code, log, time. Kernels
// with equal definitions share one.
struct KernelModule {
  // The program's names for its kernels, with what is known of each.
  std::vector<std::pair<std::string, KernelFacts>> kernels = {};
  std::optional<Source> source = {};  // with `compiled`
  std::optional<Compiled> compiled = {};
  std::optional<Image> image = {};  // of kernels that come as images
  // The PTX that was loaded in place of all that, where kernels were rewritten, and of each
  // kernel that was to be what came of it.
  std::optional<Image> rewritten = {};
  std::vector<KernelRewrite> rewrites = {};
};

}  // namespace baton
