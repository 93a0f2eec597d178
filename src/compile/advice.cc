#include "compile/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compile/source/host_code.h"

namespace baton::compiler {
namespace {

void add_header(std::vector<std::string_view>& headers, std::string_view name) {
  const bool is_new = std::find(headers.begin(), headers.end(), name) == headers.end();
  if (!name.empty() && is_new) headers.push_back(name);
}

// The source's own name, and one of `std` that a `using namespace std` brings in.
void add_withheld(std::vector<std::string>& names, const Diagnostic& error) {
  constexpr std::string_view kAmbiguous = "\" is ambiguous";
  const std::string_view message = error.message;
  if (!message.starts_with('"') || !message.ends_with(kAmbiguous)) return;
  const std::string name(message.substr(1, message.size() - 1 - kAmbiguous.size()));
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The headers of Thrust that kernels use too: types, without algorithms.
bool has_thrust_types(std::string_view name) {
  constexpr std::array<std::string_view, 4> kTypes = {"thrust/complex.h", "thrust/functional.h",
                                                      "thrust/pair.h", "thrust/tuple.h"};
  return name.starts_with("thrust/iterator/") ||
         std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
}

}  // namespace

bool is_error(const Diagnostic& diagnostic) {
  return diagnostic.severity == Diagnostic::Severity::kError;
}

bool says(const Diagnostic& diagnostic, std::string_view what) {
  return is_error(diagnostic) && diagnostic.message.find(what) != std::string::npos;
}

std::optional<std::string> without_host_library(std::string_view name, const Setup& setup) {
  if (!setup.no_thrust_types && has_thrust_types(name)) return std::nullopt;
  if (name == "cub/cub.cuh") return fmt::format("#include <{}>\n", kCubHeader);
  const bool is_of_hosts = name.starts_with("thrust/") || name.starts_with("cub/device/") ||
                           name == "cub/util_allocator.cuh";
  return is_of_hosts ? std::optional<std::string>("") : std::nullopt;
}

Setup advised(const Request& request, const Attempt& failed, Setup setup) {
  for (const Diagnostic& each : failed.diagnostics) {
    setup.tensor_map |=
        says(each, "\"CUtensorMap\" is undefined") || says(each, "has no member \"CUtensorMap\"");
    setup.host |= says(each, "marked as a __host__ function") ||
                  says(each, "function main cannot be marked") ||
                  says(each, "does not support exception handling");
    // Of a name in `std` that is not declared the message tells no more.
    setup.host |= request.scan.mentions_std &&
                  (says(each, "name followed by \"::\" must be a class or namespace name") ||
                   says(each, "qualified name is not allowed"));
    add_header(setup.headers, standard_header_for(each));
    add_withheld(setup.withheld, each);
    setup.nvcc |=
        request.scan.mentions_nvcc && (says(each, "cannot open source file") ||
                                       says(each, "has no member") || says(each, "is undefined"));
    setup.no_register |= says(each, "use of the \"register\" storage class");
  }
  setup.host |= lacks_host_declarations(failed.diagnostics);
  if (setup.no_thrust_types) return setup;
  const auto& files = request.scan.files;
  const bool includes_host_library =
      std::any_of(files.begin(), files.end(), [](const IncludedFile& file) {
        return without_host_library(file.name, {.no_thrust_types = true}).has_value();
      });
  const bool is_in_cuda = std::any_of(
      failed.diagnostics.begin(), failed.diagnostics.end(),
      [](const Diagnostic& each) { return is_error(each) && PathTable::is_cuda(each.where.file); });
  if (!includes_host_library || !is_in_cuda) return setup;
  setup.no_thrust_types = setup.no_thrust;
  setup.no_thrust = setup.host = true;
  return setup;
}

}  // namespace baton::compiler
