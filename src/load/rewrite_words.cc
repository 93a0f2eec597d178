#include "load/rewrite_words.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

namespace baton::load {
namespace {

// Options that tell the assembler what the driver would not know when it compiles PTX.
constexpr std::array<std::string_view, 8> kOfAssembler = {
    "-maxrregcount",  "--maxrregcount", "-Xptxas", "--ptxas-options", "-G",
    "--device-debug", "--ptx-options",  "-minnreg"};

}  // namespace

std::string rewrite_obstacle(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    for (std::string_view known : kOfAssembler) {
      if (option.starts_with(known)) {
        return fmt::format("its option {} is for the assembler, and the driver would not know it",
                           option);
      }
    }
  }
  return "";
}

overlap::TriggerPlace trigger_of(RewriteMode mode) {
  switch (mode) {
    case RewriteMode::kLoads:
      return overlap::TriggerPlace::kBehindLoads;
    case RewriteMode::kExit:
      return overlap::TriggerPlace::kAtExits;
    case RewriteMode::kTop:
      return overlap::TriggerPlace::kAtTop;
    default:
      return overlap::TriggerPlace::kNowhere;
  }
}

KernelRewrite public_rewrite(std::string kernel, RewriteMode mode,
                             const overlap::RewrittenKernel& done) {
  KernelRewrite rewrite;
  rewrite.kernel = std::move(kernel);
  rewrite.mode = mode;
  rewrite.obstacle = done.obstacle;
  rewrite.own = done.own;
  for (const overlap::Change& change : done.changes) {
    rewrite.changes.push_back(
        {static_cast<KernelRewrite::Change::Kind>(change.kind), change.where, change.because});
  }
  return rewrite;
}

}  // namespace baton::load
