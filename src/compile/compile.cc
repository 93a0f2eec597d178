#include "baton/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "compile/attempts.h"
#include "compile/cache/cache.h"
#include "compile/cache/cache_key.h"
#include "compile/cache/path_table.h"
#include "compile/nvrtc/diagnostics.h"
#include "compile/nvrtc/line_table.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/request.h"
#include "image/cubin.h"

namespace baton {

using compiler::Cache;
using compiler::Diagnostic;
using compiler::Nvrtc;
using compiler::PathTable;
using compiler::Request;
using compiler::Result;

Source Source::from_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{64} << 20;
  Source source = from_text(read_file(path, kMaxSourceBytes), path.string());
  source.directory = std::filesystem::absolute(path).parent_path();
  return source;
}

Source Source::from_text(std::string text, std::string name) {
  if (trim(text).empty()) {
    throw error(ErrorCode::kInvalidInput, "{} is blank: it holds no CUDA source", name);
  }
  Source source;
  source.text = std::move(text);
  source.name = std::move(name);
  return source;
}

ImageFacts read_facts(const Compiled& compiled) {
  ImageFacts facts = read_facts(compiled.ptx);
  if (compiled.cubin) facts = merge_facts(facts, read_facts(*compiled.cubin));
  std::unordered_map<std::string_view, const CompiledKernel*> made;
  for (const CompiledKernel& kernel : compiled.kernels) made.emplace(kernel.symbol, &kernel);
  for (KernelFacts& kernel : facts.kernels) {
    const auto found = made.find(kernel.name);
    if (found != made.end()) kernel.spill_bytes = found->second->spill_store_bytes;
  }
  return facts;
}

namespace {

void check_arch(const Nvrtc& nvrtc, const compiler::Arch& arch) {
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
std::string warnings_of(const compiler::Attempt& made, const compiler::HiddenCode& hidden,
                        const PathTable& paths, const Request& request) {
  const std::string source = paths.encode(request.program_name);
  const std::string prelude = paths.encode(compiler::kPreludeName);
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
  return compiler::warnings_text(shown);
}

Result run(const Request& request, const PathTable& paths) {
  const auto start = std::chrono::steady_clock::now();
  const Nvrtc& nvrtc = Nvrtc::load(compiler::require_nvrtc(request.toolkit));
  check_arch(nvrtc, request.arch);
  auto [made, hidden] = compiler::compile_source(nvrtc, request, paths);
  if (made.ptx.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "{}: NVRTC gives no PTX with these options; leave out those for link-time "
                "optimisation (-dlto)",
                request.source.name);
  }
  // Objects that wait for a device link cannot be loaded; their PTX can.
  if (!made.cubin.empty() && !image::Cubin(made.cubin, request.source.name).is_linked()) {
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
  for (std::string& file : compiler::line_table_files(out.cubin)) {
    std::string encoded = paths.encode(file);
    if (encoded != file) out.line_files.emplace_back(std::move(file), std::move(encoded));
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  out.seconds = spent.count();
  return out;
}

Compiled finished(Result result, const Request& request, const PathTable& paths, bool cache_hit) {
  Compiled out{
      Image::from_bytes(paths.decode(result.ptx), "the PTX of " + request.source.name),
      std::nullopt,
      std::move(result.symbols),
      std::move(result.kernels),
      paths.decode(result.log),
      cache_hit,
      result.seconds,
  };
  if (!result.cubin.empty()) {
    // It names the files as they lie here, wherever it was compiled.
    std::map<std::string, std::string, std::less<>> files;
    bool moved = false;
    for (const auto& [name, encoded] : result.line_files) {
      const auto here = files.emplace(name, paths.compilers_name(encoded)).first;
      moved |= here->second != name;
    }
    if (moved) {
      result.cubin =
          compiler::with_line_table_files(std::move(result.cubin), [&](std::string_view file) {
            const auto here = files.find(file);
            return here == files.end() ? std::string(file) : here->second;
          });
    }
    out.cubin = Image::from_bytes(result.cubin, "the cubin of " + request.source.name);
  }
  return out;
}

}  // namespace

Compiled compile(const Source& source, const CompileOptions& options) {
  const Request request = compiler::make_request(source, options);
  const PathTable paths(request);
  const std::optional<Cache> cache = options.use_cache ? Cache::open_default() : std::nullopt;
  std::string obstacle;
  const auto key = cache ? compiler::cache_key(request, &obstacle) : std::nullopt;
  if (!key) {
    if (cache) log(LogLevel::kInfo, "{} is not cached: {}", source.name, obstacle);
    return finished(run(request, paths), request, paths, false);
  }
  Cache::Outcome outcome = cache->get(*key, [&] {
    Cache::Made made{run(request, paths), true};
    // The compiler read the included files after they were looked at for the key.
    made.keep = compiler::cache_key(compiler::make_request(source, options), &obstacle) == key;
    if (!made.keep) {
      log(LogLevel::kInfo, "{} is not cached: an included file changed during the compile",
          source.name);
    }
    return made;
  });
  return finished(std::move(outcome.result), request, paths, outcome.hit);
}

}  // namespace baton
