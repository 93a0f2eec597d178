#include "compile/make_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "compile/attempts.h"
#include "compile/cache/cache_key.h"
#include "compile/nvrtc/diagnostics.h"
#include "compile/nvrtc/line_table.h"
#include "compile/nvrtc/nvrtc.h"
#include "image/cubin/cubin.h"

namespace baton::compiler {
namespace {

void check_arch(const Nvrtc& nvrtc, const Arch& arch) {
  const std::vector<int> known = nvrtc.archs();
  if (std::find(known.begin(), known.end(), arch.number) != known.end()) return;
  std::vector<std::string> names;
  for (const int number : known) names.push_back(fmt::format("{}", number));
  throw error(ErrorCode::kInvalidInput,
              "NVRTC {} does not compile for {}; it supports the architectures {}",
              nvrtc.version_text(), arch.text, fmt::join(names, ", "));
}

// The warnings about the source itself, and the first of each header with their count. CUDA's
// headers are system headers to nvcc; what was hidden warns of nothing.
std::string warnings_of(const Attempt& made, const HiddenCode& hidden, const PathTable& paths,
                        const Request& request) {
  const std::string source = paths.encode(request.program_name);
  const std::string prelude = paths.encode(kPreludeName);
  std::vector<Diagnostic> shown;
  std::map<std::string, std::pair<std::size_t, int>> of_header;  // the first's place, and how many
  for (const Diagnostic& diagnostic : made.diagnostics) {
    const std::string& file = diagnostic.where.file;
    if (diagnostic.severity != Diagnostic::Severity::kWarning) continue;
    if (PathTable::is_cuda(file) || hidden.touches(diagnostic.where)) continue;
    const bool is_own = file == source || file == prelude || !diagnostic.where.known();
    if (!is_own && of_header[file].second++ > 0) continue;
    if (!is_own) of_header[file].first = shown.size();
    shown.push_back(diagnostic);
  }
  for (const auto& [file, first] : of_header) {
    if (first.second == 1) continue;
    shown[first.first].details.push_back(
        fmt::format("  and {} more warnings in this header", first.second - 1));
  }
  return warnings_text(shown);
}

Result make_result(const Request& request, const PathTable& paths) {
  const auto start = std::chrono::steady_clock::now();
  const Nvrtc& nvrtc = Nvrtc::load(require_nvrtc(request.toolkit));
  check_arch(nvrtc, request.arch);
  auto [made, hidden] = compile_source(nvrtc, request, paths);
  if (made.ptx.empty() && !(request.is_for_link && !made.lto.empty())) {
    throw error(ErrorCode::kInvalidInput,
                "{}: NVRTC gives no PTX with these options; leave out those for link-time "
                "optimisation (-dlto), or link the file",
                request.source.name);
  }
  // Objects that wait for a device link cannot be loaded; their PTX can.
  if (!request.is_for_link && !made.cubin.empty() &&
      !image::Cubin(made.cubin, request.source.name).is_linked()) {
    log(LogLevel::kInfo, "{}: the machine code is relocatable (-rdc), only the PTX is kept",
        request.source.name);
    made.cubin.clear();
  }

  Result out;
  out.name = request.source.name;
  out.arch = request.arch.text;
  out.entries = request.options.entries;
  out.compiler = "NVRTC " + nvrtc.version_text();
  out.symbols = std::move(made.symbols);
  if (!made.cubin.empty()) out.kernels = std::move(made.kernels);
  out.log = warnings_of(made, hidden, paths, request);
  out.ptx = paths.encode_ptx(made.ptx);
  out.cubin = std::move(made.cubin);
  for (std::string& file : line_table_files(out.cubin)) {
    std::string encoded = paths.encode(file);
    if (encoded != file) out.line_files.emplace_back(std::move(file), std::move(encoded));
  }
  if (made.ptx.empty()) out.cubin = std::move(made.lto);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  out.seconds = spent.count();
  return out;
}

}  // namespace

Cache::Outcome obtain_result(const Request& request, const PathTable& paths) {
  const std::string& name = request.source.name;
  const std::optional<Cache> cache =
      request.options.use_cache ? Cache::open_default() : std::nullopt;
  std::string obstacle;
  const auto key = cache ? cache_key(request, &obstacle) : std::nullopt;
  if (!key) {
    if (cache) log(LogLevel::kInfo, "{} is not cached: {}", name, obstacle);
    return {make_result(request, paths), false};
  }
  return cache->get(*key, [&] {
    Cache::Made made{make_result(request, paths), true};
    // The compiler read the included files after they were looked at for the key.
    const Request again = make_request(request.source, request.options, request.is_for_link);
    made.keep = cache_key(again, &obstacle) == key;
    if (!made.keep) {
      log(LogLevel::kInfo, "{} is not cached: an included file changed during the compile", name);
    }
    return made;
  });
}

}  // namespace baton::compiler
