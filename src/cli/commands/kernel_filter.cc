#include "cli/commands/kernel_filter.h"

#include <fmt/ranges.h>

#include <regex>

#include "tools/basics.h"

namespace baton::cli {
namespace {

// PTX of a virtual architecture names the real one as its target.
std::string target_of(std::string_view arch) {
  constexpr std::string_view kVirtual = "compute_";
  if (!arch.starts_with(kVirtual)) return std::string(arch);
  return fmt::format("sm_{}", arch.substr(kVirtual.size()));
}

// "--kernel and --arch sm_90a".
std::string given_options(const InspectCommand& command) {
  std::string text = command.kernel ? "--kernel" : "";
  if (!command.arch.empty()) text += (text.empty() ? "--arch " : " and --arch ") + command.arch;
  return text;
}

}  // namespace

bool is_wanted(const InspectCommand& command, const KernelFacts& kernel, std::string_view name) {
  const std::string& arch = command.arch;
  if (!arch.empty() && !kernel.arch.empty() && kernel.arch != target_of(arch)) return false;
  if (!command.kernel) return true;
  const std::regex& wanted = *command.kernel;
  return std::regex_search(name.begin(), name.end(), wanted) ||
         std::regex_search(kernel.name, wanted) || std::regex_search(kernel.demangled, wanted);
}

void keep_wanted(const InspectCommand& command, std::vector<Executable::KernelModule>& modules) {
  for (Executable::KernelModule& module : modules) {
    std::erase_if(module.kernels,
                  [&](const auto& each) { return !is_wanted(command, each.second, each.first); });
  }
  std::erase_if(modules, [](const auto& module) { return module.kernels.empty(); });
}

void require_some(const InspectCommand& command, bool is_some,
                  const std::vector<std::string>& architectures) {
  const std::string given = given_options(command);
  if (is_some || given.empty()) return;
  const std::string has = command.arch.empty() || architectures.empty()
                              ? ""
                              : fmt::format("; it is for {}", fmt::join(architectures, ", "));
  throw error(ErrorCode::kNotFound, "{} has no kernel that {} names{}; without them all are shown",
              command.image.string(), given, has);
}

void refuse_filter(const InspectCommand& command, std::string_view kind) {
  const std::string given = given_options(command);
  if (given.empty()) return;
  throw error(ErrorCode::kInvalidInput,
              "{} is {}, of which {} cannot choose kernels; leave the option out",
              command.image.string(), kind, given);
}

}  // namespace baton::cli
